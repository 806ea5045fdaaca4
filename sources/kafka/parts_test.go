package kafka

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/zap"

	"github.com/prometheus/client_golang/prometheus"

	"penstock/pipeline"
)

func TestConfigValidate(t *testing.T) {
	good := DefaultConfig()
	good.Brokers, good.Topics = []string{"b:9092"}, []string{"t"}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for key, change := range map[string]func(*Config){
		"brokers":           func(c *Config) { c.Brokers = nil },
		"topics":            func(c *Config) { c.Topics = nil },
		"topic_pattern":     func(c *Config) { c.TopicPattern = "x" },
		"group":             func(c *Config) { c.Group = "" },
		"start":             func(c *Config) { c.Start = "yesterday" },
		"stop":              func(c *Config) { c.Stop = "lag1" },
		"isolation_level":   func(c *Config) { c.IsolationLevel = "serializable" },
		"session_timeout":   func(c *Config) { c.SessionTimeout = time.Millisecond },
		"rebalance_timeout": func(c *Config) { c.RebalanceTimeout = time.Second },
		"fetch_max_wait":    func(c *Config) { c.FetchMaxWait = 0 },
		"fetch_max_bytes":   func(c *Config) { c.FetchMaxBytes = 1 },
		"metadata_max_age":  func(c *Config) { c.MetadataMaxAge = 0 },
	} {
		c := good
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), key+":") {
			t.Errorf("%s: got %v", key, err)
		}
	}
	for _, s := range []string{StartEarliest, StartLatest, "2026-01-31T00:00:00Z", "2026-01-31T00:00:00+02:00"} {
		c := good
		if c.Start = s; c.Validate() != nil {
			t.Errorf("start %q: %v", s, c.Validate())
		}
	}
	c := good
	c.Topics, c.TopicPattern = nil, "logs-("
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "topic_pattern") {
		t.Errorf("a broken pattern: %v", err)
	}
}

func TestReads(t *testing.T) {
	list := Config{Topics: []string{"a", "b"}}
	pattern := Config{TopicPattern: "logs-.*|x"}
	for _, c := range []struct {
		config Config
		topic  string
		want   bool
	}{
		{list, "a", true},
		{list, "c", false},
		{list, "aa", false},
		{pattern, "logs-dead", true},
		{pattern, "my-logs-1", false},
		{pattern, "x", true},
		{pattern, "xx", false},
	} {
		if got := c.config.Reads(c.topic); got != c.want {
			t.Errorf("%+v reads %q: %v", c.config, c.topic, got)
		}
	}
}

func TestStartPolicy(t *testing.T) {
	s := &Source{metrics: newMetrics(prometheus.NewRegistry()), log: zap.NewNop()}
	at := func(o int64) kadm.ListedOffsets {
		return kadm.ListedOffsets{"t": {0: {Topic: "t", Offset: o}}}
	}
	known := &bounds{start: at(100), end: at(120), stable: at(118), atStart: at(110), topicHas: map[string]bool{"t": true}}
	fresh := &bounds{start: at(100), end: at(120), stable: at(118), atStart: at(110), topicHas: map[string]bool{}}
	again := *fresh
	appeared := &again
	when := time.Unix(1, 0)
	for _, c := range []struct {
		name      string
		policy    startPolicy
		bounds    *bounds
		committed int64
		want      int64
	}{
		{"committed", startPolicy{}, fresh, 105, 105},
		{"committed at the end", startPolicy{}, fresh, 120, 120},
		{"below the log's start", startPolicy{}, fresh, 5, 100},
		{"beyond the log's end", startPolicy{}, fresh, 121, 100},
		{"none, earliest", startPolicy{}, fresh, -2, 100},
		{"none, latest", startPolicy{latest: true}, fresh, -2, 118},
		{"none, latest, but the group knows the topic", startPolicy{latest: true}, known, -2, 100},
		{"none, latest, of a topic that appeared since", startPolicy{latest: true}, appeared, -2, 100},
		{"none, a time", startPolicy{at: when}, fresh, -2, 110},
		{"none, a time, but the group knows the topic", startPolicy{at: when}, known, -2, 100},
	} {
		s.start = c.policy
		s.existing = map[string]bool{"t": c.bounds != appeared}
		got, err := s.startAt(c.bounds, "t", 0, kgo.EpochOffset{Epoch: 3, Offset: c.committed})
		if err != nil || got.Offset != c.want {
			t.Errorf("%s: starts at %d (%v), want %d", c.name, got.Offset, err, c.want)
		}
	}
	if _, err := s.startAt(fresh, "t", 1, kgo.EpochOffset{Offset: -2}); err == nil {
		t.Error("a partition that the brokers do not list must not start anywhere")
	}
}

func TestFetchSizeFollowsTheRatio(t *testing.T) {
	cl, err := kgo.NewClient(kgo.SeedBrokers("127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	const budget, most = 96 << 20, 8 << 20
	f := newFetchSizer(budget, most)
	if become := f.asked * 200; become > budget/concurrentFetches {
		t.Errorf("the first fetch asks for %d bytes, which may become %d", f.asked, become)
	}
	see := func(in, out int64, times int) {
		for range times {
			f.seenIn.Add(in)
			f.seenOut.Add(out)
			f.update(cl)
		}
	}
	see(1<<20, 30<<20, 1)
	if f.asked > 2*leastFetch {
		t.Errorf("the second fetch asks for %d, more than twice the first", f.asked)
	}
	see(1<<20, 30<<20, 10)
	if f.asked*30 > budget/concurrentFetches {
		t.Errorf("after records that compress 30 times it asks for %d", f.asked)
	}
	see(1<<20, 2<<20, 30)
	if f.asked > most || f.asked < most*4/5 {
		t.Errorf("after records that hardly compress it asks for %d, want about the most of %d", f.asked, most)
	}
	before := f.asked
	f.seenIn.Add(100)
	f.seenOut.Add(100_000)
	f.update(cl)
	if f.asked != before {
		t.Error("a few bytes changed the size")
	}
}

func TestChunkCountsItsBytes(t *testing.T) {
	a := newOwner().Assign(pipeline.Origin{Topic: "t"}, 0)
	c := chunk(a, []*kgo.Record{
		{Offset: 4, Key: []byte("kk"), Value: []byte("vvv"), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("x")}}},
		{Offset: 9, Attrs: kgo.RecordAttrs{}},
	})
	if c.Next != 10 || c.Values != 3 || c.Bytes != 3+2+42+2*recordBytes || c.Records.Len() != 2 {
		t.Errorf("chunk is %+v", c)
	}
	var r pipeline.Record
	c.Records.At(0, &r)
	if r.Topic != "t" || r.Offset != 4 || string(r.Key) != "kk" || len(r.Headers) != 1 || r.Control {
		t.Errorf("record is %+v", r)
	}
	c.Records.At(1, &r)
	if r.Key != nil || r.Value != nil || len(r.Headers) != 0 {
		t.Errorf("null key and value became %v and %v", r.Key, r.Value)
	}
}

func TestCommitLockLetsTheUrgentCutIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newCommitLock()
		slow, leave, err := l.enter(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			<-slow.Done() // a commit that the broker does not answer
			leave()
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := l.enter(ctx, false); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second commit did not wait: %v", err)
		}
		_, leave, err = l.enter(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		leave()
		_, leave, err = l.enter(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		leave()
	})
}

func TestSoftwareVersion(t *testing.T) {
	for in, want := range map[string]string{"v1.2.3": "v1.2.3", "devel+dirty": "devel-dirty", "": "unknown", "-x": "unknown", "a b": "a-b"} {
		if got := softwareVersion(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// owner is the least that a source needs of a pipeline.
type owner struct{ *pipeline.Pipeline }

func newOwner() owner {
	return owner{pipeline.New(pipeline.Options{Config: pipeline.DefaultConfig(), Sink: noSink{}, Logger: zap.NewNop(), Registry: prometheus.NewRegistry()})}
}

type noSink struct{ pipeline.Sink }

func (noSink) Nodes() []string { return []string{"n"} }

func BenchmarkRecords(b *testing.B) {
	a := newOwner().Assign(pipeline.Origin{Topic: "t"}, 0)
	of := make([]*kgo.Record, 5000)
	for i := range of {
		of[i] = &kgo.Record{Offset: int64(i), Value: make([]byte, 215)}
	}
	b.SetBytes(215)
	b.ReportAllocs()
	var r pipeline.Record
	for n := 0; n < b.N; n += len(of) {
		c := chunk(a, of)
		for i := range of {
			c.Records.At(i, &r)
		}
	}
}

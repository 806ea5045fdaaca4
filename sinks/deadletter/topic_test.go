package deadletter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"penstock/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func broker(t *testing.T, topics ...string) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, topics...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func writer(t *testing.T, c *kfake.Cluster, config Config) *Topic {
	t.Helper()
	w, err := New(config, Options{Brokers: c.ListenAddrs(), ClientID: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close(context.Background()) })
	return w
}

func config(topic string) Config {
	c := DefaultConfig()
	c.Topic = topic
	return c
}

func read(t *testing.T, c *kfake.Cluster, topic string, n int) []*kgo.Record {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var all []*kgo.Record
	for len(all) < n {
		f := cl.PollFetches(ctx)
		if ctx.Err() != nil {
			t.Fatalf("%d of %d records in %s", len(all), n, topic)
		}
		all = append(all, f.Records()...)
	}
	return all
}

var origin = &pipeline.Origin{Topic: "logs", TopicID: "abc", Partition: 4}

func letter(value string) pipeline.DeadLetter {
	return pipeline.DeadLetter{
		Record:      pipeline.Record{Origin: origin, Offset: 7, LeaderEpoch: 2, Value: []byte(value), Timestamp: time.UnixMilli(1_500_000_000_000)},
		Destination: "logs-2017",
		Reason:      pipeline.Reason{Status: 400, Type: "mapper_parsing_exception", Text: "failed to parse"},
	}
}

func TestLetterKeepsTheOriginal(t *testing.T) {
	c := broker(t, "dead")
	w := writer(t, c, config("dead"))
	l := letter("\x00\xffnot json")
	l.Record.Headers = []pipeline.Header{{Key: "h", Value: []byte("1")}, {Key: "h", Value: nil}, {Key: "", Value: []byte{}}}
	tombstone := letter("")
	tombstone.Record.Value, tombstone.Record.Key = nil, []byte{}
	tombstone.Destination, tombstone.Reason.Status = "", 0
	if errs := w.Write(t.Context(), []pipeline.DeadLetter{l, tombstone}); errs != nil {
		t.Fatal(errs)
	}
	got := read(t, c, "dead", 2)
	r := got[0]
	if r.Key != nil || !bytes.Equal(r.Value, []byte("\x00\xffnot json")) || r.Timestamp.UnixMilli() != 1_500_000_000_000 {
		t.Errorf("record is key %q value %q at %s", r.Key, r.Value, r.Timestamp)
	}
	if h := r.Headers; h[0].Key != "h" || string(h[0].Value) != "1" || h[1].Key != "h" || h[1].Value != nil || h[2].Key != "" {
		t.Errorf("the original's headers became %v", h)
	}
	want := map[string]string{
		HeaderTopic: "logs", HeaderTopicID: "abc", HeaderPartition: "4", HeaderOffset: "7", HeaderEpoch: "2", HeaderDestination: "logs-2017",
		HeaderStatus: "400", HeaderType: "mapper_parsing_exception", HeaderReason: "failed to parse",
	}
	for key, value := range want {
		if v, ok := header(r, key); !ok || v != value {
			t.Errorf("header %s is %q, want %q", key, v, value)
		}
	}
	if v, _ := header(r, HeaderTime); v == "" {
		t.Error("no time of the refusal")
	}
	r = got[1]
	if r.Value != nil || r.Key == nil || len(r.Key) != 0 {
		t.Errorf("a null value and a key of no bytes became %v and %v", r.Value, r.Key)
	}
	for _, key := range []string{HeaderDestination, HeaderStatus} {
		if v, ok := header(r, key); ok {
			t.Errorf("header %s is there (%q) though there is nothing to say", key, v)
		}
	}
}

func header(r *kgo.Record, key string) (string, bool) {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value), true
		}
	}
	return "", false
}

// Letters of one write go out together: one round trip, not one each.
func TestLettersGoOutAsAGroup(t *testing.T) {
	c := broker(t, "dead")
	produced := 0
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		produced++
		return nil, nil, false
	})
	w := writer(t, c, config("dead"))
	letters := make([]pipeline.DeadLetter, 500)
	for i := range letters {
		letters[i] = letter(fmt.Sprint(i))
	}
	if errs := w.Write(t.Context(), letters); errs != nil {
		t.Fatal(errs)
	}
	if got := read(t, c, "dead", 500); len(got) != 500 {
		t.Errorf("%d letters", len(got))
	}
	if produced > 20 {
		t.Errorf("%d requests for 500 letters", produced)
	}
}

func TestOnlyTheLettersThatFailAreReported(t *testing.T) {
	c := broker(t, "dead")
	small := config("dead")
	small.MaxMessageBytes = 2000
	w := writer(t, c, small)
	errs := w.Write(t.Context(), []pipeline.DeadLetter{letter("a"), letter(strings.Repeat("x", 5000)), letter("b")})
	if errs == nil || errs[0] != nil || errs[2] != nil || errs[1] == nil {
		t.Fatalf("errors are %v, want one for the second", errs)
	}
	if !errors.Is(errs[1], kerr.MessageTooLarge) || !strings.Contains(errs[1].Error(), "dead_letter.max_message_bytes") {
		t.Errorf("the error does not say what to raise: %v", errs[1])
	}
	if got := read(t, c, "dead", 2); len(got) != 2 {
		t.Errorf("%d letters", len(got))
	}
}

func TestCheck(t *testing.T) {
	c := broker(t, "dead")
	if err := writer(t, c, config("dead")).Check(t.Context()); err != nil {
		t.Errorf("a topic that is there: %v", err)
	}
	if err := writer(t, c, config("missing")).Check(t.Context()); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "dead_letter.create") {
		t.Errorf("a missing topic: %v, want ErrMissing with the remedy", err)
	}
	create := config("made")
	create.Create, create.Partitions = true, 3
	w := writer(t, c, create)
	for range 2 { // twice: the second finds it
		if err := w.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// Another client: this one's metadata may be of before.
	topics, err := kadm.NewClient(writer(t, c, create).client).ListTopics(t.Context(), "made")
	if err != nil || len(topics["made"].Partitions) != 3 {
		t.Errorf("the topic that was made: %v, %v", topics["made"], err)
	}
}

func TestConfigValidate(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"create":             func(c *Config) { c.Create, c.Topic = true, "" },
		"partitions":         func(c *Config) { c.Partitions = 0 },
		"replication_factor": func(c *Config) { c.ReplicationFactor = 0 },
		"max_message_bytes":  func(c *Config) { c.MaxMessageBytes = 10 },
	} {
		c := config("dead")
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), name+":") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	l := letter(strings.Repeat("x", 400))
	b.SetBytes(400)
	b.ReportAllocs()
	for b.Loop() {
		encode(&l)
	}
}

package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"penstock/configs/value"
)

// fakeSource gives what the test puts in, and remembers what is committed.
type fakeSource struct {
	partitions Partitions

	mu        sync.Mutex
	chunks    chan Chunk
	owned     []*Assignment
	committed map[string]int64
	paused    map[*Assignment]bool
	done      chan struct{}
	offsets   map[string]int64
}

func newFakeSource(p Partitions) *fakeSource {
	return &fakeSource{
		partitions: p, chunks: make(chan Chunk, 10_000), committed: map[string]int64{},
		paused: map[*Assignment]bool{}, done: make(chan struct{}), offsets: map[string]int64{},
	}
}

func place(o *Origin) string { return fmt.Sprintf("%s/%d", o.Topic, o.Partition) }

func (s *fakeSource) assign(topic string, number int32) *Assignment {
	a := s.partitions.Assign(Origin{Topic: topic, TopicID: "id-" + topic, Partition: number}, 0)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owned = append(s.owned, a)
	s.offsets[place(a.Origin())] = 0
	return a
}

// put gives one chunk of these values.
func (s *fakeSource) put(a *Assignment, values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := place(a.Origin())
	var list listRecords
	c := Chunk{Assignment: a}
	for _, v := range values {
		list = append(list, Record{Origin: a.Origin(), Offset: s.offsets[key], Value: []byte(v), Timestamp: time.Now()})
		s.offsets[key]++
		c.Values += int64(len(v))
	}
	c.Records, c.Next, c.Bytes = list, s.offsets[key], c.Values+int64(len(list))*100
	s.chunks <- c
}

func (s *fakeSource) Poll(ctx context.Context) ([]Chunk, error) {
	select {
	case c := <-s.chunks:
		return []Chunk{c}, nil
	default:
	}
	select {
	case c := <-s.chunks:
		return []Chunk{c}, nil
	case <-s.done:
		return nil, ErrDone
	case <-ctx.Done():
		return nil, nil
	}
}

func (s *fakeSource) Pause(as []*Assignment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range as {
		s.paused[a] = true
	}
}

func (s *fakeSource) Resume(as []*Assignment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range as {
		delete(s.paused, a)
	}
}

func (s *fakeSource) Commit(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.owned {
		if w := a.Watermark(); w >= 0 {
			s.committed[place(a.Origin())] = w
		}
	}
	return nil
}

func (s *fakeSource) Close(ctx context.Context) error { return s.Commit(ctx) }

func (s *fakeSource) commit(key string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.committed[key]
}

// fakeSink stores documents by the first word of their value's "d" destination:
// a value is {"<destination>":...}. What becomes of a request is up to answer.
type fakeSink struct {
	mu       sync.Mutex
	answer   func(documents []string) (Outcome, error)
	stuck    chan struct{} // Route waits for it, if there is one
	requests [][]string
	stored   map[string]int
}

func newFakeSink() *fakeSink { return &fakeSink{stored: map[string]int{}} }

func (s *fakeSink) Route(r *Record) (string, error) {
	if s.stuck != nil {
		<-s.stuck
	}
	v := r.Value[2:]
	return string(v[:bytes.IndexByte(v, '"')]), nil
}

func (s *fakeSink) Append(b *Batch, _ *Record, doc Document, _ string) error {
	b.Body = append(doc.AppendTo(b.Body), '\n')
	return nil
}

func (s *fakeSink) Nodes() []string { return []string{"n1"} }

func (s *fakeSink) Usable(int) bool { return true }

func (s *fakeSink) Write(_ context.Context, _ int, b *Batch) (Outcome, error) {
	var documents []string
	for l := range bytes.Lines(b.Body) {
		documents = append(documents, string(bytes.TrimSpace(l)))
	}
	s.mu.Lock()
	s.requests = append(s.requests, documents)
	answer := s.answer
	s.mu.Unlock()
	if len(documents) != b.Len() {
		return Outcome{}, fmt.Errorf("%d lines for %d documents", len(documents), b.Len())
	}
	var o Outcome
	var err error
	if answer != nil {
		o, err = answer(documents)
	}
	if err != nil {
		return o, err
	}
	bad := map[int]bool{}
	for _, i := range o.Items {
		bad[i.Doc] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, d := range documents {
		if !bad[i] {
			s.stored[d]++
		}
	}
	return o, nil
}

func (s *fakeSink) Close(context.Context) error { return nil }

func (s *fakeSink) set(answer func([]string) (Outcome, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *fakeSink) sent() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]string(nil), s.requests...)
}

func (s *fakeSink) count(document string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stored[document]
}

// fakeLetters keeps letters, unless it fails.
type fakeLetters struct {
	mu   sync.Mutex
	kept []DeadLetter
	fail func(DeadLetter) error
}

func (l *fakeLetters) Write(_ context.Context, letters []DeadLetter) []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for i, x := range letters {
		if l.fail != nil {
			if err := l.fail(x); err != nil {
				if errs == nil {
					errs = make([]error, len(letters))
				}
				errs[i] = err
				continue
			}
		}
		l.kept = append(l.kept, x)
	}
	return errs
}

func (l *fakeLetters) Close(context.Context) error { return nil }

func (l *fakeLetters) set(fail func(DeadLetter) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail = fail
}

func (l *fakeLetters) values() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for _, x := range l.kept {
		all = append(all, string(x.Record.Value))
	}
	return all
}

// rig is a pipeline between fakes.
type rig struct {
	*Pipeline
	source  *fakeSource
	sink    *fakeSink
	letters *fakeLetters
	stop    func() error
}

type rigOption func(*Options)

func withoutLetters(o *Options) { o.Letters = nil }

func withConfig(f func(*Config)) rigOption { return func(o *Options) { f(&o.Config) } }

// start runs a pipeline. Call it inside a synctest bubble; stop it at the end.
func start(t *testing.T, options ...rigOption) *rig {
	t.Helper()
	r := &rig{sink: newFakeSink(), letters: &fakeLetters{}}
	c := DefaultConfig()
	c.Memory.Limit = 64 * value.MiB
	c.Delivery.Concurrency = ConcurrencyConfig{Fixed: 4, Max: 4}
	o := Options{Config: c, Sink: r.sink, Letters: r.letters, Logger: zaptest.NewLogger(t, zaptest.Level(zap.ErrorLevel)), Registry: prometheus.NewRegistry()}
	for _, f := range options {
		f(&o)
	}
	r.Pipeline = New(o)
	r.source = newFakeSource(r.Pipeline)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- r.Run(ctx, r.source) }()
	r.stop = func() error {
		cancel()
		return <-result
	}
	return r
}

// finish stops the rig and checks that the ledger balances.
func (r *rig) finish(t *testing.T, want error) Counts {
	t.Helper()
	if err := r.stop(); err != want {
		t.Errorf("Run returned %v, want %v", err, want)
	}
	total := r.book.total()
	if !total.Balanced() || total.InFlight != 0 {
		t.Errorf("the ledger does not balance at the end: %+v", total)
	}
	if used := r.memory.inUse(); used != 0 && want == nil {
		t.Errorf("%d bytes of memory are still reserved at the end", used)
	}
	return total
}

// items refuses the documents that pick gives a verdict for.
func items(documents []string, pick func(string) (Verdict, Reason)) Outcome {
	var o Outcome
	for i, d := range documents {
		if v, reason := pick(d); v != Stored {
			o.Items = append(o.Items, Item{Doc: i, Verdict: v, Reason: reason})
		}
	}
	return o
}

func reject(kind string) (Verdict, Reason) {
	return Rejected, Reason{Status: 400, Type: kind, Text: "bad"}
}

func timeout(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), d)
}

func wait1(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // virtual time

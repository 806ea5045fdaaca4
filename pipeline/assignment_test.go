package pipeline

import (
	"math/rand/v2"
	"testing"
	"time"
)

// listRecords is a chunk's records in a slice.
type listRecords []Record

func (l listRecords) Len() int { return len(l) }

func (l listRecords) At(i int, r *Record) {
	headers := append(r.Headers[:0], l[i].Headers...)
	*r = l[i]
	r.Headers = headers
}

func newTestAssignment(start int64, released *int64) *Assignment {
	a := &Assignment{origin: Origin{Topic: "t"}, next: start, watermark: start, release: func(n int64) { *released += n }}
	a.highWatermark.Store(-1)
	return a
}

// The watermark against a model that knows the fate of every single offset:
// spans of several chunks are opened interleaved, and settled in any order.
func TestWatermarkModel(t *testing.T) {
	for seed := range uint64(300) {
		checkWatermark(t, rand.New(rand.NewPCG(seed, 7)))
	}
}

func FuzzWatermark(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) { checkWatermark(t, rand.New(rand.NewPCG(a, b))) })
}

type modelSpan struct {
	span    *span
	offsets []int64
}

func checkWatermark(t *testing.T, r *rand.Rand) {
	t.Helper()
	var released, reserved int64
	start := r.Int64N(1000)
	a := newTestAssignment(start, &released)
	final := map[int64]bool{} // every offset that exists, and whether it is final
	var open []modelSpan
	next := start
	now := time.Now()
	check := func(when string) {
		t.Helper()
		w := a.Watermark()
		for offset, is := range final {
			if offset < w && !is {
				t.Fatalf("%s: watermark %d is above offset %d, which is not final", when, w, offset)
			}
		}
		a.mu.Lock()
		c := a.counts
		a.mu.Unlock()
		if !c.Balanced() {
			t.Fatalf("%s: ledger does not balance: %+v", when, c)
		}
	}
	settle := func(i int) {
		m := &open[i]
		n := 1 + r.IntN(len(m.offsets))
		for _, o := range m.offsets[:n] {
			final[o] = true
		}
		m.offsets = m.offsets[n:]
		a.settle(m.span, Counts{Stored: int64(n)}, now)
		if len(m.offsets) == 0 {
			open = append(open[:i], open[i+1:]...)
		}
		check("after settling")
	}
	for range 1 + r.IntN(20) {
		n := 1 + r.IntN(20)
		c := &heldChunk{reserved: int64(n)}
		c.refs.Store(1)
		reserved += c.reserved
		if !a.fetched(n, now) {
			t.Fatal("records of a live assignment were refused")
		}
		lanes := map[int]*modelSpan{}
		skippedN := 0
		for range n {
			offset := next
			next += 1 + r.Int64N(3) // gaps
			lane := r.IntN(4)
			if lane == 3 {
				final[offset] = true
				skippedN++
				continue
			}
			final[offset] = false
			if lanes[lane] == nil {
				lanes[lane] = &modelSpan{span: a.begin(c, &Record{Offset: offset})}
			}
			lanes[lane].offsets = append(lanes[lane].offsets, offset)
		}
		for _, l := range lanes {
			a.seal(l.span, len(l.offsets))
			open = append(open, *l)
		}
		a.dispatched(next, now, skippedN, now)
		a.letGo(c)
		check("after dispatching")
		for len(open) > 0 && r.IntN(3) > 0 {
			settle(r.IntN(len(open)))
		}
	}
	for len(open) > 0 {
		settle(r.IntN(len(open)))
	}
	if w := a.Watermark(); w != next {
		t.Fatalf("everything is final, but the watermark is %d instead of %d", w, next)
	}
	if released != reserved {
		t.Fatalf("released %d of %d bytes", released, reserved)
	}
}

// After the end of an assignment, verdicts change nothing, and memory still goes.
func TestLateVerdictChangesNothing(t *testing.T) {
	var released int64
	a := newTestAssignment(10, &released)
	now := time.Now()
	c := &heldChunk{reserved: 5}
	c.refs.Store(1)
	a.fetched(3, now)
	s := a.begin(c, &Record{Offset: 10})
	a.seal(s, 2)
	a.dispatched(13, now, 1, now)
	a.letGo(c)
	a.settle(s, Counts{Stored: 1}, now)
	a.end()
	want := Counts{Fetched: 3, Stored: 1, Skipped: 1, Abandoned: 1}
	if a.counts != want {
		t.Fatalf("counts at the end are %+v, want %+v", a.counts, want)
	}
	a.settle(s, Counts{Stored: 1}, now)
	if a.counts != want {
		t.Errorf("a late verdict changed the counts to %+v", a.counts)
	}
	if w := a.Watermark(); w != -1 {
		t.Errorf("an ended assignment has watermark %d, want -1: nothing may be committed for it", w)
	}
	if released != 5 {
		t.Errorf("released %d bytes, want 5", released)
	}
	if a.fetched(1, now) {
		t.Error("an ended assignment took records")
	}
}

func TestRestWaitsForSpans(t *testing.T) {
	var released int64
	a := newTestAssignment(0, &released)
	now := time.Now()
	closed := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	if !closed(a.rest()) {
		t.Error("an assignment without spans is not at rest")
	}
	c := &heldChunk{}
	c.refs.Store(1)
	a.fetched(1, now)
	s := a.begin(c, &Record{Offset: 0})
	a.dispatched(1, now, 0, now)
	rest := a.rest()
	if closed(rest) {
		t.Error("at rest with an open span")
	}
	a.settle(s, Counts{DeadLettered: 1}, now)
	if !closed(rest) || !closed(a.rest()) {
		t.Error("not at rest after all is final")
	}
}

package pipeline

import (
	"sync"
	"sync/atomic"
	"time"
)

// Assignment is the ownership of one partition for one stretch of time. It
// tracks which records are final and so how far the source may commit. It dies
// with the ownership: a verdict that comes later changes nothing.
type Assignment struct {
	origin  Origin
	release func(bytes int64)
	// reserved is the memory that its chunks hold, in bytes.
	reserved atomic.Int64

	// highWatermark is the partition's end as the source last saw it.
	highWatermark atomic.Int64
	// logStart is the partition's first offset as the source last saw it, -1 if unknown.
	logStart atomic.Int64
	// sourceHold is the source's own trouble with the partition, if any.
	sourceHold atomic.Pointer[Hold]

	mu     sync.Mutex
	counts Counts
	open   spanQueue
	// next is the watermark while no span is open: the offset after all that
	// was dispatched.
	next int64
	// watermark is what was last told; it never falls.
	watermark  int64
	progressed time.Time // when the watermark last moved, or records came after rest
	lastTime   time.Time // timestamp of the newest record that was dispatched
	ended      bool
	draining   bool
	settled    chan struct{} // non-nil while somebody waits for open to be empty
	lastError  string
}

// span is the documents of one chunk inside one batch (or among the dead
// letters). All fields but the constant ones are guarded by the assignment's mutex.
type span struct {
	assignment *Assignment
	chunk      *heldChunk
	first      int64     // offset of its first record
	time       time.Time // timestamp of its first record
	open       int       // documents that are not final
}

// heldChunk is a chunk in memory: it is let go when the loop and every span
// have let go of it.
type heldChunk struct {
	Chunk
	reserved int64
	refs     atomic.Int32
}

// Origin is the partition.
func (a *Assignment) Origin() *Origin { return &a.origin }

// Watermark is the offset below which every record is final, which is what may
// be committed: -1 if nothing is known, or the assignment has ended.
func (a *Assignment) Watermark() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return -1
	}
	return a.watermark
}

// SetHighWatermark tells the partition's end offset, for the lag.
func (a *Assignment) SetHighWatermark(offset int64) { a.highWatermark.Store(offset) }

// SetLogStart tells the partition's first offset, for the headroom: what a hold
// keeps waiting is lost when the log's start passes the watermark.
func (a *Assignment) SetLogStart(offset int64) { a.logStart.Store(offset) }

// SetHold tells that the source itself cannot read the partition, or with nil
// that it can again.
func (a *Assignment) SetHold(h *Hold) {
	a.sourceHold.Store(h)
	if h != nil {
		a.noteError(h.Text)
	}
}

// Ended tells whether the ownership is over.
func (a *Assignment) Ended() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ended
}

func (a *Assignment) noteError(text string) {
	a.mu.Lock()
	a.lastError = text
	a.mu.Unlock()
}

// fetched counts records that came from the source. It is false if the
// assignment is over and the records must be dropped.
func (a *Assignment) fetched(n int, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return false
	}
	if a.counts.InFlight == 0 {
		a.progressed = now
	}
	a.counts.Fetched += int64(n)
	a.counts.InFlight += int64(n)
	return true
}

// begin opens a span whose first document is r, in offset order. It stays open
// at least until it is sealed.
func (a *Assignment) begin(c *heldChunk, r *Record) *span {
	s := &span{assignment: a, chunk: c, first: r.Offset, time: r.Timestamp, open: 1}
	c.refs.Add(1)
	a.mu.Lock()
	a.open.push(s)
	a.mu.Unlock()
	return s
}

// seal tells that the span has n documents (one or more), before any of them is settled.
func (a *Assignment) seal(s *span, n int) {
	a.mu.Lock()
	s.open += n - 1
	a.mu.Unlock()
}

// dispatched tells that every record below next has been skipped or is part of a span.
func (a *Assignment) dispatched(next int64, last time.Time, skipped int, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	a.next, a.lastTime = next, last
	a.counts.Skipped += int64(skipped)
	a.counts.InFlight -= int64(skipped)
	a.advanceLocked(now)
}

// settle makes documents of s final: as many as counts says, by outcome. For an
// assignment that has ended only the memory is let go.
func (a *Assignment) settle(s *span, counts Counts, now time.Time) {
	n := int(counts.final())
	a.mu.Lock()
	s.open -= n
	done := s.open == 0
	if !a.ended {
		a.counts.Add(counts)
		a.counts.InFlight -= int64(n)
		if done {
			a.advanceLocked(now)
		}
	}
	a.mu.Unlock()
	if done {
		a.letGo(s.chunk)
	}
}

// drop forgets n documents of an ended assignment, so that their memory can go.
func (a *Assignment) drop(s *span, n int) {
	a.mu.Lock()
	s.open -= n
	done := s.open == 0
	a.mu.Unlock()
	if done {
		a.letGo(s.chunk)
	}
}

func (a *Assignment) letGo(c *heldChunk) {
	if c.refs.Add(-1) == 0 {
		a.reserved.Add(-c.reserved)
		a.release(c.reserved)
	}
}

func (a *Assignment) advanceLocked(now time.Time) {
	for s := a.open.head(); s != nil && s.open == 0; s = a.open.head() {
		a.open.pop()
	}
	w := a.next
	if s := a.open.head(); s != nil {
		w = s.first
	} else if a.settled != nil {
		close(a.settled)
		a.settled = nil
	}
	if w > a.watermark {
		a.watermark, a.progressed = w, now
	}
}

// end is the end of the ownership: what is in flight is abandoned.
func (a *Assignment) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	a.ended = true
	a.counts.Abandoned += a.counts.InFlight
	a.counts.InFlight = 0
	a.open = spanQueue{}
	if a.settled != nil {
		close(a.settled)
		a.settled = nil
	}
}

// rest gives a channel that is closed when no span is open any more.
func (a *Assignment) rest() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open.head() == nil || a.ended {
		done := make(chan struct{})
		close(done)
		return done
	}
	if a.settled == nil {
		a.settled = make(chan struct{})
	}
	return a.settled
}

// spanQueue is a FIFO of spans whose space is reused.
type spanQueue struct {
	spans []*span
	start int
}

func (q *spanQueue) head() *span {
	if q.start == len(q.spans) {
		return nil
	}
	return q.spans[q.start]
}

func (q *spanQueue) push(s *span) {
	if q.start > 64 && q.start*2 > len(q.spans) {
		n := copy(q.spans, q.spans[q.start:])
		clear(q.spans[n:])
		q.spans, q.start = q.spans[:n], 0
	}
	q.spans = append(q.spans, s)
}

func (q *spanQueue) pop() {
	q.spans[q.start] = nil
	q.start++
}

package pipeline

import (
	"context"
	"sync"
	"time"
)

// Partitions is what a source tells about its partitions. The pipeline is one.
type Partitions interface {
	// Assign begins the ownership of a partition whose next record to read is
	// start; -1 if that is not known yet.
	Assign(origin Origin, start int64) *Assignment
	// Drain stops work on these assignments that was not begun, and waits until
	// what is in flight of them is final or ctx ends. Then Watermark is what may
	// be committed.
	Drain(ctx context.Context, as []*Assignment)
	// End ends the ownerships: later verdicts change nothing.
	End(as []*Assignment)
	// Hold tells of a fault that keeps the source as a whole from reading, nil
	// when it is over.
	Hold(h *Hold)
}

type partition struct {
	topic  string
	number int32
}

// book keeps the assignments: the live ones and what those before them counted.
type book struct {
	mu         sync.Mutex
	partitions map[partition]*partitionBook
	count      int // live assignments
}

type partitionBook struct {
	past Counts
	live *Assignment
}

// Assign implements Partitions.
func (p *Pipeline) Assign(origin Origin, start int64) *Assignment {
	now := time.Now()
	a := &Assignment{origin: origin, release: p.memory.release, next: start, watermark: start, progressed: now}
	a.highWatermark.Store(-1)
	a.logStart.Store(-1)
	key := partition{origin.Topic, origin.Partition}
	p.book.mu.Lock()
	defer p.book.mu.Unlock()
	b := p.book.partitions[key]
	if b == nil {
		b = &partitionBook{}
		p.book.partitions[key] = b
	}
	p.book.endLocked(b)
	b.live = a
	p.book.count++
	return a
}

// Drain implements Partitions.
func (p *Pipeline) Drain(ctx context.Context, as []*Assignment) {
	set := map[*Assignment]bool{}
	for _, a := range as {
		set[a] = true
		a.mu.Lock()
		a.draining = true
		a.mu.Unlock()
	}
	p.mu.Lock()
	p.dropPending(func(a *Assignment) bool { return set[a] })
	p.flushAll(closedDrain)
	p.mu.Unlock()
	for _, a := range as {
		select {
		case <-a.rest():
		case <-ctx.Done():
			return
		}
	}
}

// End implements Partitions.
func (p *Pipeline) End(as []*Assignment) {
	p.book.mu.Lock()
	for _, a := range as {
		a.end()
		if b := p.book.partitions[partition{a.origin.Topic, a.origin.Partition}]; b != nil && b.live == a {
			p.book.endLocked(b)
		}
	}
	p.book.mu.Unlock()
	p.mu.Lock()
	p.dropPending((*Assignment).Ended)
	p.mu.Unlock()
}

// Hold implements Partitions. A fault that goes on keeps the time when it began.
func (p *Pipeline) Hold(h *Hold) {
	if h != nil {
		if before := p.sourceHold.Load(); before != nil {
			h.Since = before.Since
		}
	}
	p.sourceHold.Store(h)
}

func (k *book) endLocked(b *partitionBook) {
	if b.live == nil {
		return
	}
	b.live.end()
	b.live.mu.Lock()
	b.past.Add(b.live.counts)
	b.live.mu.Unlock()
	b.live = nil
	k.count--
}

func (k *book) endAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, b := range k.partitions {
		k.endLocked(b)
	}
}

func (k *book) live() []*Assignment {
	k.mu.Lock()
	defer k.mu.Unlock()
	var as []*Assignment
	for _, b := range k.partitions {
		if b.live != nil {
			as = append(as, b.live)
		}
	}
	return as
}

func (k *book) liveCount() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.count
}

// counts gives each partition's ledger over all its assignments.
func (k *book) counts() map[partition]Counts {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make(map[partition]Counts, len(k.partitions))
	for key, b := range k.partitions {
		c := b.past
		if b.live != nil {
			b.live.mu.Lock()
			c.Add(b.live.counts)
			b.live.mu.Unlock()
		}
		all[key] = c
	}
	return all
}

func (k *book) total() Counts {
	var sum Counts
	for _, c := range k.counts() {
		sum.Add(c)
	}
	return sum
}

package pipeline

import (
	"context"
	"errors"
	"time"
)

// loopTurn is the longest that the loop rests at one place, so that a loop that
// stands still can be told from a quiet one.
const loopTurn = time.Second

// loop polls and dispatches until ctx ends or the source fails or is done.
func (p *Pipeline) loop(ctx context.Context, source Source) error {
	paused := map[*Assignment]bool{}
	for ctx.Err() == nil {
		now := time.Now()
		p.beat.Store(now.UnixNano())
		p.mu.Lock()
		starved := p.dispatchPending(now)
		if starved && p.queued.Load() == 0 {
			// Nothing else comes until memory is free, and nothing waits to be sent:
			// send what there is. While something waits, what there is had better fill.
			p.flushAll(closedMemory)
		}
		p.flushAged(now)
		rest := p.untilAged(now, loopTurn)
		parked := p.parkedLocked()
		p.mu.Unlock()
		p.repause(source, paused, parked)

		if starved {
			p.starved.Store(true)
			p.awaitMemory(ctx, rest)
			continue
		}
		p.starved.Store(false)
		if len(parked) > 0 {
			rest = min(rest, parkedTurn)
		}
		err := p.poll(ctx, source, rest)
		switch {
		case errors.Is(err, ErrDone):
			if p.finished() {
				return err
			}
			_ = sleep(ctx, doneTurn)
		case err != nil:
			return err
		}
	}
	return nil
}

// doneTurn is how often a pipeline whose source is done looks whether it is, too.
const doneTurn = 20 * time.Millisecond

// finished sends what is gathered and tells whether all that was polled is final.
func (p *Pipeline) finished() bool {
	p.mu.Lock()
	p.flushAll(closedDrain)
	pending := len(p.pending)
	p.mu.Unlock()
	if pending > 0 {
		return false
	}
	for _, a := range p.book.live() {
		select {
		case <-a.rest():
		default:
			return false
		}
	}
	return true
}

// parkedTurn is how often chunks that wait for their destination or their
// partition's share are looked at again.
const parkedTurn = 100 * time.Millisecond

func (p *Pipeline) poll(ctx context.Context, source Source, within time.Duration) error {
	pollCtx, cancel := context.WithTimeout(ctx, within)
	chunks, err := source.Poll(pollCtx)
	cancel()
	if err != nil && !(errors.Is(err, ErrDone) && len(chunks) > 0) {
		return err
	}
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range chunks {
		if c.Assignment.fetched(c.Records.Len(), now) {
			h := &heldChunk{Chunk: c, reserved: cost(c)}
			h.refs.Store(1)
			p.pending = append(p.pending, &cursor{heldChunk: h})
		}
	}
	return nil
}

// documentCost is what a document takes besides its bytes: its action line in
// the body and its place in the batch.
const documentCost = 160

// cost is the memory of a chunk with its encoded copy, in bytes.
func cost(c Chunk) int64 {
	return c.Bytes + c.Values + int64(c.Records.Len())*documentCost
}

// dispatchPending dispatches what was polled, in order, as far as memory, shares
// and destinations allow. It is true if memory is what is missing.
func (p *Pipeline) dispatchPending(now time.Time) (starved bool) {
	if len(p.pending) == 0 {
		return false
	}
	share := p.partitionShare()
	blocked := map[*Assignment]bool{}
	kept := p.pending[:0]
	for i, c := range p.pending {
		if c.Assignment.Ended() {
			p.letGo(c)
			continue
		}
		if !c.admitted {
			if !p.memory.tryAcquire(c.reserved) {
				kept = append(kept, p.pending[i:]...)
				starved = true
				break
			}
			c.admitted = true
			c.Assignment.reserved.Add(c.reserved)
		}
		if blocked[c.Assignment] || c.Assignment.reserved.Load()-c.reserved > share || !p.dispatch(c, now) {
			blocked[c.Assignment] = true
			kept = append(kept, c)
		}
	}
	clear(p.pending[len(kept):])
	p.pending = kept
	return starved
}

// partitionShare is how much memory one partition may hold before it waits for
// the others: a quarter, or more where there are fewer than four.
func (p *Pipeline) partitionShare() int64 {
	return p.memory.limit / int64(min(4, max(1, p.book.liveCount())))
}

// letGo forgets a chunk whose assignment has ended.
func (p *Pipeline) letGo(c *cursor) {
	if c.admitted {
		c.Assignment.letGo(c.heldChunk)
	}
}

// dropPending forgets chunks that were not dispatched, of the assignments that
// are picked. They stay counted as in flight until their assignment ends.
func (p *Pipeline) dropPending(pick func(*Assignment) bool) {
	kept := p.pending[:0]
	for _, c := range p.pending {
		if pick(c.Assignment) {
			p.letGo(c)
			continue
		}
		kept = append(kept, c)
	}
	clear(p.pending[len(kept):])
	p.pending = kept
}

// parkedLocked gives the assignments with admitted chunks that wait.
func (p *Pipeline) parkedLocked() map[*Assignment]bool {
	var parked map[*Assignment]bool
	for _, c := range p.pending {
		if c.admitted {
			if parked == nil {
				parked = map[*Assignment]bool{}
			}
			parked[c.Assignment] = true
		}
	}
	return parked
}

// repause tells the source which partitions need not be fetched. A partition
// resumes when its last parked chunk has gone, not before: pausing drops what
// the source has buffered, so it must not happen often.
func (p *Pipeline) repause(source Source, paused, parked map[*Assignment]bool) {
	var pause, resume []*Assignment
	for a := range parked {
		if !paused[a] {
			paused[a] = true
			pause = append(pause, a)
		}
	}
	for a := range paused {
		if !parked[a] {
			delete(paused, a)
			if !a.Ended() {
				resume = append(resume, a)
			}
		}
	}
	if pause != nil {
		source.Pause(pause)
	}
	if resume != nil {
		source.Resume(resume)
	}
}

func (p *Pipeline) awaitMemory(ctx context.Context, within time.Duration) {
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-p.memory.released:
	case <-t.C:
	case <-ctx.Done():
	}
}

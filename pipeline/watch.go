package pipeline

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// watch is what others may see of a batch that is being delivered.
type watch struct {
	held atomic.Pointer[heldBatch]
}

// heldBatch is why a batch waits, and whose records are in it.
type heldBatch struct {
	hold        Hold
	assignments []*Assignment
}

// liveBatches are the batches that are being delivered.
type liveBatches struct {
	mu      sync.Mutex
	batches map[*watch]struct{}
}

func (p *Pipeline) enter(b *Batch) {
	b.watch = &watch{}
	p.live.mu.Lock()
	p.live.batches[b.watch] = struct{}{}
	p.live.mu.Unlock()
}

func (p *Pipeline) leave(w *watch) {
	p.live.mu.Lock()
	delete(p.live.batches, w)
	p.live.mu.Unlock()
}

// setHold shows why b waits. A hold that goes on keeps the time when it began.
func (p *Pipeline) setHold(b *Batch, h *Hold) {
	if h == nil {
		return
	}
	held := &heldBatch{hold: *h}
	if before := b.watch.held.Load(); before != nil {
		held.hold.Since = before.hold.Since
	}
	var last *Assignment
	for _, d := range b.docs {
		if a := b.spans[d.span].assignment; a != last {
			last = a
			held.assignments = append(held.assignments, a)
			a.noteError(h.Text)
		}
	}
	b.watch.held.Store(held)
}

// holds gives for each assignment with a waiting batch the oldest reason.
func (p *Pipeline) holds() map[*Assignment]Hold {
	all := map[*Assignment]Hold{}
	note := func(a *Assignment, h Hold) {
		if o, ok := all[a]; !ok || h.Since.Before(o.Since) {
			all[a] = h
		}
	}
	p.live.mu.Lock()
	for w := range p.live.batches {
		if h := w.held.Load(); h != nil {
			for _, a := range h.assignments {
				note(a, h.hold)
			}
		}
	}
	p.live.mu.Unlock()
	as, h := p.graveyard.waiting()
	for a := range as {
		note(a, *h)
	}
	return all
}

// String gives status and type, which quote no document.
func (r Reason) String() string {
	if r.Status == 0 {
		return r.Type
	}
	return fmt.Sprintf("%s (status %d)", r.Type, r.Status)
}

func systematicHold(d *destination, r Reason, now time.Time) Hold {
	return Hold{
		State: StateHeldSystematic, Since: now,
		Text: fmt.Sprintf("every document for %s is refused alike: %s; mend the index, its mapping or the sink's settings, or the producer: nothing is dead-lettered until one document is stored", d.name, r),
	}
}

func noLettersHold(r Reason, now time.Time) Hold {
	return Hold{
		State: StateHeldDeadLetter, Since: now,
		Text: fmt.Sprintf("a record cannot be stored (%s) and there is no dead-letter topic: set dead_letter.topic", r),
	}
}

func itemHold(s State, d *destination, r Reason, now time.Time) Hold {
	return Hold{State: s, Since: now, Text: fmt.Sprintf("%s takes no documents: %s: %s", d.name, r, r.Text)}
}

// busyHold is for documents that the sink says it cannot take now. What it says
// may quote them, unless it is about its load.
func busyHold(d *destination, r Reason, now time.Time) Hold {
	text := fmt.Sprintf("documents for %s are refused for now: %s", d.name, r)
	if r.Status == 429 || r.Status == 503 {
		text += ": " + r.Text
	}
	return Hold{State: StateHeldSink, Since: now, Text: text}
}

func destinationField(d *destination) zap.Field { return zap.String("destination", d.name) }
func stateField(h *Hold) zap.Field              { return zap.String("was", string(h.State)) }
func heldField(d time.Duration) zap.Field       { return zap.Duration("held", d) }

// refuse sends a record to the dead letters that never became a document.
func (p *Pipeline) refuse(c *cursor, r *Record, destination string, err error) {
	reason := Reason{Type: "encode", Text: err.Error()}
	if e, ok := err.(*DocumentError); ok {
		reason = e.Reason
	}
	p.bury(grave{span: c.Assignment.begin(c.heldChunk, r), record: c.i, destination: destination, reason: reason})
}

func (p *Pipeline) bury(g grave) { p.graveyard.add(g) }

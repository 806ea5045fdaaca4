package pipeline

import (
	"time"
)

// remainder is what a request left unsettled, in positions of its batch.
type remainder struct {
	items []left
	sent  int
}

type left struct {
	position int
	hold     Hold
	fault    fault
}

// fault is whose fault it is that a document is not stored.
type fault uint8

const (
	// faultDocument: the document is bad, and may not be set aside.
	faultDocument fault = iota
	// faultBusy: its destination is too busy for it.
	faultBusy
	// faultDestination: its destination takes nothing; the gate is to be closed.
	faultDestination
)

// group is the documents of a remainder that go to one destination.
type group struct {
	destination *destination
	positions   []int
	hold        Hold
	fault       fault
	sent        int
}

// troubled is the destination if the fault is its own, nil if it is the documents'.
func (g *group) troubled() *destination {
	if g.fault == faultDocument {
		return nil
	}
	return g.destination
}

func (r *remainder) byDestination(b *Batch) []*group {
	var groups []*group
	for _, l := range r.items {
		d := b.destinations[b.docs[l.position].destination]
		var g *group
		for _, o := range groups {
			if o.destination == d {
				g = o
				break
			}
		}
		if g == nil {
			g = &group{destination: d, hold: l.hold, fault: l.fault, sent: r.sent}
			groups = append(groups, g)
		}
		g.positions = append(g.positions, l.position)
		if l.fault > g.fault {
			g.fault, g.hold = l.fault, l.hold
		}
	}
	return groups
}

// settle makes the documents final that the outcome makes final, hands refused
// ones to the dead letters, and gives what is left to be tried again, nil if nothing.
func (p *Pipeline) settle(b *Batch, o Outcome) *remainder {
	now := time.Now()
	if len(o.Items) == 0 {
		for _, d := range b.destinations {
			p.stored(d, now)
		}
		p.settleStored(b, now)
		return nil
	}
	verdict := p.judge(b, o, now)
	rest := &remainder{sent: b.Len()}
	// Runs of one span are settled together.
	var run *span
	var counts Counts
	finish := func() {
		if run != nil && counts != (Counts{}) {
			run.assignment.settle(run, counts, now)
			p.metrics.acknowledged(run, now)
		}
		counts = Counts{}
	}
	k := 0
	for i, doc := range b.docs {
		if s := b.spans[doc.span]; s != run {
			finish()
			run = s
		}
		if k == len(o.Items) || o.Items[k].Doc != i {
			counts.Stored++
			continue
		}
		item := &o.Items[k]
		k++
		d := b.destinations[doc.destination]
		switch item.Verdict {
		case Duplicate:
			counts.Duplicate++
		case Rejected:
			switch {
			case verdict.systematic(d, item.Reason.Type):
				rest.items = append(rest.items, left{i, systematicHold(d, item.Reason, now), faultDestination})
			case p.letters == nil:
				rest.items = append(rest.items, left{i, noLettersHold(item.Reason, now), faultDocument})
			default:
				p.bury(grave{span: run, record: int(doc.record), destination: d.name, reason: item.Reason})
			}
		case Throttled:
			rest.items = append(rest.items, left{i, busyHold(d, item.Reason, now), faultBusy})
		default:
			rest.items = append(rest.items, left{i, itemHold(StateHeldIndex, d, item.Reason, now), faultDestination})
		}
	}
	finish()
	if len(rest.items) == 0 {
		return nil
	}
	p.metrics.retriedItems(o)
	return rest
}

// settleStored is settle for the common case that all is stored.
func (p *Pipeline) settleStored(b *Batch, now time.Time) {
	for i := 0; i < len(b.docs); {
		j := i + 1
		for j < len(b.docs) && b.docs[j].span == b.docs[i].span {
			j++
		}
		s := b.spans[b.docs[i].span]
		s.assignment.settle(s, Counts{Stored: int64(j - i)}, now)
		p.metrics.acknowledged(s, now)
		i = j
	}
}

// stored notes that d takes documents, which ends its hold.
func (p *Pipeline) stored(d *destination, now time.Time) {
	d.noteStored(now)
	p.everything.noteStored(now)
	if d.troubled.Load() {
		d.troubled.Store(false)
		if was, lasted := d.gate.open(now); was != nil {
			p.log.Info("destination takes documents again", destinationField(d), stateField(was), heldField(lasted))
		}
	}
}

// alike counts n refusals of one type and tells whether they look systematic:
// for their destination, or for all of them.
func (p *Pipeline) alike(d *destination, kind string, n int, since time.Time) bool {
	here := d.alike(kind, n, p.systematicFrom, since)
	anywhere := p.everything.alike(kind, n, p.systematicFrom, since)
	return here || anywhere
}

// judgement says which refusals of a request look systematic.
type judgement struct {
	alike map[alikeKey]bool
}

type alikeKey struct {
	destination *destination
	kind        string
}

func (j judgement) systematic(d *destination, kind string) bool { return j.alike[alikeKey{d, kind}] }

// judge looks at the outcome as a whole, destination by destination, before any
// document is dead-lettered.
func (p *Pipeline) judge(b *Batch, o Outcome, now time.Time) judgement {
	taken := map[*destination]int{} // stored or found stored
	refused := map[alikeKey]int{}
	k := 0
	for i, doc := range b.docs {
		d := b.destinations[doc.destination]
		v := Stored
		if k < len(o.Items) && o.Items[k].Doc == i {
			v = o.Items[k].Verdict
			if v == Rejected {
				refused[alikeKey{d, o.Items[k].Reason.Type}]++
			}
			k++
		}
		if v == Stored || v == Duplicate {
			taken[d]++
		}
	}
	for d := range taken {
		p.stored(d, now)
	}
	j := judgement{alike: map[alikeKey]bool{}}
	if len(refused) == 0 {
		return j
	}
	if b.failed.IsZero() {
		b.failed = now
	}
	for key, n := range refused {
		if taken[key.destination] == 0 && p.alike(key.destination, key.kind, n, b.failed) {
			j.alike[key] = true
		}
	}
	return j
}

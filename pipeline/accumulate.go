package pipeline

import (
	"time"
)

// lane gathers documents into the next request. All healthy destinations share
// one; a destination in trouble has its own until it stores again.
type lane struct {
	own   *destination // nil for the shared lane
	batch *Batch       // nil while empty
	// span is the current chunk's span in batch, count its documents so far.
	span  *span
	count int
	size  int // body size that the last batches reached: what to make room for
}

// cursor is how far the loop has come in one chunk.
type cursor struct {
	*heldChunk
	i int // next record
	// admitted is set once the chunk's memory has been acquired.
	admitted bool
}

// dispatch turns the records of c into documents in lanes, from where it left
// off. It is false if it had to stop at a record whose destination has its
// share of memory taken by documents that it does not store.
func (p *Pipeline) dispatch(c *cursor, now time.Time) bool {
	a, r := c.Assignment, &p.record
	var skips [numPolicies]int
	complete := true
	for n := c.Records.Len(); c.i < n; c.i++ {
		c.Records.At(c.i, r)
		if r.Control {
			skips[policyControl]++
			continue
		}
		doc, err := p.decoder.decode(r)
		if err != nil {
			if s, ok := err.(*skipped); ok {
				skips[s.policy]++
				continue
			}
			p.refuse(c, r, "", err)
			continue
		}
		name, err := p.sink.Route(r)
		if err != nil {
			p.refuse(c, r, "", err)
			continue
		}
		d := p.lookup(name)
		l := &p.shared
		if d.troubled.Load() {
			if d.inFlight.Load() > p.destinationShare {
				complete = false
				break
			}
			l = p.ownLane(d)
		}
		if err := p.append(l, d, c, r, doc, now); err != nil {
			p.refuse(c, r, name, err)
		}
	}
	p.sealAll()
	next := c.Next
	if !complete {
		next = r.Offset
	}
	a.dispatched(next, r.Timestamp, p.metrics.skipped(skips), now)
	if complete {
		a.letGo(c.heldChunk)
	}
	return complete
}

// append puts one document into the lane's batch. Batches never grow over their
// limit by a document that would not be alone in them.
func (p *Pipeline) append(l *lane, d *destination, c *cursor, r *Record, doc Document, now time.Time) error {
	if l.batch == nil {
		l.batch = p.newBatch(l, d, now)
	}
	b := l.batch
	start := len(b.Body)
	if err := p.sink.Append(b, r, doc, d.name); err != nil {
		b.Body = b.Body[:start]
		if len(b.docs) == 0 {
			p.pool.put(b)
			l.batch = nil
		}
		return err
	}
	limit := int(p.bodyLimit.load())
	if len(b.Body) > limit && len(b.docs) > 0 {
		tail := b.Body[start:]
		next := p.newBatch(l, d, now)
		next.Body = append(next.Body, tail...)
		b.Body = b.Body[:start]
		p.flush(l, closedBytes)
		l.batch, b, start = next, next, 0
	}
	if l.span == nil || l.span.chunk != c.heldChunk {
		l.span, l.count = c.Assignment.begin(c.heldChunk, r), 0
		b.spans = append(b.spans, l.span)
		p.touched = append(p.touched, l)
	}
	l.count++
	b.docs = append(b.docs, document{
		start: uint32(start), end: uint32(len(b.Body)), record: uint32(c.i),
		span: uint32(len(b.spans) - 1), destination: b.destination(d),
	})
	switch {
	case len(b.Body) >= limit:
		p.flush(l, closedBytes)
	case p.maxDocuments > 0 && len(b.docs) >= p.maxDocuments:
		p.flush(l, closedCount)
	}
	return nil
}

func (p *Pipeline) newBatch(l *lane, d *destination, now time.Time) *Batch {
	b := p.pool.get()
	if cap(b.Body) < l.size {
		b.Body = make([]byte, 0, l.size)
	}
	b.Destination, b.opened, b.own = d.name, now, l.own
	return b
}

// sealAll closes the current chunk's spans, so that they can become final.
func (p *Pipeline) sealAll() {
	for _, l := range p.touched {
		l.seal()
	}
	p.touched = p.touched[:0]
}

func (l *lane) seal() {
	if l.span != nil {
		l.span.assignment.seal(l.span, l.count)
		l.span, l.count = nil, 0
	}
}

// flush hands the lane's batch over for delivery.
func (p *Pipeline) flush(l *lane, why closeReason) {
	b := l.batch
	if b == nil {
		return
	}
	l.seal()
	l.batch = nil
	l.size = max(minBody, len(b.Body), l.size-l.size/4)
	p.metrics.closed(why)
	p.start(b)
}

// flushAll hands over every open batch.
func (p *Pipeline) flushAll(why closeReason) {
	p.flush(&p.shared, why)
	for _, d := range p.destinations {
		if d.lane != nil {
			p.flush(d.lane, why)
		}
	}
}

// flushAged hands over the batches that have waited long enough.
func (p *Pipeline) flushAged(now time.Time) {
	p.eachLane(func(l *lane) {
		if age, may := p.ageOf(l); may && now.Sub(l.batch.opened) >= age {
			p.flush(l, closedAge)
		}
	})
}

// untilAged is how long until flushAged has something to do, at most most.
func (p *Pipeline) untilAged(now time.Time, most time.Duration) time.Duration {
	p.eachLane(func(l *lane) {
		if age, may := p.ageOf(l); may {
			most = min(most, max(time.Millisecond, age-now.Sub(l.batch.opened)))
		}
	})
	return most
}

// ageOf is how old the lane's batch may become. It may go out at all only while
// no earlier one waits for its turn: it had better fill, for a sink that takes
// nothing must not be met with ever more small requests. A destination in
// trouble is different: what it refuses may be what it was sent so far, and only
// another document can tell. So its batches go out too, each after a longer time.
func (p *Pipeline) ageOf(l *lane) (age time.Duration, may bool) {
	switch {
	case l.batch == nil:
		return 0, false
	case l.own == nil:
		return p.age, p.queued.Load() == 0
	}
	n := l.own.batches.Load()
	return max(p.age, min(p.age<<min(n, 20), mostAge)), true
}

// mostAge bounds how long documents for a destination in trouble are gathered.
const mostAge = 30 * time.Second

func (p *Pipeline) eachLane(f func(*lane)) {
	f(&p.shared)
	for _, d := range p.destinations {
		if d.lane != nil {
			f(d.lane)
		}
	}
}

// minBody is the least room that a new body gets, in bytes.
const minBody = 64 << 10

// lookup gives the destination of that name. Runs of one are the rule.
func (p *Pipeline) lookup(name string) *destination {
	if p.last != nil && p.last.name == name {
		return p.last
	}
	d := p.destinations[name]
	if d == nil {
		p.forgetIdle()
		d = &destination{name: name, gate: newGate(p.backoff), refused: map[string]int{}}
		p.destinations[name] = d
	}
	p.last = d
	return d
}

// ownLane gives d's own lane, making it on first use.
func (p *Pipeline) ownLane(d *destination) *lane {
	if d.lane == nil {
		d.lane = &lane{own: d}
	}
	return d.lane
}

// mostDestinations is how many destinations are remembered before idle ones
// are forgotten: indices of past days come to no end.
const mostDestinations = 1000

func (p *Pipeline) forgetIdle() {
	if len(p.destinations) < mostDestinations {
		return
	}
	for name, d := range p.destinations {
		if !d.troubled.Load() && (d.lane == nil || d.lane.batch == nil) {
			delete(p.destinations, name)
		}
	}
}

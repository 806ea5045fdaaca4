package pipeline

import (
	"errors"
	"time"

	"go.uber.org/zap"
)

// start delivers b in a goroutine of its own. How many there are is bounded by
// the memory limit, since each holds documents.
func (p *Pipeline) start(b *Batch) {
	if b.own != nil {
		b.charge(b.own)
	}
	p.enter(b)
	p.work.Go(func() {
		defer p.leave(b.watch)
		p.deliver(b)
	})
}

// deliver tries until every document of b is final or its assignment has ended,
// or the pipeline stops.
func (p *Pipeline) deliver(b *Batch) {
	for p.dropEnded(b) {
		if b.own != nil {
			probing, err := b.own.gate.wait(p.hard)
			if err != nil {
				return
			}
			if probing {
				p.takeTurn(b.own.gate, b, p.probe)
				continue
			}
		}
		p.queued.Add(1)
		probing, err := p.gate.wait(p.hard)
		p.queued.Add(-1)
		if err != nil {
			return
		}
		alive := true
		if probing {
			p.takeTurn(p.gate, b, func(b *Batch) { alive = p.try(b, true) })
		} else {
			alive = p.try(b, false)
		}
		if !alive {
			return
		}
	}
	b.charge(nil)
	p.pool.put(b)
}

// takeTurn tries b as the one that a closed gate lets through, unless its
// assignments have ended while it waited: then the turn goes to another.
func (p *Pipeline) takeTurn(g *gate, b *Batch, try func(*Batch)) {
	if !p.dropEnded(b) {
		g.pass()
		return
	}
	try(b)
}

// try sends b once and settles what the answer settles; the rest stays in b.
// It is false when the pipeline stops.
func (p *Pipeline) try(b *Batch, probing bool) bool {
	node, probing, err := p.turn(probing)
	if err != nil {
		return false
	}
	outcome, f, err := p.exchange(node, b)
	if err != nil && p.hard.Err() != nil {
		return false
	}
	re := asRequestError(err)
	if re != nil && !re.aboutRequest() {
		// Before the place is given to the next in line, who must not go too.
		p.holdSink(re, probing)
	}
	p.limiter.release(node, f, time.Now())
	if re != nil {
		p.requestFailed(b, re, probing)
		return true
	}
	rest := p.settle(b, outcome)
	if rest == nil {
		b.keep(nil)
		return true
	}
	return p.retryLater(b, rest)
}

// turn waits for a place on a node. Should the sink be held meanwhile, it gives
// the place back and waits for the gate, from which it may come as the probe.
func (p *Pipeline) turn(probing bool) (node int, isProbe bool, err error) {
	p.queued.Add(1)
	defer p.queued.Add(-1)
	for {
		if node, err = p.limiter.acquire(p.hard, p.sink.Usable); err != nil {
			return 0, false, err
		}
		if probing || p.gate.held() == nil {
			return node, probing, nil
		}
		p.limiter.release(node, feedback{failed: true}, time.Now())
		if probing, err = p.gate.wait(p.hard); err != nil {
			return 0, false, err
		}
	}
}

// send sends a part of a batch whose turn it is, in the limiter's time.
func (p *Pipeline) send(b *Batch) (Outcome, error) {
	p.queued.Add(1)
	node, err := p.limiter.acquire(p.hard, p.sink.Usable)
	p.queued.Add(-1)
	if err != nil {
		return Outcome{}, err
	}
	outcome, f, err := p.exchange(node, b)
	p.limiter.release(node, f, time.Now())
	return outcome, err
}

// exchange sends b once and notes how it went.
func (p *Pipeline) exchange(node int, b *Batch) (Outcome, feedback, error) {
	body := len(b.Body)
	began := time.Now()
	outcome, err := p.sink.Write(p.hard, node, b)
	now := time.Now()
	f := feedback{sent: began, latency: now.Sub(began), full: int64(body)*2 >= p.bodyLimit.load()}
	if err != nil {
		f.failed = true
		f.busy = asRequestError(err).Class == Busy
		p.metrics.requestFailed(err)
	} else {
		f.busy = outcome.throttled()
		p.succeeded.Add(1)
		p.bodyLimit.taken(body, now)
		if was, lasted := p.gate.open(now); was != nil {
			p.log.Info("sink takes requests again", zap.String("was", string(was.State)), zap.Duration("held", lasted))
		}
	}
	p.metrics.request(body, outcome.Wire, f.latency)
	return outcome, f, err
}

// asRequestError gives err's own classification, Unknown if it has none, nil for nil.
func asRequestError(err error) *RequestError {
	var re *RequestError
	if err != nil && !errors.As(err, &re) {
		re = &RequestError{Class: Unknown, Err: err}
	}
	return re
}

// aboutRequest tells whether the failure is about this request rather than the sink.
func (e *RequestError) aboutRequest() bool { return e.Class == TooLarge || e.Class == Refused }

func (o Outcome) throttled() bool {
	for i := range o.Items {
		if o.Items[i].Verdict == Throttled {
			return true
		}
	}
	return false
}

// requestFailed does what a failed request asks for. Nothing of b is known to
// be stored; all of it stays in b, unless it is split.
func (p *Pipeline) requestFailed(b *Batch, re *RequestError, probing bool) {
	b.attempts++
	if re.aboutRequest() {
		if probing {
			// The sink answers: what it refuses is this request.
			p.gate.open(time.Now())
		}
		p.isolate(b, re)
		return
	}
	p.metrics.retried(re.Class.String(), b.Len())
	p.setHold(b, p.gate.held())
}

// holdSink closes the gate before the whole sink.
func (p *Pipeline) holdSink(re *RequestError, probing bool) {
	h := Hold{State: StateHeldSink, Text: re.Error(), Since: time.Now()}
	switch re.Class {
	case Unauthorized:
		h.State = StateHeldAuth
	case Refused, Misconfigured:
		h.State = StateHeldSystematic
	}
	p.gate.shut(h, probing, re.RetryAfter)
	p.limited.Warn("sink refuses requests: holding, nothing is lost", zap.String("state", string(h.State)), zap.String("error", h.Text))
}

// retryLater makes b a batch of what is left of it and waits for its next turn.
// What is left of other destinations goes on in batches of its own. It is false
// when the pipeline stops.
func (p *Pipeline) retryLater(b *Batch, rest *remainder) bool {
	groups := rest.byDestination(b)
	for _, g := range groups[1:] {
		e := b.extract(g.positions)
		e.charge(g.troubled())
		p.enter(e)
		p.work.Go(func() {
			defer p.leave(e.watch)
			if p.pause(e, g) {
				p.deliver(e)
			}
		})
	}
	g := groups[0]
	b.keep(g.positions)
	b.charge(g.troubled())
	return p.pause(b, g)
}

// pause waits before the next try of a batch that is one group now. Throttled
// documents wait for a back-off; blocked ones for their destination's gate.
func (p *Pipeline) pause(b *Batch, g *group) bool {
	d := g.destination
	if g.troubled() != nil {
		d.troubled.Store(true)
	}
	if b.Len() < g.sent {
		b.attempts = 0 // some were stored: that is progress
	}
	b.attempts++
	p.setHold(b, &g.hold)
	if g.fault == faultDestination {
		d.gate.shut(g.hold, false, 0)
		p.limited.Warn("destination takes no documents: holding, nothing is lost", zap.String("destination", d.name), zap.String("state", string(g.hold.State)), zap.String("error", g.hold.Text))
		return p.hard.Err() == nil
	}
	if b.attempts > 1 {
		p.limited.Warn("documents are refused again: trying again, nothing is lost", zap.String("destination", d.name), zap.Int("documents", b.Len()), zap.Int("tries", b.attempts), zap.String("state", string(g.hold.State)), zap.String("error", g.hold.Text))
	}
	return sleep(p.hard, p.backoff.wait(b.attempts-1)) == nil
}

// dropEnded takes documents out of b whose assignment has ended: their next
// owner has them. It tells whether any are left.
func (p *Pipeline) dropEnded(b *Batch) bool {
	var gone []int
	for i := 0; i < len(b.docs); i++ {
		s := b.spans[b.docs[i].span]
		if !s.assignment.Ended() {
			// All documents up to the next span share this assignment.
			for i+1 < len(b.docs) && b.docs[i+1].span == b.docs[i].span {
				i++
			}
			continue
		}
		j := i
		for ; j < len(b.docs) && b.docs[j].span == b.docs[i].span; j++ {
			gone = append(gone, j)
		}
		s.assignment.drop(s, j-i)
		i = j - 1
	}
	if gone != nil {
		b.keep(without(len(b.docs), gone))
		if b.own != nil {
			b.charge(b.own)
		}
	}
	return b.Len() > 0
}

package pipeline

import (
	"errors"
	"time"

	"go.uber.org/zap"
)

// isolate finds out which documents of b make the server refuse the whole
// request, by sending ever smaller parts. A document that is refused alone is
// guilty only if another request succeeded after the failure began: until then
// it may be that the server refuses everything, and b is held. What is not
// settled stays in b.
func (p *Pipeline) isolate(b *Batch, refusal *RequestError) {
	if b.failed.IsZero() {
		b.failed = time.Now()
	}
	if !b.refused {
		b.refused, b.succeeded = true, p.succeeded.Load()
	}
	s := &isolation{pipeline: p, batch: b}
	s.note413(b, refusal)
	if b.Len() == 1 {
		s.suspects = []suspect{{0, refusal}}
	} else {
		s.halve(0, b.Len())
	}
	s.conclude(refusal)
}

// isolation is one search for the documents that a server refuses.
type isolation struct {
	pipeline *Pipeline
	batch    *Batch
	settled  []int // positions that are final, ascending
	suspects []suspect
	stop     bool
	taken    bool // a part was taken
	tooLarge int  // the smallest body of several documents that was too large, in bytes
}

type suspect struct {
	position int
	refusal  *RequestError
}

func (s *isolation) halve(lo, hi int) {
	mid := lo + (hi-lo)/2
	s.try(lo, mid)
	s.try(mid, hi)
}

// try sends documents lo to hi by themselves.
func (s *isolation) try(lo, hi int) {
	if s.stop {
		return
	}
	part := s.batch.part(lo, hi)
	outcome, err := s.pipeline.send(part)
	if err == nil {
		rest := s.pipeline.settle(part, outcome)
		s.taken = true
		s.note(lo, hi, rest)
		return
	}
	var re *RequestError
	if !errors.As(err, &re) || (re.Class != Refused && re.Class != TooLarge) {
		// Something else is wrong now: what is left is tried again as a whole.
		s.stop = true
		return
	}
	s.note413(part, re)
	if hi-lo > 1 {
		s.halve(lo, hi)
		return
	}
	s.suspects = append(s.suspects, suspect{lo, re})
	// Two documents refused and nothing taken: it is not the documents.
	s.stop = len(s.suspects) >= 2 && !s.innocentSeen()
}

// note413 remembers what was too large. That one document is says nothing of others.
func (s *isolation) note413(part *Batch, refusal *RequestError) {
	if refusal.Class == TooLarge && part.Len() > 1 && (s.tooLarge == 0 || len(part.Body) < s.tooLarge) {
		s.tooLarge = len(part.Body)
	}
}

// note records what became of the documents lo to hi.
func (s *isolation) note(lo, hi int, rest *remainder) {
	k := 0
	for i := lo; i < hi; i++ {
		if rest != nil && k < len(rest.items) && rest.items[k].position == i-lo {
			k++
			continue // stays in the batch
		}
		s.settled = append(s.settled, i)
	}
}

// innocentSeen tells whether any request succeeded since the failure began.
func (s *isolation) innocentSeen() bool {
	return s.pipeline.succeeded.Load() > s.batch.succeeded
}

// conclude dead-letters the guilty and leaves the rest in the batch.
func (s *isolation) conclude(refusal *RequestError) {
	p, b := s.pipeline, s.batch
	if s.tooLarge > 0 && s.taken {
		// Only what was taken shows that size is what is wrong.
		p.learnLimit(s.tooLarge / 2)
	}
	final := s.settled
	var hold *Hold
	alone := false
	for _, x := range s.suspects {
		doc := b.docs[x.position]
		d := b.destinations[doc.destination]
		// A server that says 413 to one document has said what is wrong with it; one
		// that says it to two, and has taken none, takes nothing.
		guilty := s.innocentSeen() || x.refusal.Class == TooLarge && len(s.suspects) == 1
		switch {
		case !guilty || p.alike(d, x.refusal.Reason.Type, 1, b.failed):
			hold, alone = &Hold{State: StateHeldSystematic, Text: x.refusal.Error(), Since: time.Now()}, true
		case p.letters == nil:
			h := noLettersHold(x.refusal.Reason, time.Now())
			hold = &h
		default:
			final = insert(final, x.position)
			p.bury(grave{span: b.spans[doc.span], record: int(doc.record), destination: d.name, reason: x.refusal.Reason})
		}
	}
	if len(final) > 0 {
		b.keep(without(b.Len(), final))
		b.charge(b.own)
		b.attempts = 0
	}
	if b.Len() == 0 {
		return
	}
	b.attempts++
	p.metrics.retried(refusal.Class.String(), b.Len())
	if hold != nil {
		p.setHold(b, hold)
		p.limited.Warn("sink refuses whole requests: holding, nothing is lost", zap.String("state", string(hold.State)), zap.String("error", hold.Text))
	}
	if alone {
		p.holdAlone(b, *hold)
		return
	}
	_ = sleep(p.hard, p.backoff.wait(b.attempts-1))
}

// holdAlone closes the gates before all destinations of b, so that single
// documents probe them.
func (p *Pipeline) holdAlone(b *Batch, h Hold) {
	all := make([]left, b.Len())
	for i := range all {
		all[i] = left{i, h, faultDestination}
	}
	p.retryLater(b, &remainder{items: all, sent: b.Len() + 1})
}

// probe sends one document of a held batch, another one at each turn: if it is
// taken, the hold is over.
func (p *Pipeline) probe(b *Batch) {
	d := b.own
	i := int(p.probes.Add(1)) % b.Len()
	part := b.part(i, i+1)
	outcome, err := p.send(part)
	held := d.gate.held()
	if held == nil {
		held = &Hold{State: StateHeldIndex, Since: time.Now()}
	}
	if err != nil {
		h := *held
		h.Text = err.Error()
		d.gate.shut(h, true, 0)
		p.setHold(b, &h)
		return
	}
	if len(outcome.Items) == 1 && outcome.Items[0].Verdict != Duplicate &&
		// A document that is bad in itself says that its destination takes others.
		(outcome.Items[0].Verdict != Rejected || held.State == StateHeldSystematic) {
		h := itemHold(held.State, d, outcome.Items[0].Reason, time.Now())
		if held.State == StateHeldSystematic {
			h = systematicHold(d, outcome.Items[0].Reason, time.Now())
		}
		d.gate.shut(h, true, 0)
		p.setHold(b, &h)
		return
	}
	d.gate.open(time.Now())
	if p.settle(part, outcome) == nil {
		b.keep(without(b.Len(), []int{i}))
		b.charge(d)
	}
}

func insert(sorted []int, v int) []int {
	i := len(sorted)
	for i > 0 && sorted[i-1] > v {
		i--
	}
	sorted = append(sorted, 0)
	copy(sorted[i+1:], sorted[i:])
	sorted[i] = v
	return sorted
}

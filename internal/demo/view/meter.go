package view

import "time"

// historyLength is how many measurements a Meter keeps for the small graphs.
const historyLength = 40

// Meter turns two counts that only grow into rates.
type Meter struct {
	// Every is how far apart measurements are, at least.
	Every time.Duration

	last      time.Duration
	in, out   int64
	ins, outs []float64
	started   bool
}

// Update notes the counts at a moment and gives the latest rates, in counts
// a second, and their history.
func (m *Meter) Update(at time.Duration, in, out int64) (inRate, outRate float64, ins, outs []float64) {
	switch span := (at - m.last).Seconds(); {
	case !m.started:
		m.started, m.last, m.in, m.out = true, at, in, out
	case at-m.last >= m.Every && span > 0:
		m.ins = push(m.ins, float64(in-m.in)/span)
		m.outs = push(m.outs, float64(out-m.out)/span)
		m.last, m.in, m.out = at, in, out
	}
	if n := len(m.ins); n > 0 {
		inRate, outRate = m.ins[n-1], m.outs[n-1]
	}
	return inRate, outRate, m.ins, m.outs
}

func push(h []float64, v float64) []float64 {
	if len(h) == historyLength {
		copy(h, h[1:])
		h = h[:historyLength-1]
	}
	return append(h, v)
}

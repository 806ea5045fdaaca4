package pipeline

import (
	"context"
	"sync"
	"time"
)

// limiter decides how many requests may be in flight on each node of the sink.
// It is additive increase, multiplicative decrease: one more after a round of
// requests that found the limit in use, a third less when the node said that it
// is too busy. Replies that take half as long again as at best mean that further
// requests only wait for each other, so there is no increase; if they take
// several times as long, a tenth less. A fixed number switches all that off.
type limiter struct {
	fixed bool
	max   float64

	mu      sync.Mutex
	nodes   []nodeLimit
	waiting []*waiter
	next    int // where the search for a node begins, so that load spreads
}

type nodeLimit struct {
	limit    float64
	inFlight int
	changed  time.Time // requests sent before the last decrease do not decrease again
	latency  float64   // moving average of full requests, in seconds
	best     float64   // the same with few requests in flight
	samples  int
}

type waiter struct {
	usable  func(node int) bool
	granted chan int
}

const (
	firstLimit   = 2   // enough to keep a node busy while the next request is made
	busyFactor   = 0.7 // on 429 and 503
	slowFactor   = 0.9 // on latency
	fullTimes    = 1.5 // how much slower than best means that more would only queue
	slowTimes    = 3   // how much slower than best counts as slow
	latencyDecay = 0.2 // weight of a new sample
	bestDecay    = 0.1 // the same for the best
	leastSamples = 8
)

func newLimiter(c ConcurrencyConfig, nodes int) *limiter {
	l := &limiter{fixed: c.Fixed > 0, max: float64(c.Max), nodes: make([]nodeLimit, nodes)}
	first := min(firstLimit, l.max)
	if l.fixed {
		first = float64(c.Fixed)
	}
	for i := range l.nodes {
		l.nodes[i].limit = first
	}
	return l
}

// acquire waits for room on a usable node and gives its number. Where no node
// is usable it takes any, since only a try can tell that one is back.
func (l *limiter) acquire(ctx context.Context, usable func(node int) bool) (int, error) {
	l.mu.Lock()
	if len(l.waiting) == 0 {
		if node, ok := l.pickLocked(usable); ok {
			l.mu.Unlock()
			return node, nil
		}
	}
	w := &waiter{usable: usable, granted: make(chan int, 1)}
	l.waiting = append(l.waiting, w)
	l.mu.Unlock()
	select {
	case node := <-w.granted:
		return node, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, o := range l.waiting {
		if o == w {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			return 0, ctx.Err()
		}
	}
	// Granted at the same moment: give it back.
	l.nodes[<-w.granted].inFlight--
	l.grantLocked()
	return 0, ctx.Err()
}

// pickLocked takes a place on the usable node with the most room.
func (l *limiter) pickLocked(usable func(node int) bool) (int, bool) {
	best, room, anyUsable := -1, 0.0, false
	for pass := range 2 {
		for k := range l.nodes {
			i := (l.next + k) % len(l.nodes)
			if pass == 0 && !usable(i) {
				continue
			}
			anyUsable = true
			if free := l.nodes[i].limit - float64(l.nodes[i].inFlight); free >= 1 && free > room {
				best, room = i, free
			}
		}
		if anyUsable {
			break
		}
	}
	if best < 0 {
		return 0, false
	}
	l.next = (best + 1) % len(l.nodes)
	l.nodes[best].inFlight++
	return best, true
}

func (l *limiter) grantLocked() {
	for len(l.waiting) > 0 {
		w := l.waiting[0]
		node, ok := l.pickLocked(w.usable)
		if !ok {
			return
		}
		l.waiting[0] = nil
		l.waiting = l.waiting[1:]
		w.granted <- node
	}
}

// feedback is what a finished request tells the limiter.
type feedback struct {
	sent    time.Time
	latency time.Duration
	// busy: the node, or some item, asked for less.
	busy bool
	// failed: no answer that says anything of the node's speed.
	failed bool
	// full: the request was near its full size, so that its latency compares with others.
	full bool
}

// release gives the place back and learns from what happened.
func (l *limiter) release(node int, f feedback, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := &l.nodes[node]
	saturated := len(l.waiting) > 0 || float64(n.inFlight)+1 > n.limit
	n.inFlight--
	if !l.fixed {
		n.learn(f, saturated, l.max, now)
	}
	l.grantLocked()
}

func (n *nodeLimit) learn(f feedback, saturated bool, most float64, now time.Time) {
	fresh := f.sent.After(n.changed)
	switch {
	case f.busy:
		if fresh {
			n.limit, n.changed = max(1, n.limit*busyFactor), now
		}
		return
	case f.failed:
		return
	}
	if f.full {
		n.sample(f.latency.Seconds())
		if n.slow() {
			if fresh {
				// Only the node's own refusals take the limit down to one.
				n.limit, n.changed = max(min(firstLimit, n.limit), n.limit*slowFactor), now
			}
			return
		}
	}
	if saturated && n.latency <= fullTimes*n.best {
		n.limit = min(most, n.limit+1/n.limit)
	}
}

// sample notes how long a full request took. What it takes at best is learned
// while few are in flight, so that waiting for each other is not in it, and
// learned again when the limit has come down: the node may have become slower.
func (n *nodeLimit) sample(seconds float64) {
	n.samples++
	if n.latency == 0 {
		n.latency, n.best = seconds, seconds
	}
	n.latency += latencyDecay * (seconds - n.latency)
	if n.limit < firstLimit+1 {
		n.best += bestDecay * (seconds - n.best)
	}
	n.best = min(n.best, n.latency)
}

func (n *nodeLimit) slow() bool {
	return n.samples >= leastSamples && n.latency > slowTimes*n.best
}

// nodeState is a node's limit and use, for /status and metrics.
type nodeState struct {
	Limit    int
	InFlight int
}

func (l *limiter) state() (nodes []nodeState, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.nodes {
		nodes = append(nodes, nodeState{int(n.limit), n.inFlight})
	}
	return nodes, len(l.waiting)
}

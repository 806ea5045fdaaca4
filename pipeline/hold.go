package pipeline

import (
	"context"
	"sync"
	"time"
)

// State is what a partition is doing.
type State string

// The states. Those that begin with "held:" make the service unready when they last.
const (
	StateFetching       State = "fetching"
	StatePausedMemory   State = "paused:memory"
	StateHeldSink       State = "held:sink"
	StateHeldIndex      State = "held:index"
	StateHeldAuth       State = "held:auth"
	StateHeldSystematic State = "held:systematic"
	StateHeldDeadLetter State = "held:dead-letter"
	StateHeldSource     State = "held:source"
	StateDraining       State = "draining"
)

// Held tells whether the state is one of waiting for something to be mended.
func (s State) Held() bool { return len(s) > 5 && s[:5] == "held:" }

// Hold is a reason for not advancing: the data is kept and tried again.
type Hold struct {
	// State is one of the held states.
	State State
	// Text says what is wrong and what to do. No secrets, no document content.
	Text string
	// Since is when it began.
	Since time.Time
}

// gate stands before a sink or a destination. It is open until something goes
// wrong for all that goes there; then it lets one try through at a time, after
// waits that grow, until one succeeds.
type gate struct {
	backoff backoff

	mu      sync.Mutex
	hold    *Hold         // nil while open
	opened  chan struct{} // closed when the gate opens; non-nil while closed
	probe   chan struct{} // has a token when the next try is due
	timer   *time.Timer
	attempt int
}

func newGate(b backoff) *gate { return &gate{backoff: b} }

// wait returns when the gate is open (false), or when it is the caller's turn
// to try (true): then the caller must call open, shut or pass.
func (g *gate) wait(ctx context.Context) (probing bool, err error) {
	g.mu.Lock()
	opened, probe := g.opened, g.probe
	g.mu.Unlock()
	if opened == nil {
		return false, ctx.Err()
	}
	select {
	case <-opened:
		return false, nil
	case <-probe:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// shut closes the gate, or keeps it closed after a failed try. A failure that
// was under way when the gate closed does not count as a try.
func (g *gate) shut(h Hold, probing bool, least time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.hold != nil {
		h.Since = g.hold.Since
		g.hold = &h
		if !probing {
			return
		}
	} else {
		g.hold, g.attempt = &h, 0
		g.opened, g.probe = make(chan struct{}), make(chan struct{}, 1)
	}
	g.armLocked(max(least, g.backoff.wait(g.attempt)))
	g.attempt++
}

// pass gives an unused turn to the next in line.
func (g *gate) pass() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.hold != nil {
		g.armLocked(0)
	}
}

func (g *gate) armLocked(wait time.Duration) {
	probe := g.probe
	if g.timer != nil {
		g.timer.Stop()
	}
	g.timer = time.AfterFunc(wait, func() {
		select {
		case probe <- struct{}{}:
		default:
		}
	})
}

// open ends the hold, if there is one, and tells how long it lasted.
func (g *gate) open(now time.Time) (was *Hold, lasted time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.hold == nil {
		return nil, 0
	}
	was = g.hold
	close(g.opened)
	g.timer.Stop()
	g.hold, g.opened, g.probe, g.attempt = nil, nil, nil, 0
	return was, now.Sub(was.Since)
}

// held gives the hold, nil while open.
func (g *gate) held() *Hold {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hold
}

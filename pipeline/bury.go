package pipeline

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
)

// grave is a refused document on its way to the dead letters. Its chunk stays
// in memory, counted in the limit, until the letter is acknowledged; so the
// queue is bounded although it has no bound of its own.
type grave struct {
	span        *span
	record      int
	destination string
	reason      Reason
}

// graveyard hands refused documents to the dead letters in a goroutine of its
// own: a dead-letter topic that takes nothing does not stop the senders.
type graveyard struct {
	letters DeadLetters
	backoff backoff
	metrics *Metrics
	log     *zap.Logger

	mu    sync.Mutex
	queue []grave
	hold  *Hold
	more  chan struct{}
}

// lettersAtOnce bounds one write, in letters and bytes.
const (
	lettersAtOnce     = 1000
	letterBytesAtOnce = 4 << 20
)

func newGraveyard(letters DeadLetters, b backoff, m *Metrics, log *zap.Logger) *graveyard {
	return &graveyard{letters: letters, backoff: b, metrics: m, log: log, more: make(chan struct{}, 1)}
}

func (y *graveyard) add(g grave) {
	y.mu.Lock()
	y.queue = append(y.queue, g)
	y.mu.Unlock()
	select {
	case y.more <- struct{}{}:
	default:
	}
}

// run writes letters until ctx ends.
func (y *graveyard) run(ctx context.Context) {
	failures := 0
	for {
		if !y.writeSome(ctx) {
			failures = 0
			select {
			case <-y.more:
				continue
			case <-ctx.Done():
				return
			}
		}
		if y.held() == nil {
			failures = 0
			continue
		}
		if sleep(ctx, y.backoff.wait(failures)) != nil {
			return
		}
		failures++
	}
}

// writeSome writes the head of the queue; false if there was nothing to write.
func (y *graveyard) writeSome(ctx context.Context) bool {
	graves := y.head()
	if len(graves) == 0 {
		return false
	}
	now := time.Now()
	if y.letters == nil {
		h := noLettersHold(graves[0].reason, now)
		y.setHold(&h)
		return true
	}
	letters := make([]DeadLetter, len(graves))
	for i, g := range graves {
		letters[i] = DeadLetter{Destination: g.destination, Reason: g.reason}
		g.span.chunk.Records.At(g.record, &letters[i].Record)
	}
	errs := y.letters.Write(ctx, letters)
	now = time.Now()
	var failed []grave
	var cause error
	for i, g := range graves {
		if errs != nil && errs[i] != nil {
			failed, cause = append(failed, g), errs[i]
			continue
		}
		y.metrics.buried(letters[i].Record.Topic, g.reason)
		g.span.assignment.settle(g.span, Counts{DeadLettered: 1}, now)
	}
	y.took(len(graves), failed)
	switch {
	case cause == nil:
		if h := y.held(); h != nil {
			y.log.Info("dead letters are written again", heldField(now.Sub(h.Since)))
		}
		y.setHold(nil)
	case ctx.Err() == nil:
		y.setHold(&Hold{State: StateHeldDeadLetter, Text: "writing dead letters: " + cause.Error(), Since: now})
		y.log.Warn("dead letters cannot be written: holding, nothing is lost", zap.Error(cause), zap.Int("letters", len(failed)))
	}
	return true
}

// head gives the letters to write next, after dropping those whose assignment ended.
func (y *graveyard) head() []grave {
	y.mu.Lock()
	queue := y.queue
	y.mu.Unlock()
	var live, gone []grave
	size := 0
	for _, g := range queue {
		if len(live) == lettersAtOnce || size > letterBytesAtOnce {
			break
		}
		if g.span.assignment.Ended() {
			gone = append(gone, g)
			continue
		}
		live = append(live, g)
		size += len(g.reason.Text) + 512
	}
	y.took(len(live)+len(gone), live)
	for _, g := range gone {
		g.span.assignment.drop(g.span, 1)
	}
	return live
}

// took replaces the first n of the queue by those of them that stay.
func (y *graveyard) took(n int, stay []grave) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.queue = slices.Concat(stay, y.queue[n:])
}

func (y *graveyard) setHold(h *Hold) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if h != nil && y.hold != nil {
		h.Since = y.hold.Since
	}
	y.hold = h
}

func (y *graveyard) held() *Hold {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.hold
}

// waiting gives the assignments that have letters waiting while there is a hold.
func (y *graveyard) waiting() (map[*Assignment]bool, *Hold) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.hold == nil {
		return nil, nil
	}
	as := make(map[*Assignment]bool)
	for _, g := range y.queue {
		as[g.span.assignment] = true
	}
	return as, y.hold
}

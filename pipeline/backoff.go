package pipeline

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff gives the waits between tries: doubling from min to max, each drawn
// between half and the whole of it, so that many members do not come at once.
type backoff struct{ min, max time.Duration }

// wait is the pause after try number attempt, counted from 0.
func (b backoff) wait(attempt int) time.Duration {
	d := b.max
	if attempt < 30 && b.min<<attempt < b.max {
		d = b.min << attempt
	}
	return d/2 + rand.N(d/2+1)
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

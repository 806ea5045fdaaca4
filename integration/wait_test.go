package integration

import (
	"context"
	"errors"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen. It is long, since it
// only passes where something is broken, and machines that run tests are slow.
const patience = 2 * time.Minute

// pace is how often a test looks whether it has happened.
const pace = 20 * time.Millisecond

// errStopped is what a condition wraps to say that waiting longer is useless.
var errStopped = errors.New("it will not happen any more")

// eventually waits until holds returns nil, and fails the test with its last
// error after a time that is far longer than it should take.
func eventually(t testing.TB, what string, holds func() error) {
	t.Helper()
	within(t, patience, what, holds)
}

func within(t testing.TB, limit time.Duration, what string, holds func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		err := holds()
		if err == nil {
			return
		}
		if errors.Is(err, errStopped) {
			t.Fatalf("waiting for %s: %v", what, err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited %s in vain for %s: %v", limit, what, err)
		}
	}
}

package pipeline

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func allUsable(int) bool { return true }

// run sends one request through l that takes d.
func (l *limiter) runOne(t *testing.T, d time.Duration, f feedback) {
	t.Helper()
	node, err := l.acquire(t.Context(), allUsable)
	if err != nil {
		t.Fatal(err)
	}
	f.sent = time.Now()
	time.Sleep(d) //nolint:forbidigo // virtual time
	f.latency = d
	l.release(node, f, time.Now())
}

func TestLimiterGrowsWhileItIsInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(ConcurrencyConfig{Max: 8}, 1)
		done := make(chan struct{})
		for range 12 {
			go func() {
				for range 50 {
					l.runOne(t, 10*time.Millisecond, feedback{full: true})
				}
				done <- struct{}{}
			}()
		}
		for range 12 {
			<-done
		}
		if nodes, _ := l.state(); nodes[0].Limit != 8 {
			t.Errorf("limit is %d after 600 good requests, want the maximum of 8", nodes[0].Limit)
		}
	})
}

func TestLimiterShrinksOnBusyOnceARound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(ConcurrencyConfig{Max: 16}, 1)
		l.nodes[0].limit = 10
		var sent []feedback
		for range 10 {
			if _, err := l.acquire(t.Context(), allUsable); err != nil {
				t.Fatal(err)
			}
			sent = append(sent, feedback{sent: time.Now(), busy: true})
		}
		time.Sleep(time.Millisecond) //nolint:forbidigo // virtual time
		for _, f := range sent {
			l.release(0, f, time.Now())
		}
		if got := l.nodes[0].limit; got != 7 {
			t.Errorf("ten refusals of one round take the limit from 10 to %v, want 7", got)
		}
		for range 20 {
			l.runOne(t, time.Millisecond, feedback{busy: true})
		}
		if got := l.nodes[0].limit; got != 1 {
			t.Errorf("limit is %v after refusals without end, want 1", got)
		}
	})
}

func TestLimiterHeedsLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(ConcurrencyConfig{Max: 16}, 1)
		l.nodes[0].limit = 8
		for range 20 {
			l.runOne(t, 10*time.Millisecond, feedback{full: true})
		}
		before := l.nodes[0].limit
		for range 30 {
			l.runOne(t, time.Second, feedback{full: true})
		}
		if got := l.nodes[0].limit; got >= before || got < 2 {
			t.Errorf("limit went from %v to %v on replies that take a hundred times as long, want less, and 2 at least", before, got)
		}
	})
}

func TestFixedLimitStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(ConcurrencyConfig{Fixed: 3, Max: 16}, 1)
		for range 20 {
			l.runOne(t, time.Second, feedback{busy: true})
		}
		if nodes, _ := l.state(); nodes[0].Limit != 3 {
			t.Errorf("the fixed limit became %d", nodes[0].Limit)
		}
	})
}

func TestLimiterLeavesUnusableNodesAlone(t *testing.T) {
	l := newLimiter(ConcurrencyConfig{Fixed: 2, Max: 16}, 3)
	onlyOne := func(n int) bool { return n == 1 }
	for range 2 {
		if n, err := l.acquire(t.Context(), onlyOne); err != nil || n != 1 {
			t.Fatalf("got node %d, %v; want 1", n, err)
		}
	}
	// Node 1 is full: wait for it rather than use the others.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := l.acquire(ctx, onlyOne); err == nil {
		t.Errorf("got node %d though the only usable node is full", n)
	}
	if _, waiting := l.state(); waiting != 0 {
		t.Error("a waiter that gave up still waits")
	}
	if _, err := l.acquire(t.Context(), func(int) bool { return false }); err != nil {
		t.Errorf("with no usable node, any must do: %v", err)
	}
}

// A node that becomes free goes to the one who has waited longest, and one who
// gives up at that moment passes it on.
func TestLimiterIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(ConcurrencyConfig{Fixed: 1, Max: 1}, 1)
		_, _ = l.acquire(t.Context(), allUsable)
		order := make(chan int, 3)
		for i := range 3 {
			go func() {
				if _, err := l.acquire(t.Context(), allUsable); err == nil {
					order <- i
				}
			}()
			synctest.Wait()
		}
		for want := range 3 {
			l.release(0, feedback{}, time.Now())
			synctest.Wait()
			if got := <-order; got != want {
				t.Errorf("waiter %d went before waiter %d", got, want)
			}
		}
	})
}

// A node that works on two requests at a time takes longer for each when it has
// more, and does no more: what is sent must not grow much beyond two.
func TestLimiterStopsWhereMoreOnlyQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(ConcurrencyConfig{Max: 16}, 1)
		var inFlight atomic.Int64
		done := make(chan struct{})
		for range 20 {
			go func() {
				for range 20 {
					node, err := l.acquire(t.Context(), allUsable)
					if err != nil {
						t.Error(err)
						return
					}
					began := time.Now()
					busy := max(2, inFlight.Add(1))
					time.Sleep(time.Duration(busy) * 50 * time.Millisecond) //nolint:forbidigo // virtual time
					inFlight.Add(-1)
					l.release(node, feedback{sent: began, latency: time.Since(began), full: true}, time.Now())
				}
				done <- struct{}{}
			}()
		}
		for range 20 {
			<-done
		}
		if nodes, _ := l.state(); nodes[0].Limit > 5 {
			t.Errorf("%d requests in flight to a node that works on two", nodes[0].Limit)
		}
	})
}

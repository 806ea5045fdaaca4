package pipeline

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestGateLetsOneProbeThroughAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(backoff{100 * time.Millisecond, time.Second})
		if probing, err := g.wait(t.Context()); probing || err != nil {
			t.Fatal("an open gate stops nobody")
		}
		g.shut(Hold{State: StateHeldSink, Since: time.Now()}, false, 0)
		g.shut(Hold{State: StateHeldSink, Since: time.Now()}, false, 0) // a second failure of the same time
		type result struct{ probing bool }
		results := make(chan result, 5)
		for range 5 {
			go func() {
				probing, err := g.wait(t.Context())
				if err == nil {
					results <- result{probing}
				}
			}()
		}
		began := time.Now()
		if r := <-results; !r.probing {
			t.Fatal("the gate opened by itself")
		}
		if waited := time.Since(began); waited < 50*time.Millisecond || waited > 100*time.Millisecond {
			t.Errorf("the first probe came after %s, want 50 to 100 ms", waited)
		}
		synctest.Wait()
		if len(results) != 0 {
			t.Fatal("two probes at a time")
		}
		began = time.Now()
		g.shut(Hold{State: StateHeldAuth, Text: "second"}, true, 0)
		<-results
		if waited := time.Since(began); waited < 100*time.Millisecond {
			t.Errorf("the second probe came after %s, want more than the first's", waited)
		}
		if h := g.held(); h.State != StateHeldAuth || h.Text != "second" || h.Since.IsZero() {
			t.Errorf("the hold is %+v", h)
		}
		g.open(time.Now())
		for range 3 {
			if r := <-results; r.probing {
				t.Error("a probe after the gate opened")
			}
		}
		if g.held() != nil {
			t.Error("open, but held")
		}
	})
}

func TestGateHeedsRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(backoff{time.Millisecond, time.Second})
		g.shut(Hold{State: StateHeldSink, Since: time.Now()}, false, 5*time.Second)
		began := time.Now()
		if probing, err := g.wait(t.Context()); err != nil || !probing {
			t.Fatal("no probe")
		}
		if waited := time.Since(began); waited != 5*time.Second {
			t.Errorf("the probe came after %s, want the 5 s that the server asked for", waited)
		}
		g.pass()
		if probing, err := g.wait(t.Context()); err != nil || !probing {
			t.Error("a turn that was passed on is lost")
		}
		g.open(time.Now())
	})
}

func TestBackoffGrowsWithinItsBounds(t *testing.T) {
	b := backoff{100 * time.Millisecond, 2 * time.Second}
	for attempt, most := range []time.Duration{100, 200, 400, 800, 1600, 2000, 2000} {
		most *= time.Millisecond
		for range 100 {
			if d := b.wait(attempt); d < most/2 || d > most {
				t.Fatalf("wait %d is %s, want %s to %s", attempt, d, most/2, most)
			}
		}
	}
	if d := b.wait(1000); d > b.max {
		t.Errorf("wait 1000 is %s", d)
	}
}

func TestAlikeIsJudgedPerTypeAndForgottenOnSuccess(t *testing.T) {
	d := &destination{refused: map[string]int{}}
	began := time.Now()
	if d.alike("x", 49, 50, began) || d.alike("y", 49, 50, began) {
		t.Error("49 of a kind are not systematic yet")
	}
	if !d.alike("x", 1, 50, began) {
		t.Error("50 of a kind are")
	}
	d.noteStored(began.Add(time.Second))
	if d.alike("x", 100, 50, began) {
		t.Error("something was stored after this batch first failed: its documents are guilty themselves")
	}
	if !d.alike("x", 100, 50, began.Add(2*time.Second)) {
		t.Error("nothing was stored since this batch first failed")
	}
}

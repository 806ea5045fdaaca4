package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"penstock/configs/value"
)

func wait(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // virtual time
	synctest.Wait()
}

func TestStoresAndCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		a, b := r.source.assign("t", 0), r.source.assign("t", 1)
		r.source.put(a, `{"x":1}`, `{"x":2}`)
		r.source.put(b, `{"x":3}`)
		wait(3 * time.Second)
		if got := r.source.commit("t/0"); got != 2 {
			t.Errorf("committed %d of partition 0, want 2: last offset + 1", got)
		}
		if got := r.source.commit("t/1"); got != 1 {
			t.Errorf("committed %d of partition 1, want 1", got)
		}
		if got := r.sink.sent(); len(got) != 1 {
			t.Errorf("%d requests, want one for both partitions", len(got))
		}
		if c := r.finish(t, nil); c.Stored != 3 {
			t.Errorf("ledger %+v", c)
		}
	})
}

func TestOnlyRefusedDocumentsAreSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		var busy atomic.Bool
		busy.Store(true)
		r.sink.set(func(docs []string) (Outcome, error) {
			return items(docs, func(d string) (Verdict, Reason) {
				if busy.Load() && d == `{"x":2}` {
					busy.Store(false)
					return Throttled, Reason{Status: 429, Type: "es_rejected_execution_exception"}
				}
				return Stored, Reason{}
			}), nil
		})
		a := r.source.assign("t", 0)
		r.source.put(a, `{"x":1}`, `{"x":2}`, `{"x":3}`)
		wait(10 * time.Second)
		got := r.sink.sent()
		if len(got) != 2 || !slices.Equal(got[1], []string{`{"x":2}`}) {
			t.Errorf("requests %q, want the second to hold the refused document alone", got)
		}
		if got := r.source.commit("t/0"); got != 3 {
			t.Errorf("committed %d, want 3", got)
		}
		r.finish(t, nil)
	})
}

func TestWatermarkStopsAtTheLowestUnstored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, withConfig(func(c *Config) { c.Batch.Documents = 5 }))
		r.sink.set(func(docs []string) (Outcome, error) {
			return items(docs, func(d string) (Verdict, Reason) {
				if d == `{"x":0}` {
					return Throttled, Reason{Status: 503}
				}
				return Stored, Reason{}
			}), nil
		})
		a := r.source.assign("t", 0)
		var values []string
		for i := range 10 {
			values = append(values, fmt.Sprintf(`{"x":%d}`, i))
		}
		r.source.put(a, values...)
		wait(time.Minute)
		if got := r.source.commit("t/0"); got != 0 {
			t.Errorf("committed %d though offset 0 is not stored", got)
		}
		if c := r.finish(t, ErrUnfinished); c.Stored != 9 || c.Abandoned != 1 {
			t.Errorf("ledger %+v, want 9 stored and 1 abandoned", c)
		}
	})
}

func TestBadDocumentsGoToTheDeadLetters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		r.sink.set(func(docs []string) (Outcome, error) {
			return items(docs, func(d string) (Verdict, Reason) {
				if strings.Contains(d, "bad") {
					return reject("mapper_parsing_exception")
				}
				return Stored, Reason{}
			}), nil
		})
		a := r.source.assign("t", 0)
		r.source.put(a, `{"x":1}`, `not json`, `{"x":"bad"}`, `{"x":2}`)
		wait(5 * time.Second)
		got := r.letters.values()
		slices.Sort(got)
		if !slices.Equal(got, []string{`not json`, `{"x":"bad"}`}) {
			t.Errorf("dead letters %q", got)
		}
		if n := len(r.sink.sent()); n != 1 {
			t.Errorf("%d requests, want 1: a bad document is not sent again", n)
		}
		if got := r.source.commit("t/0"); got != 4 {
			t.Errorf("committed %d, want 4", got)
		}
		r.finish(t, nil)
	})
}

func TestNothingIsCommittedBeforeTheDeadLetterIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		r.letters.set(func(DeadLetter) error { return errors.New("NOT_ENOUGH_REPLICAS") })
		a := r.source.assign("t", 0)
		r.source.put(a, `{"x":1}`, `not json`, `{"x":2}`)
		wait(time.Minute)
		if got := r.source.commit("t/0"); got != 1 {
			t.Errorf("committed %d, want 1: the record at 1 is in no dead letter yet", got)
		}
		s := r.Status()
		if s.Partitions[0].State != StateHeldDeadLetter || len(s.Unready(30*time.Second)) != 1 {
			t.Errorf("state is %+v, want held:dead-letter and unready", s.Partitions[0])
		}
		if r.sink.count(`{"x":2}`) != 1 {
			t.Error("a dead-letter topic that takes nothing stops the senders")
		}
		r.letters.set(nil)
		wait(time.Minute)
		if got := r.source.commit("t/0"); got != 3 || len(r.letters.values()) != 1 {
			t.Errorf("committed %d with letters %q, want 3 with one", got, r.letters.values())
		}
		r.finish(t, nil)
	})
}

func TestWithoutDeadLettersABadDocumentHoldsAndOthersFlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, withoutLetters)
		r.sink.set(func(docs []string) (Outcome, error) {
			return items(docs, func(d string) (Verdict, Reason) {
				if strings.Contains(d, "bad") {
					return reject("mapper_parsing_exception")
				}
				return Stored, Reason{}
			}), nil
		})
		a, b, c := r.source.assign("t", 0), r.source.assign("t", 1), r.source.assign("t", 2)
		r.source.put(a, `{"x":"bad"}`, `{"x":1}`)
		r.source.put(b, `{"x":2}`)
		r.source.put(c, `not json`)
		wait(time.Minute)
		r.source.put(b, `{"x":3}`)
		wait(5 * time.Second)
		for place, want := range map[string]int64{"t/0": 0, "t/1": 2, "t/2": 0} {
			if got := r.source.commit(place); got != want {
				t.Errorf("committed %d of %s, want %d", got, place, want)
			}
		}
		s := r.Status()
		if s.Partitions[0].State != StateHeldDeadLetter || s.Partitions[2].State != StateHeldDeadLetter || s.Partitions[1].State != StateFetching {
			t.Errorf("states are %s, %s, %s", s.Partitions[0].State, s.Partitions[1].State, s.Partitions[2].State)
		}
		r.finish(t, ErrUnfinished)
	})
}

// Every document of a destination is refused alike: nothing may reach the dead
// letters; one stored document ends the hold, and then the guilty are known.
func TestSystematicRefusalIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		var broken atomic.Bool
		broken.Store(true)
		r.sink.set(func(docs []string) (Outcome, error) {
			return items(docs, func(d string) (Verdict, Reason) {
				if broken.Load() && strings.HasPrefix(d, `{"x"`) || strings.Contains(d, "bad") {
					return reject("illegal_argument_exception")
				}
				return Stored, Reason{}
			}), nil
		})
		a, b := r.source.assign("t", 0), r.source.assign("t", 1)
		var values []string
		for i := range 200 {
			values = append(values, fmt.Sprintf(`{"x":%d}`, i))
		}
		values = append(values, `{"x":"bad"}`)
		r.source.put(a, values...)
		r.source.put(b, `{"y":1}`)
		wait(5 * time.Minute)
		if got := r.letters.values(); len(got) != 0 {
			t.Fatalf("%d dead letters though everything is refused alike", len(got))
		}
		if got := r.source.commit("t/1"); got != 1 {
			t.Errorf("committed %d of the other destination's partition, want 1", got)
		}
		if s := r.Status().Partitions[0]; s.State != StateHeldSystematic {
			t.Errorf("state is %s: %s", s.State, s.Reason)
		}
		for _, request := range r.sink.sent()[1:] {
			if len(request) != 1 {
				t.Fatalf("a request of %d documents during the hold, want probes of one", len(request))
			}
		}
		broken.Store(false)
		wait(time.Minute)
		if got := r.letters.values(); !slices.Equal(got, []string{`{"x":"bad"}`}) {
			t.Errorf("dead letters %q, want the one bad document", got)
		}
		if got := r.source.commit("t/0"); got != 201 {
			t.Errorf("committed %d, want 201", got)
		}
		r.finish(t, nil)
	})
}

func refused(kind string) error {
	return &RequestError{Class: Refused, Reason: Reason{Status: 400, Type: kind}}
}

func TestTheGuiltyOneIsFoundByHalving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		r.sink.set(func(docs []string) (Outcome, error) {
			if slices.Contains(docs, `{"x":5}`) {
				return Outcome{}, refused("action_request_validation_exception")
			}
			return Outcome{}, nil
		})
		a := r.source.assign("t", 0)
		for range 1 {
			r.source.put(a, `{"x":0}`, `{"x":1}`, `{"x":2}`, `{"x":3}`, `{"x":4}`, `{"x":5}`, `{"x":6}`, `{"x":7}`)
		}
		wait(10 * time.Second)
		if n := len(r.sink.sent()); n > 10 {
			t.Errorf("%d requests, want 10 at most", n)
		}
		if got := r.letters.values(); !slices.Equal(got, []string{`{"x":5}`}) {
			t.Errorf("dead letters %q", got)
		}
		if got := r.source.commit("t/0"); got != 8 {
			t.Errorf("committed %d, want 8", got)
		}
		r.finish(t, nil)
	})
}

// A server that refuses every request says nothing about any document.
func TestRequestsRefusedAlikeAreHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		var broken atomic.Bool
		broken.Store(true)
		r.sink.set(func([]string) (Outcome, error) {
			if broken.Load() {
				return Outcome{}, refused("x_content_parse_exception")
			}
			return Outcome{}, nil
		})
		a := r.source.assign("t", 0)
		r.source.put(a, `{"x":0}`, `{"x":1}`, `{"x":2}`, `{"x":3}`)
		wait(5 * time.Minute)
		if got := r.letters.values(); len(got) != 0 {
			t.Fatalf("dead letters %q though every request is refused", got)
		}
		if s := r.Status().Partitions[0]; s.State != StateHeldSystematic {
			t.Errorf("state is %s", s.State)
		}
		before := len(r.sink.sent())
		broken.Store(false)
		wait(time.Minute)
		if got := r.source.commit("t/0"); got != 4 {
			t.Errorf("committed %d, want 4", got)
		}
		if before > 30 {
			t.Errorf("%d requests in five minutes of a hold", before)
		}
		r.finish(t, nil)
	})
}

func TestTooLargeRequestsAreSplitAndTheLimitLearned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		r.sink.set(func(docs []string) (Outcome, error) {
			if n := len(strings.Join(docs, "\n")); n > 1000 {
				return Outcome{}, &RequestError{Class: TooLarge, Reason: Reason{Status: 413, Type: "too_large"}}
			}
			return Outcome{}, nil
		})
		a := r.source.assign("t", 0)
		doc := func(size int) string { return `{"x":"` + strings.Repeat("a", size-8) + `"}` }
		var values []string
		for range 10 {
			values = append(values, doc(300))
		}
		r.source.put(a, append([]string{doc(5000)}, values...)...)
		wait(20 * time.Second)
		if got := r.letters.values(); len(got) != 1 || len(got[0]) != 5000 {
			t.Errorf("%d dead letters, want the one of 5000 bytes", len(got))
		}
		if got := r.source.commit("t/0"); got != 11 {
			t.Errorf("committed %d, want 11", got)
		}
		before := len(r.sink.sent())
		r.source.put(a, values...)
		wait(20 * time.Second)
		for _, request := range r.sink.sent()[before:] {
			if n := len(strings.Join(request, "\n")); n > 1000 {
				t.Errorf("a request of %d bytes after the limit was learned", n)
			}
		}
		learned := r.Status().BatchBytesLimit
		for range 20 {
			wait(6 * time.Minute)
			r.source.put(a, doc(300), doc(300))
		}
		if got := r.Status().BatchBytesLimit; got <= learned {
			t.Errorf("the learned limit of %d bytes stands for ever", got)
		}
		wait(20 * time.Second)
		if got := r.source.commit("t/0"); got != 61 {
			t.Errorf("committed %d, want 61", got)
		}
		r.finish(t, nil)
	})
}

func TestBlockedDestinationLeavesTheOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		var blocked atomic.Bool
		blocked.Store(true)
		r.sink.set(func(docs []string) (Outcome, error) {
			return items(docs, func(d string) (Verdict, Reason) {
				if blocked.Load() && strings.HasPrefix(d, `{"full"`) {
					return Blocked, Reason{Status: 403, Type: "cluster_block_exception", Text: "read-only"}
				}
				return Stored, Reason{}
			}), nil
		})
		a := r.source.assign("t", 0)
		b := r.source.assign("t", 1)
		r.source.put(a, `{"full":1}`, `{"ok":1}`, `{"full":2}`)
		r.source.put(b, `{"ok":2}`)
		for i := range 60 {
			wait(time.Second)
			r.source.put(b, fmt.Sprintf(`{"ok":"b%d"}`, i))
			r.source.put(a, fmt.Sprintf(`{"full":"a%d"}`, i))
		}
		wait(3 * time.Second)
		if got := r.source.commit("t/1"); got != 61 {
			t.Errorf("committed %d of the healthy partition, want 61", got)
		}
		if got := r.source.commit("t/0"); got != 0 {
			t.Errorf("committed %d past documents that are not stored", got)
		}
		if r.sink.count(`{"ok":1}`) != 1 {
			t.Errorf("a stored document was sent %d times", r.sink.count(`{"ok":1}`))
		}
		if s := r.Status().Partitions[0]; s.State != StateHeldIndex || !strings.Contains(s.Reason, "read-only") {
			t.Errorf("state is %s: %s", s.State, s.Reason)
		}
		full := 0
		for _, request := range r.sink.sent() {
			if strings.HasPrefix(request[0], `{"full"`) {
				full++
			}
		}
		if full > 15 {
			t.Errorf("%d requests to the blocked destination in a minute", full)
		}
		blocked.Store(false)
		wait(time.Minute)
		if got := r.source.commit("t/0"); got != 63 {
			t.Errorf("committed %d, want 63", got)
		}
		if len(r.letters.values()) != 0 {
			t.Error("a blocked index sent documents to the dead letters")
		}
		r.finish(t, nil)
	})
}

func TestSinkThatIsDownIsTriedByOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, withConfig(func(c *Config) { c.Batch.Documents = 1 }))
		var down atomic.Bool
		down.Store(true)
		r.sink.set(func([]string) (Outcome, error) {
			if down.Load() {
				return Outcome{}, &RequestError{Class: Unavailable, Err: errors.New("connection refused")}
			}
			return Outcome{}, nil
		})
		a := r.source.assign("t", 0)
		for i := range 20 {
			r.source.put(a, fmt.Sprintf(`{"x":%d}`, i))
		}
		wait(5 * time.Minute)
		// A probe every 15 to 30 s at last, and before it the four that were on their way.
		if n := len(r.sink.sent()); n > 35 {
			t.Errorf("%d requests in five minutes to a sink that is down", n)
		}
		if got := r.source.commit("t/0"); got != 0 {
			t.Errorf("committed %d", got)
		}
		s := r.Status()
		if s.Partitions[0].State != StateHeldSink || len(s.Unready(30*time.Second)) == 0 {
			t.Errorf("state is %+v, want held:sink and unready", s.Partitions[0])
		}
		down.Store(false)
		wait(time.Minute)
		if got := r.source.commit("t/0"); got != 20 {
			t.Errorf("committed %d, want 20", got)
		}
		if s := r.Status(); len(s.Unready(30*time.Second)) != 0 || s.Partitions[0].State != StateFetching {
			t.Errorf("after recovery: %+v", s.Partitions[0])
		}
		r.finish(t, nil)
	})
}

func TestRejectedCredentialsHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		r.sink.set(func([]string) (Outcome, error) {
			return Outcome{}, &RequestError{Class: Unauthorized, Reason: Reason{Status: 401}}
		})
		r.source.put(r.source.assign("t", 0), `{"x":1}`)
		wait(2 * time.Minute)
		if s := r.Status().Partitions[0]; s.State != StateHeldAuth {
			t.Errorf("state is %s, want held:auth", s.State)
		}
		r.sink.set(nil)
		wait(time.Minute)
		if got := r.source.commit("t/0"); got != 1 {
			t.Errorf("committed %d after the credentials were mended, want 1", got)
		}
		r.finish(t, nil)
	})
}

// A sink that never answers must not let memory grow, nor stop what is quiet.
func TestMemoryIsBoundedWhileTheSinkHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, withConfig(func(c *Config) { c.Memory.Limit = 32 * value.MiB }))
		hang := make(chan struct{})
		r.sink.set(func([]string) (Outcome, error) { <-hang; return Outcome{}, nil })
		a := r.source.assign("t", 0)
		doc := `{"x":"` + strings.Repeat("a", 100_000) + `"}`
		const n = 400
		for range n {
			r.source.put(a, doc)
		}
		wait(time.Minute)
		if used := r.memory.inUse(); used > r.memory.limit || used < r.memory.limit/2 {
			t.Errorf("%d bytes in use of a limit of %d", used, r.memory.limit)
		}
		if left := len(r.source.chunks); left == 0 {
			t.Error("polling went on though memory is full")
		}
		s := r.Status()
		if s.Partitions[0].State != StatePausedMemory || len(s.Unready(time.Second)) != 0 || !r.Alive(5*time.Second) {
			t.Errorf("state is %s; memory alone makes nobody unready", s.Partitions[0].State)
		}
		close(hang)
		wait(10 * time.Second)
		if got := r.source.commit("t/0"); got != n {
			t.Errorf("committed %d, want %d", got, n)
		}
		r.finish(t, nil)
	})
}

func TestRecordLargerThanTheLimitPassesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, withConfig(func(c *Config) { c.Memory.Limit = 32 * value.MiB }))
		a := r.source.assign("t", 0)
		r.source.put(a, `{"x":1}`)
		r.source.put(a, `{"x":"`+strings.Repeat("a", 40<<20)+`"}`)
		r.source.put(a, `{"x":2}`)
		wait(20 * time.Second)
		if got := r.source.commit("t/0"); got != 3 {
			t.Errorf("committed %d, want 3", got)
		}
		r.finish(t, nil)
	})
}

// An assignment that ends takes its documents with it, and a new one of the
// same partition is not touched by the late verdict.
func TestRevokeWithAStuckSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		hang := make(chan struct{})
		r.sink.set(func([]string) (Outcome, error) { <-hang; return Outcome{}, nil })
		a, b := r.source.assign("t", 0), r.source.assign("t", 1)
		r.source.put(a, `{"x":1}`)
		r.source.put(b, `{"x":2}`)
		wait(3 * time.Second)
		r.source.put(a, `{"x":3}`) // gathered, not sent
		synctest.Wait()
		ctx, cancel := timeout(t, 3*time.Second)
		defer cancel()
		began := time.Now()
		r.Drain(ctx, []*Assignment{a})
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("draining took %s", took)
		}
		if w := a.Watermark(); w != 0 {
			t.Errorf("watermark is %d, want 0", w)
		}
		r.End([]*Assignment{a})
		again := r.source.assign("t", 0)
		close(hang)
		wait(5 * time.Second)
		if w := again.Watermark(); w != 0 {
			t.Errorf("a late verdict moved the new assignment's watermark to %d", w)
		}
		if got := r.source.commit("t/1"); got != 1 {
			t.Errorf("committed %d of the partition that stayed, want 1", got)
		}
		r.source.put(again, `{"x":1}`)
		wait(5 * time.Second)
		c := r.finish(t, nil)
		if c.Abandoned != 2 {
			t.Errorf("ledger %+v, want 2 abandoned", c)
		}
	})
}

func TestDrainFinishesWhatASinkTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, withConfig(func(c *Config) { c.Batch.Age = time.Hour }))
		r.sink.set(func([]string) (Outcome, error) { wait1(time.Second); return Outcome{}, nil })
		a := r.source.assign("t", 0)
		r.source.put(a, `{"x":1}`, `{"x":2}`)
		wait(time.Second)
		ctx, cancel := timeout(t, 3*time.Second)
		defer cancel()
		r.Drain(ctx, []*Assignment{a})
		if w := a.Watermark(); w != 2 {
			t.Errorf("watermark is %d after draining, want 2", w)
		}
		r.finish(t, nil)
	})
}

func TestStopDrainsWhatIsGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, withConfig(func(c *Config) { c.Batch.Age = time.Hour }))
		r.source.put(r.source.assign("t", 0), `{"x":1}`)
		wait(time.Second)
		if c := r.finish(t, nil); c.Stored != 1 {
			t.Errorf("ledger %+v", c)
		}
		if got := r.source.commit("t/0"); got != 1 {
			t.Errorf("committed %d, want 1", got)
		}
	})
}

func TestStopKeepsItsGracePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		r.sink.set(func([]string) (Outcome, error) {
			return Outcome{}, &RequestError{Class: Unavailable, Err: errors.New("down")}
		})
		r.source.put(r.source.assign("t", 0), `{"x":1}`)
		wait(5 * time.Minute) // deep in a back-off
		began := time.Now()
		c := r.finish(t, ErrUnfinished)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("stopping took %s of a grace period of 20 s", took)
		}
		if c.Abandoned != 1 || r.source.commit("t/0") != 0 {
			t.Errorf("ledger %+v, committed %d", c, r.source.commit("t/0"))
		}
	})
}

// A source that is done ends the run only when all it gave is final, however long that takes.
func TestDoneWaitsForEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		var down atomic.Bool
		down.Store(true)
		r.sink.set(func([]string) (Outcome, error) {
			if down.Load() {
				return Outcome{}, &RequestError{Class: Unavailable, Err: errors.New("down")}
			}
			return Outcome{}, nil
		})
		r.source.put(r.source.assign("t", 0), `{"x":1}`)
		wait(time.Second)
		close(r.source.done)
		wait(5 * time.Minute)
		if !r.Alive(5 * time.Second) {
			t.Error("waiting for the sink looks like a deadlock")
		}
		down.Store(false)
		wait(2 * time.Minute)
		if got := r.source.commit("t/0"); got != 1 {
			t.Errorf("committed %d, want 1", got)
		}
		r.finish(t, nil)
	})
}

func TestAgeWaitsWhileTheSinkIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, withConfig(func(c *Config) { c.Delivery.Concurrency.Fixed = 1 }))
		hang := make(chan struct{})
		r.sink.set(func([]string) (Outcome, error) { <-hang; return Outcome{}, nil })
		a := r.source.assign("t", 0)
		for i := range 100 {
			r.source.put(a, fmt.Sprintf(`{"x":%d}`, i))
			wait(time.Second)
		}
		close(hang)
		wait(5 * time.Second)
		if n := len(r.sink.sent()); n > 4 {
			t.Errorf("%d requests for documents that came while the sink took nothing, want them gathered", n)
		}
		if got := r.source.commit("t/0"); got != 100 {
			t.Errorf("committed %d, want 100", got)
		}
		r.finish(t, nil)
	})
}

func TestQuietPipelineIsAliveAndReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		r.source.assign("t", 0)
		wait(time.Hour)
		if !r.Alive(3 * time.Second) {
			t.Error("a quiet topic looks like a deadlock")
		}
		if s := r.Status(); len(s.Unready(time.Second)) != 0 || s.Partitions[0].State != StateFetching {
			t.Errorf("a quiet topic: %+v", s.Partitions[0])
		}
		r.finish(t, nil)
	})
}

// A sink that is slower than the source keeps memory full. Its requests must be
// full all the same, not as small as what was last let in.
func TestRequestsStayFullUnderBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, withConfig(func(c *Config) {
			c.Memory.Limit, c.Batch.Bytes, c.Delivery.Concurrency.Fixed = 32*value.MiB, value.MiB, 2
		}))
		r.sink.set(func([]string) (Outcome, error) { wait1(time.Second); return Outcome{}, nil })
		a := r.source.assign("t", 0)
		doc := `{"x":"` + strings.Repeat("a", 1000) + `"}`
		const chunks, each = 6000, 10 // 60 MB: several times what fits
		for range chunks {
			r.source.put(a, slices.Repeat([]string{doc}, each)...)
		}
		wait(2 * time.Minute)
		if got := r.source.commit("t/0"); got != chunks*each {
			t.Fatalf("committed %d of %d", got, chunks*each)
		}
		sent := len(r.sink.sent())
		if full := chunks * each * len(doc) / (1 << 20); sent > full*5/4+2 {
			t.Errorf("%d requests for what fills %d", sent, full)
		}
		r.finish(t, nil)
	})
}

func TestDeadlockedLoopIsNotAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		r.sink.stuck = make(chan struct{})
		r.source.put(r.source.assign("t", 0), `{"x":1}`)
		wait(time.Minute)
		if r.Alive(30 * time.Second) {
			t.Error("a loop that has stood still for a minute looks alive")
		}
		close(r.sink.stuck)
		wait(5 * time.Second)
		if !r.Alive(30 * time.Second) {
			t.Error("a loop that goes round again looks dead")
		}
		r.finish(t, nil)
	})
}

// A server that finds every request too large, however small, takes nothing:
// that is no reason to try each document, nor to give it up.
func TestRequestsTooLargeAlikeAreHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		var broken atomic.Bool
		broken.Store(true)
		r.sink.set(func([]string) (Outcome, error) {
			if broken.Load() {
				return Outcome{}, &RequestError{Class: TooLarge, Reason: Reason{Status: 413, Type: "too_large"}}
			}
			return Outcome{}, nil
		})
		a := r.source.assign("t", 0)
		var values []string
		for i := range 1000 {
			values = append(values, fmt.Sprintf(`{"x":%d}`, i))
		}
		r.source.put(a, values...)
		wait(time.Minute)
		if n := len(r.sink.sent()); n > 40 {
			t.Errorf("%d requests in a minute to a server that takes nothing", n)
		}
		if got := r.letters.values(); len(got) != 0 {
			t.Errorf("%d dead letters", len(got))
		}
		if s := r.Status().Partitions[0]; s.State != StateHeldSystematic {
			t.Errorf("state is %s", s.State)
		}
		broken.Store(false)
		wait(time.Minute)
		if got := r.source.commit("t/0"); got != 1000 {
			t.Errorf("committed %d, want 1000", got)
		}
		if got := r.Status().BatchBytesLimit; got != int64(4*value.MiB) {
			t.Errorf("requests are limited to %d bytes by a server that took nothing", got)
		}
		r.finish(t, nil)
	})
}

// Many small destinations that refuse alike, a new one each day, are no less
// systematic than a large one.
func TestRefusalsAlikeAddUpOverDestinations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		r.sink.set(func(docs []string) (Outcome, error) {
			return items(docs, func(string) (Verdict, Reason) { return reject("illegal_argument_exception") }), nil
		})
		a := r.source.assign("t", 0)
		for day := range 10 {
			for i := range 20 {
				r.source.put(a, fmt.Sprintf(`{"day-%d":%d}`, day, i))
			}
			wait(10 * time.Minute)
		}
		if got := len(r.letters.values()); got >= 50 {
			t.Errorf("%d dead letters, want less than 50 while nothing is stored anywhere", got)
		}
		if s := r.Status().Partitions[0]; s.State != StateHeldSystematic {
			t.Errorf("state is %s", s.State)
		}
		r.finish(t, ErrUnfinished)
	})
}

// What a server says of a document that fails inside it may quote the document.
func TestHoldsQuoteNoDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		r.sink.set(func(docs []string) (Outcome, error) {
			return items(docs, func(d string) (Verdict, Reason) {
				return Throttled, Reason{Status: 500, Type: "dissect_exception", Text: "against source: " + d}
			}), nil
		})
		r.source.put(r.source.assign("t", 0), `{"x":"SECRET"}`)
		wait(time.Minute)
		s := r.Status().Partitions[0]
		if s.State != StateHeldSink || !strings.Contains(s.Reason, "dissect_exception") || strings.Contains(s.Reason+s.LastError, "SECRET") {
			t.Errorf("held as %s: %s; %s", s.State, s.Reason, s.LastError)
		}
		r.finish(t, ErrUnfinished)
	})
}

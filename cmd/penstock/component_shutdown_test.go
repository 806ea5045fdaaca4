package main

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"penstock/pipeline"
	"penstock/sinks/elasticsearch/estest"
)

// within runs stop and fails if it takes longer than the grace and two seconds.
func within(t *testing.T, grace time.Duration, stop func() error) error {
	t.Helper()
	began := time.Now()
	err := stop()
	if took := time.Since(began); took > grace+2*time.Second {
		t.Errorf("stopping took %s", took)
	}
	return err
}

func grace(d time.Duration) func(*Config) { return func(c *Config) { c.Delivery.ShutdownGrace = d } }

// after gives a channel that closes after d.
func after(d time.Duration) <-chan struct{} {
	c := make(chan struct{})
	time.AfterFunc(d, func() { close(c) })
	return c
}

// SIGTERM while the sink takes nothing: nothing is committed or given up.
func TestStopWithADeadSink(t *testing.T) {
	w := newWorld(t, 1)
	w.search.Hook(func(*estest.Request) *estest.Reply { return &estest.Reply{Status: 503, Empty: true} })
	w.send(0, docs(10)...)
	m := w.start("a", grace(time.Second))
	w.awaitRequests(3)
	w.same("exit code", exitCode(within(t, time.Second, m.stop)), exitUndone)
	if at := w.committed(0); at > 0 {
		t.Errorf("committed %d", at)
	}
	w.same("dead letters", len(w.letters()), 0)
	w.same("ledger", m.status().Ledger, pipeline.Counts{Fetched: 10, Abandoned: 10})
	w.consistent()
}

// SIGTERM in full flow: what is in flight is stored and committed, the group is
// left, and the next process reads nothing twice.
func TestStopInFullFlow(t *testing.T) {
	w := newWorld(t, 4)
	w.search.Hook(func(*estest.Request) *estest.Reply { return &estest.Reply{Wait: after(5 * time.Millisecond)} })
	for p := range int32(4) {
		for range 5 {
			w.send(p, docs(500)...)
		}
	}
	small := func(c *Config) { c.Batch.Documents = 100 }
	first := w.start("a", small)
	w.eventually("some are stored", func() bool { return w.witness.count() > 1000 })
	if err := within(t, 10*time.Second, first.stop); err != nil {
		t.Errorf("stopped with %v", err)
	}
	w.same("left the group", w.witness.leaves, 1)
	second := w.start("b", small)
	w.finish()
	w.same("documents", w.search.Indices(), map[string]int{index: 10_000})
	x, y := first.balanced(), second.balanced()
	w.same("stored once", x.Stored+y.Stored, 10_000)
	w.same("read twice", x.Duplicate+y.Duplicate, 0)
}

// What the ticker has not committed yet, the end does.
func TestStopCommits(t *testing.T) {
	w := newWorld(t, 2)
	w.send(0, docs(10)...)
	w.send(1, docs(10)...)
	m := w.start("a", func(c *Config) { c.Delivery.CommitInterval = time.Minute })
	w.eventually("all is stored", func() bool { return w.witness.count() == 20 })
	if err := m.stop(); err != nil {
		t.Errorf("stopped with %v", err)
	}
	w.committedAt([]int64{10, 10})
	w.conserve()
}

// The broker is gone: what was stored cannot be committed, and a dead letter
// waits. The process ends all the same, and says that it failed.
func TestStopWithoutABroker(t *testing.T) {
	w := newWorld(t, 1)
	w.kafka.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: dead, Err: kerr.NotEnoughReplicas, Count: -1})
	w.send(0, `{"n":0}`, "text")
	m := w.start("a", grace(2*time.Second))
	w.eventually("the good one is stored", func() bool { return w.witness.count() == 1 })
	m.kafka.cut()
	if err := within(t, 2*time.Second, m.stop); err == nil {
		t.Error("nothing was left undone")
	}
	w.consistent()
}

// SIGTERM before there is a group to leave.
func TestStopBeforeTheFirstAssignment(t *testing.T) {
	t.Run("no broker", func(t *testing.T) {
		w := newWorld(t, 1)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		m := w.start("a", grace(2*time.Second), func(c *Config) {
			c.Source.Kafka.Brokers = []string{l.Addr().String()}
			c.DeadLetter.Topic = ""
		})
		_ = within(t, 2*time.Second, m.stop)
	})
	t.Run("the group does not answer", func(t *testing.T) {
		w := newWorld(t, 1)
		joins := make(chan struct{}, 100)
		w.kafka.ControlKey(int16(kmsg.JoinGroup), func(kmsg.Request) (kmsg.Response, error, bool) {
			w.kafka.KeepControl()
			joins <- struct{}{}
			return nil, nil, true
		})
		m := w.start("a", grace(2*time.Second))
		<-joins
		_ = within(t, 2*time.Second, m.stop)
	})
}

// SIGTERM while the group rebalances, which takes as long as it takes: what was
// stored is committed and the group is left all the same.
func TestStopWhileTheGroupRebalances(t *testing.T) {
	w := newWorld(t, 1)
	w.send(0, docs(5)...)
	m := w.start("a")
	w.awaitCommitted(0, 5)
	joins := make(chan struct{}, 100)
	w.kafka.ControlKey(int16(kmsg.JoinGroup), func(kmsg.Request) (kmsg.Response, error, bool) {
		w.kafka.KeepControl()
		joins <- struct{}{}
		return nil, nil, true // no answer yet
	})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if r, err := w.admin.CreatePartitions(ctx, 1, logs); err != nil || r.Error() != nil {
		t.Fatal(err, r.Error())
	}
	<-joins
	w.send(0, docs(5)...)
	w.eventually("what comes meanwhile is stored", func() bool { return w.witness.isStored(0, 9) })
	w.same("exit code", exitCode(within(t, 10*time.Second, m.stop)), exitDone)
	w.same("left the group", w.witness.leaves > 0, true)
	w.committedAt([]int64{10, 0})
	w.conserve()
}

// SIGTERM while everything waits for a long back-off.
func TestStopInABackoff(t *testing.T) {
	for name, reply := range map[string]*estest.Reply{
		"request": {Status: 503, Empty: true},
		"item":    {Item: func(int, estest.Doc) estest.Item { return estest.Item{Status: 429, Type: "x"} }},
		"index":   {Item: func(int, estest.Doc) estest.Item { return estest.Item{Status: 403, Type: "cluster_block_exception"} }},
		"halving": {Status: 400, Empty: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.search.Hook(func(*estest.Request) *estest.Reply { return reply })
			w.send(0, docs(3)...)
			m := w.start("a", grace(time.Second), func(c *Config) {
				c.Delivery.Backoff = pipeline.BackoffConfig{Min: time.Minute, Max: time.Minute}
			})
			w.eventually("it is held", func() bool { return m.states()[0].Held() })
			w.same("exit code", exitCode(within(t, time.Second, m.stop)), exitUndone)
			w.consistent()
		})
	}
}

// One member after another is stopped and started again while records flow.
func TestRollingRestart(t *testing.T) {
	w := newWorld(t, 4)
	a, b := w.start("a0"), w.start("b0")
	send := func() {
		for p := range int32(4) {
			w.send(p, docs(50)...)
		}
	}
	for i := 1; i <= 2; i++ {
		for _, m := range []**member{&a, &b} {
			send()
			if err := (*m).stop(); err != nil {
				t.Errorf("%s stopped with %v", (*m).name, err)
			}
			send()
			*m = w.start(fmt.Sprintf("%c%d", (*m).name[0], i))
		}
	}
	w.finish()
	var sum pipeline.Counts
	for _, m := range w.members {
		sum.Add(m.balanced())
	}
	w.same("stored", sum.Stored, 4*8*50)
	w.same("stored twice", sum.Duplicate, 0)
}

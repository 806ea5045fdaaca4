package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/pipeline"
	"penstock/sinks/elasticsearch/estest"
)

// share waits until two members have one partition each, and gives the one that
// moved to the second.
func share(w *world, a, b *member) (moved, kept int32) {
	w.Helper()
	w.eventually("each member has a partition", func() bool { return a.owns() == 1 && b.owns() == 1 })
	moved = b.status().Partitions[0].Partition
	return moved, 1 - moved
}

// A partition is taken away while its request hangs: the revoke does not wait
// for it, its late answer changes nothing, and what stays goes on.
func TestRevokeWhileARequestHangs(t *testing.T) {
	w := newWorld(t, 2)
	release := make(chan struct{})
	var mu sync.Mutex
	hung := map[string]bool{}
	w.search.Hook(func(r *estest.Request) *estest.Reply {
		mu.Lock()
		defer mu.Unlock()
		if body := string(r.Body); has(r, "hang") && !hung[body] {
			hung[body] = true
			return &estest.Reply{Late: release}
		}
		return nil
	})
	one := func(c *Config) {
		c.Batch.Documents = 1 // so that partitions share no request
		c.Delivery.Concurrency.Fixed = 8
	}
	w.send(0, `{"hang":0}`)
	w.send(1, `{"hang":1}`)
	a := w.start("a", one)
	w.eventually("both requests hang", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(hung) == 2
	})
	b := w.start("b", one)
	moved, kept := share(w, a, b)
	revoked := time.Now()
	for _, e := range a.logs.FilterMessage("partitions revoked").All() {
		if took := e.ContextMap()["took"].(time.Duration); took > 5*time.Second {
			t.Errorf("revoking took %s", took)
		}
	}
	// What stays flows; what moved is stored by its new owner.
	w.send(kept, docs(3)...)
	w.send(moved, docs(3)...)
	w.awaitCommitted(moved, 4)
	w.eventually("what stays is stored", func() bool { return w.witness.isStored(kept, 3) })
	w.same("committed while its first request hangs", w.committed(kept), 0)
	before := a.status().Ledger
	close(release)
	w.awaitCommitted(kept, 4)
	after := a.status().Ledger
	w.same("counted by the late answers", after.Stored+after.Duplicate-before.Stored-before.Duplicate, 1)
	w.same("abandoned", after.Abandoned, 1)
	for _, c := range w.witness.commitsOf(moved) {
		if strings.HasPrefix(c.member, "a-") && c.at.After(revoked) {
			t.Errorf("a committed %d for the partition that it had lost", c.offset)
		}
	}
	w.finish()
}

// A partition is lost and comes back: what hung since before changes nothing.
func TestLateAnswerOfAnEarlierAssignmentChangesNothing(t *testing.T) {
	w := newWorld(t, 2)
	release := make(chan struct{})
	var mu sync.Mutex
	hung := map[string]int{}
	w.search.Hook(func(r *estest.Request) *estest.Reply {
		if !has(r, "hang") {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		hung[string(r.Body)]++
		if hung[string(r.Body)] == 1 {
			return &estest.Reply{Late: release} // a's first try
		}
		return &estest.Reply{Status: 503, Empty: true} // all others fail until the release
	})
	one := func(c *Config) {
		c.Batch.Documents = 1
		c.Delivery.Concurrency.Fixed = 8
		c.Delivery.ShutdownGrace = time.Second
	}
	w.send(0, `{"hang":0}`)
	w.send(1, `{"hang":1}`)
	a := w.start("a", one)
	w.eventually("both requests hang", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(hung) == 2
	})
	b := w.start("b", one)
	moved, _ := share(w, a, b)
	tried := func() int {
		mu.Lock()
		defer mu.Unlock()
		return hung[w.bodyOf(moved)]
	}
	w.eventually("b has tried its record", func() bool { return tried() >= 2 })
	w.same("exit code", exitCode(b.stop()), exitUndone) // it has not stored the record either
	w.eventually("the partition is back", func() bool { return a.owns() == 2 })
	before := tried()
	w.eventually("its record is tried again", func() bool { return tried() >= before+3 })
	close(release)
	// The old request has stored the record; the new assignment has not been told.
	w.awaitCommitted(1-moved, 1)
	if at := w.committed(moved); at > 0 {
		t.Errorf("an answer to an earlier assignment committed %d", at)
	}
	w.search.Hook(nil)
	w.finish()
}

// bodyOf is the body of the first request with a document of a partition.
func (w *world) bodyOf(partition int32) string {
	for _, r := range w.search.Requests() {
		for _, d := range r.Docs {
			if strings.Contains(d.ID, fmt.Sprintf(":%d:0:", partition)) {
				return string(r.Body)
			}
		}
	}
	return ""
}

// Records that wait for their request to fill are stored and committed before
// their partition is given away: the next owner reads none of them again.
func TestRevokeDrainsWhatWaits(t *testing.T) {
	w := newWorld(t, 2)
	slow := func(c *Config) {
		c.Batch.Age = time.Hour
		c.Delivery.RevokeTimeout = 4 * time.Second
	}
	w.send(0, docs(20)...)
	w.send(1, docs(20)...)
	a := w.start("a", slow)
	w.eventually("all are fetched", func() bool { return a.status().Ledger.Fetched == 40 })
	w.same("stored", w.witness.count(), 0)
	b := w.start("b", slow)
	moved, _ := share(w, a, b)
	w.awaitCommitted(moved, 20)
	w.stopAll()
	w.same("read again", b.status().Ledger, pipeline.Counts{})
	w.conserve()
}

// The sink is stuck for good: a revoke still ends in time, and so does a stop.
func TestRevokeWithAStuckSink(t *testing.T) {
	w := newWorld(t, 2)
	stuck := func(c *Config) {
		c.Delivery.ShutdownGrace = 2 * time.Second
	}
	w.search.Hook(func(*estest.Request) *estest.Reply { return &estest.Reply{Wait: make(chan struct{})} })
	w.send(0, docs(20)...)
	w.send(1, docs(20)...)
	a := w.start("a", stuck)
	w.awaitRequests(1)
	b := w.start("b", stuck)
	share(w, a, b)
	took := a.logs.FilterMessage("partitions revoked").All()
	if len(took) == 0 || took[0].ContextMap()["took"].(time.Duration) > 5*time.Second {
		t.Errorf("revokes: %v", took)
	}
	w.eventually("b has read what a did not store", func() bool { return b.status().Ledger.Fetched == 20 })
	w.same("exit code", exitCode(b.stop()), exitUndone)
	w.same("exit code", exitCode(a.stop()), exitUndone)
	w.consistent()
	w.search.Hook(nil)
	w.start("c")
	w.finish()
}

// A member whose session ends has lost its partitions without a word: it commits
// nothing for them, and goes on when it is back.
func TestLostSession(t *testing.T) {
	w := newWorld(t, 1)
	quick := func(c *Config) { c.Source.Kafka.SessionTimeout = 1500 * time.Millisecond }
	w.send(0, docs(5)...)
	a := w.start("a", quick)
	w.awaitCommitted(0, 5)
	a.kafka.cut()
	b := w.start("b", quick)
	w.eventually("b has the partition", func() bool { return b.owns() == 1 })
	w.send(0, docs(5)...)
	w.awaitCommitted(0, 10)
	a.kafka.mend()
	w.eventually("a is back and has lost it", func() bool {
		g := w.kafka.GroupInfo(group)
		return g.State == "Stable" && len(g.Members) == 2 && a.owns()+b.owns() == 1
	})
	w.sendRecords(&kgo.Record{Topic: logs, Value: []byte(`{"n":10}`)})
	w.finish()
}

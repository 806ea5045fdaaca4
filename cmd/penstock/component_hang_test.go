package main

import (
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"penstock/pipeline"
	"penstock/sinks/elasticsearch"
	"penstock/sinks/elasticsearch/estest"
)

// A request that gets no answer ends at request_timeout and is sent again under
// the same ids, whether the server stored it or not.
func TestHungRequestIsSentAgainUnderTheSameIDs(t *testing.T) {
	never := make(chan struct{})
	for name, reply := range map[string]*estest.Reply{"not stored": {Wait: never}, "stored": {Late: never}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.search.Script(reply)
			w.send(0, docs(3)...)
			w.start("a", func(c *Config) { c.Sink.Elasticsearch.RequestTimeout = 300 * time.Millisecond })
			w.finish()
			got := ids(w.search.Requests())
			if len(got) < 2 || len(got[0]) != 3 || fmt.Sprint(got[0]) != fmt.Sprint(got[1]) {
				t.Errorf("sent %v", got)
			}
		})
	}
}

// A node that takes connections and never answers is left alone; the other one
// takes over.
func TestSilentNodeIsLeftAlone(t *testing.T) {
	w := newWorld(t, 1)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	m := w.start("a", func(c *Config) {
		s := &c.Sink.Elasticsearch
		s.URLs = elasticsearch.NewURLs("http://"+silent.Addr().String(), w.search.URL)
		s.RequestTimeout = 300 * time.Millisecond
		s.Eject.Min, s.Eject.Max = time.Minute, time.Hour
	})
	for range 10 {
		w.send(0, docs(5)...)
		w.awaitEnd()
	}
	w.same("the silent node is usable", m.status().Nodes[0].Usable, false)
	w.finish()
}

// A request that hangs holds up only what is behind it in its partition's
// watermark: other requests go on.
func TestHungRequestHoldsUpNoOther(t *testing.T) {
	w := newWorld(t, 2)
	release := make(chan struct{})
	w.search.Hook(func(r *estest.Request) *estest.Reply {
		if has(r, "hang") {
			return &estest.Reply{Wait: release}
		}
		return nil
	})
	w.send(0, `{"hang":1}`)
	w.start("a")
	w.awaitRequests(1)
	for i := range 20 {
		w.send(1, docs(5)...)
		w.awaitCommitted(1, int64(5*(i+1)))
	}
	w.send(0, docs(5)...)
	w.eventually("later records of the partition are stored", func() bool { return w.witness.isStored(0, 5) })
	if at := w.committed(0); at > 0 {
		t.Errorf("committed %d", at)
	}
	close(release)
	w.finish()
}

// Equal topics of two clusters, or of one that was re-created, share no ids.
func TestIDsOfTwoClustersDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, cluster := range []string{"one", "two"} {
		w := newLonelyWorld(t, 2, kfake.ClusterID(cluster))
		w.send(0, docs(3)...)
		w.send(1, docs(3)...)
		w.start("a")
		w.finish()
		for id := range w.search.Documents(index) {
			if seen[id] {
				t.Errorf("%s is used twice", id)
			}
			seen[id] = true
		}
	}
	w := len(seen)
	if w != 12 {
		t.Errorf("%d ids", w)
	}
}

// The server is down from the start: nothing is committed, and all is delivered
// when it comes.
func TestServerDownFromTheStartCommitsNothing(t *testing.T) {
	w := newWorld(t, 2)
	var up atomic.Bool
	w.search.Hook(func(*estest.Request) *estest.Reply {
		if up.Load() {
			return nil
		}
		return estest.Failure(503, "", "")
	})
	w.send(0, docs(10)...)
	w.send(1, docs(10)...)
	m := w.start("a")
	w.awaitRequests(20) // each at least a commit interval after the other
	for p := range int32(2) {
		for _, c := range w.witness.commitsOf(p) {
			if c.offset > 0 {
				t.Errorf("partition %d committed at %d", p, c.offset)
			}
		}
		m.awaitState(p, pipeline.StateHeldSink)
	}
	w.eventually("the lag is all that was sent", func() bool {
		lag := int64(0)
		for _, p := range m.status().Partitions {
			lag += p.LagRecords
		}
		return lag == 20
	})
	up.Store(true)
	w.finish()
}

// Documents below others are refused: the commit does not jump over them, and
// after a kill they are read again.
func TestCommitNeverJumpsOverWhatIsNotStored(t *testing.T) {
	w := newWorld(t, 1)
	var up atomic.Bool
	w.search.Hook(func(*estest.Request) *estest.Reply {
		return &estest.Reply{Item: func(_ int, d estest.Doc) estest.Item {
			if !up.Load() && strings.Contains(d.Source, "low") {
				return estest.Item{Status: 503, Type: "x"}
			}
			return estest.Item{}
		}}
	})
	w.send(0, `{"low":0}`, `{"low":1}`, `{"low":2}`, `{"low":3}`, `{"low":4}`)
	first := w.start("a", grace(time.Second))
	w.awaitRequests(3)
	w.send(0, docs(5)...)
	w.eventually("the upper five are stored", func() bool { return w.witness.count() == 5 })
	w.awaitRequests(len(w.search.Requests()) + 10)
	if at := w.committed(0); at > 0 {
		t.Errorf("committed %d", at)
	}
	first.kill()
	w.consistent()
	up.Store(true)
	w.start("b")
	w.finish()
	w.same("documents", w.search.Indices(), map[string]int{index: 10})
}

// One request holds records of three partitions: each is committed one past its last.
func TestMixedRequestCommitsEveryPartition(t *testing.T) {
	w := newWorld(t, 3)
	w.commitAs(map[int32]int64{0: 0, 1: 0, 2: 0})
	w.send(0, docs(2)...)
	w.send(1, docs(1)...)
	w.send(2, docs(1)...)
	w.start("a", func(c *Config) { c.Batch.Age = 300 * time.Millisecond })
	w.awaitEnd()
	w.same("committed", []int64{w.committed(0), w.committed(1), w.committed(2)}, []int64{2, 1, 1})
	w.finish()
}

package main

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"penstock/pipeline"
	"penstock/sinks/elasticsearch/estest"
)

// Every document is refused alike: after a few the rest is held, not
// dead-lettered, and stored once the index is mended.
func TestSystematicRefusalIsHeld(t *testing.T) {
	w := newWorld(t, 1)
	var mended atomic.Bool
	w.search.Hook(func(*estest.Request) *estest.Reply {
		if mended.Load() {
			return nil
		}
		return &estest.Reply{Item: func(int, estest.Doc) estest.Item {
			return estest.Item{Status: 400, Type: "illegal_argument_exception", Reason: "only write ops with an op_type of create are allowed in data streams"}
		}}
	})
	for range 20 {
		w.send(0, docs(50)...)
	}
	m := w.start("a", func(c *Config) { c.Batch.Documents = 50 })
	m.awaitState(0, pipeline.StateHeldSystematic)
	w.awaitRequests(len(w.search.Requests()) + 10)
	if n := len(w.letters()); n >= 50 {
		t.Errorf("%d dead letters before the hold", n)
	}
	if p := m.status().Partitions[0]; !strings.Contains(p.Reason, "illegal_argument_exception") {
		t.Errorf("the reason does not name the error: %s", p.Reason)
	}
	mended.Store(true)
	w.finish()
	if n := w.witness.count(); n <= 950 {
		t.Errorf("%d stored", n)
	}
}

// Most documents are refused, but not all: only these are dead-lettered, and
// none is sent again.
func TestManyBadDocumentsAmongGoodAreDeadLettered(t *testing.T) {
	w := newWorld(t, 1)
	w.search.Hook(func(*estest.Request) *estest.Reply {
		return &estest.Reply{Item: func(_ int, d estest.Doc) estest.Item {
			if d.Source[5]%5 < 3 {
				return estest.Item{Status: 400, Type: "illegal_argument_exception", Reason: "Limit of total fields [1000] has been exceeded"}
			}
			return estest.Item{}
		}}
	})
	for range 10 {
		w.send(0, docs(100)...)
	}
	w.start("a", func(c *Config) { c.Batch.Documents = 100 })
	w.finish()
	sent := 0
	for _, r := range w.search.Requests() {
		sent += len(r.Docs)
	}
	w.same("documents sent", sent, 1000)
}

// An index that takes nothing now is waited for, whatever status says so.
func TestBlockedIndexIsHeld(t *testing.T) {
	for name, item := range map[string]estest.Item{
		"disk full, 403": {Status: 403, Type: "cluster_block_exception", Reason: "blocked by: [FORBIDDEN/12/index read-only / allow delete (api)];"},
		"disk full, 429": {Status: 429, Type: "cluster_block_exception", Reason: "blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark];"},
		"missing":        {Status: 404, Type: "index_not_found_exception", Reason: "no such index [logs-logs]"},
		"no permission":  {Status: 403, Type: "security_exception", Reason: "action [indices:data/write/bulk[s]] is unauthorized"},
		"closed":         {Status: 400, Type: "index_closed_exception", Reason: "closed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			blocked := &estest.Reply{Item: func(int, estest.Doc) estest.Item { return item }}
			var free atomic.Bool
			w.search.Hook(func(*estest.Request) *estest.Reply {
				if free.Load() {
					return nil
				}
				return blocked
			})
			w.send(0, docs(5)...)
			m := w.start("a")
			w.awaitRequests(5)
			m.awaitState(0, pipeline.StateHeldIndex)
			if at := w.committed(0); at > 0 {
				t.Errorf("committed %d", at)
			}
			free.Store(true)
			w.finish()
			w.same("dead letters", w.deadOffsets(0), []int64{})
		})
	}
}

// The whole cluster is blocked: no document of the request is known to be stored.
func TestBlockedClusterIsHeld(t *testing.T) {
	w := newWorld(t, 1)
	for range 5 {
		w.search.Script(estest.Failure(503, "cluster_block_exception", "blocked by: [SERVICE_UNAVAILABLE/2/no master];"))
	}
	w.send(0, docs(3)...)
	w.start("a")
	w.finish()
	w.same("requests", len(w.search.Requests()), 6)
	w.same("dead letters", w.deadOffsets(0), []int64{})
}

// One of two indices is blocked: what is for the other flows, and what is stored
// is not sent again.
func TestOneBlockedIndexHoldsUpNoOther(t *testing.T) {
	w := newWorld(t, 2)
	var free atomic.Bool
	w.search.Hook(func(*estest.Request) *estest.Reply {
		return &estest.Reply{Item: func(_ int, d estest.Doc) estest.Item {
			if d.Index == "logs-b" && !free.Load() {
				return estest.Item{Status: 403, Type: "cluster_block_exception", Reason: "blocked"}
			}
			return estest.Item{}
		}}
	})
	mixed := func(n int) []string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`{"n":%d,"to":"%s"}`, i, []string{"a", "b"}[i%2])
		}
		return all
	}
	w.send(0, mixed(10)...)
	m := w.start("a", func(c *Config) { c.Sink.Elasticsearch.Index = "logs-{field:to}" })
	m.awaitState(0, pipeline.StateHeldIndex)
	// More of both, and of the good one alone, to another partition.
	w.send(0, mixed(10)...)
	w.send(1, `{"to":"a"}`, `{"to":"a"}`, `{"to":"a"}`)
	w.eventually("what is for the other index is stored", func() bool { return w.search.Indices()["logs-a"] == 13 })
	w.awaitCommitted(1, 3)
	w.awaitRequests(len(w.search.Requests()) + 5)
	w.same("blocked", w.search.Indices()["logs-b"], 0)
	for _, r := range w.search.Requests()[1:] {
		for _, d := range r.Docs {
			if d.Index == "logs-b" && len(r.Docs) > 1 && len(r.Docs) < 10 {
				t.Errorf("a probe of %d documents", len(r.Docs))
			}
		}
	}
	times := map[string]int{}
	for _, r := range w.search.Requests() {
		for _, d := range r.Docs {
			if d.Index == "logs-a" {
				times[d.ID]++
			}
		}
	}
	for id, n := range times {
		if n != 1 {
			t.Errorf("%s was sent %d times", id, n)
		}
	}
	free.Store(true)
	w.finish()
	w.same("dead letters", w.deadOffsets(0), []int64{})
	w.same("documents", w.search.Indices(), map[string]int{"logs-a": 13, "logs-b": 10})
}

// Without a dead-letter topic a bad document holds its partition, and only that.
func TestWithoutADeadLetterTopicBadDocumentsHold(t *testing.T) {
	for name, bad := range map[string]string{"undecodable": "text", "refused": `{"bad":1}`, "refused as a whole": `{"worse":1}`} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2)
			var free atomic.Bool
			w.search.Hook(func(r *estest.Request) *estest.Reply {
				if !free.Load() && has(r, "worse") {
					return estest.Failure(400, "action_request_validation_exception", tooLong)
				}
				return &estest.Reply{Item: func(_ int, d estest.Doc) estest.Item {
					if !free.Load() && strings.Contains(d.Source, "bad") {
						return estest.Item{Status: 400, Type: "mapper_parsing_exception", Reason: "x"}
					}
					return estest.Item{}
				}}
			})
			w.send(0, `{"n":0}`, bad, `{"n":2}`)
			m := w.start("a", func(c *Config) {
				c.DeadLetter.Topic = ""
				c.Delivery.ShutdownGrace = time.Second
			})
			m.awaitState(0, pipeline.StateHeldDeadLetter)
			for i := range 5 {
				w.send(1, fmt.Sprintf(`{"n":%d}`, i))
				w.awaitCommitted(1, int64(i+1))
			}
			w.send(0, `{"n":3}`)
			w.eventually("the partition's later records are stored", func() bool { return w.witness.isStored(0, 3) })
			if at := w.committed(0); at > 1 {
				t.Errorf("committed %d", at)
			}
			if name == "undecodable" { // no server can mend that
				w.same("exit code", exitCode(m.stop()), exitUndone)
				w.consistent()
				return
			}
			free.Store(true)
			w.finish()
		})
	}
}

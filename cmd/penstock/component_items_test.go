package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/zap/zapcore"

	"penstock/pipeline"
	"penstock/sinks/deadletter"
	"penstock/sinks/elasticsearch/estest"
)

func TestDeliversAndCommits(t *testing.T) {
	w := newWorld(t, 2)
	w.send(0, docs(10)...)
	w.send(1, docs(10)...)
	w.start("a")
	w.finish()
	w.same("documents", w.search.Indices(), map[string]int{index: 20})
}

// A full queue refuses some documents in an answer of 200. Only these are sent
// again, after the back-off.
func TestRefusedForNowIsSentAgainAlone(t *testing.T) {
	for name, item := range map[string]estest.Item{
		"429 queue":    {Status: 429, Type: "es_rejected_execution_exception", Reason: "queue"},
		"429 breaker":  {Status: 429, Type: "circuit_breaking_exception", Reason: "[parent] Data too large"},
		"503":          {Status: 503, Type: "unavailable_shards_exception", Reason: "primary shard is not active"},
		"503 no cause": {Status: 503},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			var times [2]atomic.Int64
			var n atomic.Int64
			w.search.Hook(func(*estest.Request) *estest.Reply {
				if i := n.Add(1); i <= 2 {
					times[i-1].Store(time.Now().UnixNano())
				}
				return nil
			})
			w.search.Script(estest.Items(estest.Item{}, item))
			w.send(0, docs(3)...)
			w.start("a", func(c *Config) {
				c.Delivery.Backoff = pipeline.BackoffConfig{Min: 200 * time.Millisecond, Max: 200 * time.Millisecond}
			})
			w.finish()
			got := ids(w.search.Requests())
			if len(got) != 2 || len(got[0]) != 3 || fmt.Sprint(got[1]) != fmt.Sprint(got[0][1:2]) {
				t.Errorf("sent %v", got)
			}
			// The wait is drawn from half of it up.
			if wait := time.Duration(times[1].Load() - times[0].Load()); wait < 100*time.Millisecond {
				t.Errorf("sent again after %s", wait)
			}
			w.same("dead letters", w.deadOffsets(0), []int64{})
		})
	}
}

// However long it takes, nothing is given up.
func TestRefusedForNowForEverIsHeld(t *testing.T) {
	w := newWorld(t, 1)
	var free atomic.Bool
	w.search.Hook(func(r *estest.Request) *estest.Reply {
		if free.Load() {
			return nil
		}
		return &estest.Reply{Item: func(_ int, d estest.Doc) estest.Item {
			if d.Source == `{"n":1}` {
				return estest.Item{Status: 429, Type: "es_rejected_execution_exception"}
			}
			return estest.Item{}
		}}
	})
	w.send(0, docs(3)...)
	m := w.start("a")
	w.awaitRequests(10)
	m.awaitState(0, pipeline.StateHeldSink)
	if at := w.committed(0); at > 1 {
		t.Errorf("committed %d", at)
	}
	free.Store(true)
	w.finish()
	w.same("dead letters", w.deadOffsets(0), []int64{})
}

// One document that can never be stored is set aside with all that it was; its
// neighbours are stored at the first try.
func TestBadDocumentGoesToTheDeadLetters(t *testing.T) {
	for _, kind := range []string{"document_parsing_exception", "mapper_parsing_exception", "strict_dynamic_mapping_exception", "zzz_exception"} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t, 1)
			w.search.Script(estest.Items(estest.Item{}, estest.Item{Status: 400, Type: kind, Reason: "failed to parse field [n] of type [long]"}))
			w.sendRecords(&kgo.Record{Topic: logs, Value: []byte(`{"n":0}`)},
				&kgo.Record{Topic: logs, Key: []byte("k"), Value: []byte(` {"n":"x"}`), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("v")}}, Timestamp: time.UnixMilli(1700000000000)},
				&kgo.Record{Topic: logs, Value: []byte(`{"n":2}`)})
			w.start("a")
			w.finish()
			w.same("requests", len(w.search.Requests()), 1)
			w.same("dead letters", w.deadOffsets(0), []int64{1})
			l := w.letters()[0]
			w.same("letter", []string{string(l.record.Key), string(l.record.Value), l.header("h"), l.record.Timestamp.UTC().Format(time.RFC3339)},
				[]string{"k", ` {"n":"x"}`, "v", "2023-11-14T22:13:20Z"})
			w.same("reason", []string{l.header(deadletter.HeaderStatus), l.header(deadletter.HeaderType), l.header(deadletter.HeaderReason), l.header(deadletter.HeaderDestination)},
				[]string{"400", kind, "failed to parse field [n] of type [long]", index})
		})
	}
}

// Some servers and proxies explain an item's failure by plain text. And whatever
// the summary flag says, the item's own status counts.
func TestItemsAreJudgedByTheirStatus(t *testing.T) {
	for name, body := range map[string]string{
		"error as text":   `{"took":1,"errors":true,"items":[{"create":{"status":201}},{"create":{"status":400,"error":"no good"}},{"create":{"status":201}}]}`,
		"flag says false": `{"took":1,"errors":false,"items":[{"create":{"status":201}},{"create":{"status":400,"error":{"type":"x","reason":"no good"}}},{"create":{"status":201}}]}`,
		// Answers name backing indices and made-up ids: only the place counts.
		"other names": `{"errors":true,"items":[{"create":{"_index":".ds-logs-7","_id":"x","status":201}},{"create":{"_index":".ds-logs-7","_id":"y","status":400,"error":{"type":"x","reason":"no good"}}},{"create":{"_index":".ds-logs-8","_id":"z","status":201}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.search.Hook(func(r *estest.Request) *estest.Reply {
				w.witness.sawStored(r.Docs[0])
				w.witness.sawStored(r.Docs[2])
				return &estest.Reply{Body: body}
			})
			w.send(0, docs(3)...)
			w.start("a")
			w.finish()
			w.same("requests", len(w.search.Requests()), 1)
			w.same("dead letters", w.deadOffsets(0), []int64{1})
			w.same("reason", w.letters()[0].header(deadletter.HeaderReason), "no good")
		})
	}
}

// The server stores a batch and the answer is lost: the batch is sent again
// under the same ids, and "already there" is success.
func TestLostAnswerStoresNothingTwice(t *testing.T) {
	w := newWorld(t, 1)
	w.search.Script(&estest.Reply{Drop: true})
	w.send(0, docs(3)...)
	m := w.start("a")
	w.finish()
	got := ids(w.search.Requests())
	if len(got) != 2 || fmt.Sprint(got[0]) != fmt.Sprint(got[1]) {
		t.Errorf("sent %v", got)
	}
	w.same("ledger", m.status().Ledger, pipeline.Counts{Fetched: 3, Duplicate: 3})
	w.same("dead letters", w.deadOffsets(0), []int64{})
}

// 409 for one, stored for the other: both are delivered, and nothing is sent again.
func TestAlreadyThereIsDelivered(t *testing.T) {
	w := newWorld(t, 1)
	w.search.Hook(func(r *estest.Request) *estest.Reply {
		w.witness.sawStored(r.Docs[0])
		return estest.Items(estest.Item{Status: 409, Type: "version_conflict_engine_exception"})
	})
	w.send(0, docs(2)...)
	m := w.start("a")
	w.finish()
	w.same("requests", len(w.search.Requests()), 1)
	w.same("ledger", m.status().Ledger, pipeline.Counts{Fetched: 2, Stored: 1, Duplicate: 1})
}

// Thousands of refusals with long reasons: the log stays short, and neither it
// nor the reasons' headers grow with what the server writes.
func TestManyRefusalsStaySmall(t *testing.T) {
	w := newWorld(t, 1)
	const n = 2000
	w.search.Hook(func(*estest.Request) *estest.Reply {
		return &estest.Reply{Item: func(place int, d estest.Doc) estest.Item {
			if place == 0 {
				return estest.Item{}
			}
			return estest.Item{Status: 400, Type: "mapper_parsing_exception", Reason: fmt.Sprint(place, strings.Repeat(" secret content", 150))}
		}}
	})
	w.send(0, docs(n)...)
	m := w.start("a")
	w.finish()
	for _, l := range w.letters() {
		if size := len(l.header(deadletter.HeaderReason)); size > pipeline.MaxReasonText {
			t.Fatalf("a reason of %d bytes", size)
		}
	}
	alarms := 0
	for _, e := range m.logs.All() {
		if e.Level >= zapcore.WarnLevel {
			alarms++
		}
		if strings.Contains(fmt.Sprint(e.Message, e.ContextMap()), "secret content") {
			t.Errorf("logged content: %s", e.Message)
		}
	}
	if alarms > 5 {
		t.Errorf("%d alarms", alarms)
	}
}

// A whole request fails: every document of it is sent again, also the one that
// made the batch full.
func TestFailedRequestLosesNothing(t *testing.T) {
	w := newWorld(t, 1)
	w.search.Script(estest.Failure(http.StatusInternalServerError, "exception", "x"))
	w.send(0, docs(4)...)
	w.start("a", func(c *Config) {
		c.Batch.Documents = 3
		c.Delivery.Concurrency.Fixed = 1
	})
	w.finish()
	w.same("documents", w.search.Indices(), map[string]int{index: 4})
}

package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"penstock/pipeline"
	"penstock/sinks/deadletter"
	"penstock/sinks/elasticsearch/estest"
)

var tooLong = "Validation Failed: 1: id [...] is too long, must be no longer than 512 bytes but was: 513;"

// One document makes the server refuse whole requests without saying which: it
// is found by halving, and only it is set aside.
func TestOneBadDocumentInARefusedRequestIsFound(t *testing.T) {
	w := newWorld(t, 1)
	w.search.Hook(func(r *estest.Request) *estest.Reply {
		if has(r, `"n":5`) {
			return estest.Failure(400, "action_request_validation_exception", tooLong)
		}
		return nil
	})
	w.send(0, docs(8)...)
	w.start("a")
	w.finish()
	w.same("dead letters", w.deadOffsets(0), []int64{5})
	w.same("reason", w.letters()[0].header(deadletter.HeaderType), "action_request_validation_exception")
	seen := map[string]int{}
	for _, b := range bodies(w.search.Requests()) {
		seen[fmt.Sprint(b)]++
	}
	if n := len(w.search.Requests()); n > 10 {
		t.Errorf("%d requests", n)
	}
	for body, n := range seen {
		if n > 2 {
			t.Errorf("sent %d times: %s", n, body)
		}
	}
}

// The server refuses every request: it is not the documents, so they are held,
// tried one at a time, and stored when the server is mended.
func TestRefusingEverythingIsHeldNotDeadLettered(t *testing.T) {
	w := newWorld(t, 1)
	var mended atomic.Bool
	w.search.Hook(func(r *estest.Request) *estest.Reply {
		if mended.Load() {
			return nil
		}
		return estest.Failure(400, "illegal_argument_exception", "The bulk request must be terminated by a newline [\\n]")
	})
	w.send(0, docs(20)...)
	m := w.start("a")
	m.awaitState(0, pipeline.StateHeldSystematic)
	before := len(w.search.Requests())
	w.awaitRequests(before + 5)
	for _, b := range bodies(w.search.Requests())[before+1:] {
		if len(b) != 1 {
			t.Errorf("a probe of %d documents", len(b))
		}
	}
	if at := w.committed(0); at > 0 {
		t.Errorf("committed %d", at)
	}
	mended.Store(true)
	w.finish()
	w.same("dead letters", w.deadOffsets(0), []int64{})
}

// A document that is refused while it is alone is not guilty yet: others must
// be taken first. Then it is.
func TestRefusedAloneIsGuiltyOnceOthersAreTaken(t *testing.T) {
	w := newWorld(t, 1)
	w.search.Hook(func(r *estest.Request) *estest.Reply {
		if has(r, "bad") {
			return estest.Failure(400, "action_request_validation_exception", tooLong)
		}
		return nil
	})
	w.send(0, `{"bad":1}`)
	m := w.start("a")
	m.awaitState(0, pipeline.StateHeldSystematic)
	w.same("dead letters", len(w.letters()), 0)
	w.send(0, docs(5)...)
	w.finish()
	w.same("dead letters", w.deadOffsets(0), []int64{0})
}

// limited makes the server answer 413 to bodies over a size, and counts that.
func limited(w *world, size int) *atomic.Int64 {
	var refused atomic.Int64
	w.search.Hook(func(r *estest.Request) *estest.Reply {
		if len(r.Body) <= size {
			return nil
		}
		refused.Add(1)
		return &estest.Reply{Status: http.StatusRequestEntityTooLarge, Empty: true, Header: http.Header{"Connection": {"close"}}}
	})
	return &refused
}

// 413: batches are halved until they are taken; a document that is too large by
// itself is set aside, wherever it stood.
func TestTooLargeRequestsAreSplit(t *testing.T) {
	small := func(n int) []string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`{"n":%d,"m":"%s"}`, i, strings.Repeat("x", 280))
		}
		return all
	}
	big := `{"m":"` + strings.Repeat("y", 5000) + `"}`
	for name, c := range map[string]struct {
		values []string
		dead   []int64
	}{
		"ten small": {small(10), []int64{}},
		"big first": {append([]string{big}, small(9)...), []int64{0}},
		"big last":  {append(small(9), big), []int64{9}},
		"big alone": {[]string{big}, []int64{0}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			refused := limited(w, 1000)
			w.send(0, c.values...)
			m := w.start("a")
			w.awaitEnd()
			if n := len(w.search.Requests()); n > 2*len(c.values) {
				t.Errorf("%d requests for %d documents", n, len(c.values))
			}
			for _, r := range w.search.Requests() {
				if len(r.Docs) == 0 || len(r.Body) == 0 {
					t.Error("an empty request")
				}
			}
			if name == "ten small" {
				// What was learned is remembered.
				before := refused.Load()
				w.send(0, small(10)...)
				w.awaitEnd()
				w.same("413 later", refused.Load()-before, 0)
				if m.status().BatchBytesLimit > 1000 {
					t.Errorf("the limit is still %d", m.status().BatchBytesLimit)
				}
			}
			w.finish()
			w.same("dead letters", w.deadOffsets(0), c.dead)
			for _, l := range w.letters() {
				w.same("status", l.header(deadletter.HeaderStatus), "413")
			}
		})
	}
}

// No request is larger than batch.bytes, action lines included, unless one
// document is.
func TestBatchBytesCountsAllOfTheBody(t *testing.T) {
	w := newWorld(t, 1)
	value := fmt.Sprintf(`{"m":"%s"}`, strings.Repeat("x", 290))
	huge := fmt.Sprintf(`{"m":"%s"}`, strings.Repeat("x", 2000))
	w.send(0, value, value, value, value, value, huge, value, value)
	w.start("a", func(c *Config) { c.Batch.Bytes = 1024 })
	w.finish()
	for _, r := range w.search.Requests() {
		if len(r.Body) > 1024 && len(r.Docs) > 1 {
			t.Errorf("%d documents in %d bytes", len(r.Docs), len(r.Body))
		}
	}
	if n := len(w.search.Requests()); n > 5 {
		t.Errorf("%d requests: they were not filled", n)
	}
}

// A 200 that does not say what became of each document proves nothing.
func TestUnprovenAnswersAreSentAgain(t *testing.T) {
	good := `{"took":3,"errors":false,"items":[{"create":{"status":201}},{"create":{"status":201}},{"create":{"status":201}}]}`
	for name, reply := range map[string]*estest.Reply{
		"a proxy's page":   {Body: "<html>ok</html>"},
		"cut off":          {Body: good[:60]},
		"nothing":          {Body: "{}"},
		"no items":         {Body: `{"errors":false,"items":[]}`},
		"one item":         {Body: `{"errors":false,"items":[{"create":{"status":201}}]}`},
		"more follows":     {Body: good + "garbage"},
		"no body":          {Empty: true},
		"an item too many": {Body: strings.Replace(good, `"items":[`, `"items":[{"create":{"status":201}},`, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			w.search.Script(reply)
			w.send(0, docs(3)...)
			m := w.start("a")
			w.awaitEnd()
			got := ids(w.search.Requests())
			if len(got) != 2 || fmt.Sprint(got[0]) != fmt.Sprint(got[1]) {
				t.Errorf("sent %v", got)
			}
			w.same("counted", m.metric(`penstock_requests_total{result="unknown"}`), "1")
			w.finish()
			w.same("dead letters", w.deadOffsets(0), []int64{})
		})
	}
}

// Refused credentials hold everything until they are accepted.
func TestRefusedCredentialsHold(t *testing.T) {
	for _, status := range []int{401, 403} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			w := newWorld(t, 1)
			var mended atomic.Bool
			w.search.Hook(func(*estest.Request) *estest.Reply {
				if mended.Load() {
					return nil
				}
				return estest.Failure(status, "security_exception", "unable to authenticate user")
			})
			w.send(0, docs(3)...)
			m := w.start("a")
			w.awaitRequests(5)
			m.awaitState(0, pipeline.StateHeldAuth)
			if at := w.committed(0); at > 0 {
				t.Errorf("committed %d", at)
			}
			mended.Store(true)
			w.finish()
			w.same("dead letters", w.deadOffsets(0), []int64{})
		})
	}
}

package search

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// bleve starts four workers when it is loaded, and keeps them.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"))
}

func newServer(t *testing.T, opts Options) *Server {
	t.Helper()
	s := New(opts)
	t.Cleanup(s.Close)
	return s
}

// call sends one request without a network and gives status and body.
func call(t *testing.T, s http.Handler, method, target, body string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/x-ndjson")
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// must is call for requests that have to succeed.
func must(t *testing.T, s http.Handler, method, target, body string) string {
	t.Helper()
	code, answer := call(t, s, method, target, body)
	if code != http.StatusOK {
		t.Fatalf("%s %s: status %d: %s", method, target, code, answer)
	}
	return answer
}

// item is one item of a reply, of whichever operation.
type item struct {
	ID     string `json:"_id"`
	Status int    `json:"status"`
	Result string `json:"result"`
	Error  *struct {
		Type, Reason string
	} `json:"error"`
}

func items(t *testing.T, answer string) []item {
	t.Helper()
	var reply struct {
		Errors bool
		Items  []map[string]item
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(answer)))
	if err := dec.Decode(&reply); err != nil {
		t.Fatalf("reading %s: %v", answer, err)
	}
	var out []item
	failed := false
	for _, m := range reply.Items {
		for _, i := range m {
			out = append(out, i)
			failed = failed || i.Status > 299 && i.Error != nil
		}
	}
	if failed != reply.Errors {
		t.Errorf("errors is %v in %s", reply.Errors, answer)
	}
	return out
}

func str(n int) string { return strings.Repeat("x", n) }

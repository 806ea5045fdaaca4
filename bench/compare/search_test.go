package compare

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// server answers what a search server would, with a count that a test sets, and
// keeps what it was asked.
func server(t *testing.T, indexed, found int) (*httptest.Server, *[]string) {
	asked := &[]string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*asked = append(*asked, r.Method+" "+r.URL.Path+string(body))
		if user, password, _ := r.BasicAuth(); user != "u" || password != "hush" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch {
		case r.URL.Path == "/":
			fmt.Fprint(w, `{"version":{"number":"2.19.0","distribution":"opensearch"}}`)
		case strings.HasSuffix(r.URL.Path, "/_stats/indexing"):
			fmt.Fprintf(w, `{"_all":{"primaries":{"indexing":{"index_total":%d}}}}`, indexed)
		case r.URL.Path == "/_nodes/stats/process":
			fmt.Fprint(w, `{"nodes":{"a":{"process":{"cpu":{"total_in_millis":1500}}},"b":{"process":{"cpu":{"total_in_millis":250}}}}}`)
		case strings.HasSuffix(r.URL.Path, "/_count"):
			fmt.Fprintf(w, `{"count":%d}`, found)
		default:
			fmt.Fprint(w, `{}`)
		}
	}))
	t.Cleanup(s.Close)
	return s, asked
}

func sinkFor(t *testing.T, s *httptest.Server) *search {
	sink := newSearch(Options{Sink: strings.Replace(s.URL, "//", "//u:hush@", 1) + "/", Shards: 3, Refresh: "30s"})
	t.Cleanup(func() {
		if err := sink.close(); err != nil {
			t.Error(err)
		}
	})
	return sink
}

func TestSearchRun(t *testing.T) {
	s, asked := server(t, 500, 500)
	sink := sinkFor(t, s)
	about, err := sink.describe(t.Context())
	if err != nil || !strings.Contains(about, "opensearch 2.19.0") || !strings.Contains(about, "3 shards") || strings.Contains(about, "hush") {
		t.Errorf("described as %q, %v", about, err)
	}
	index, err := sink.prepare(t.Context(), 500)
	if err != nil {
		t.Fatal(err)
	}
	if n, _, err := sink.arrived(t.Context()); n != 500 || err != nil {
		t.Errorf("%d arrived, %v", n, err)
	}
	if used, err := sink.used(t.Context()); used != 1750*time.Millisecond || err != nil {
		t.Errorf("the nodes used %s, %v", used, err)
	}
	if err := sink.verify(t.Context(), 500); err != nil {
		t.Error(err)
	}
	want := []string{
		"GET /",
		"PUT /" + index + `{"settings":{"index":{"number_of_shards":3,"number_of_replicas":0,"refresh_interval":"30s"}}}`,
		"GET /" + index + "/_stats/indexing", "GET /_nodes/stats/process",
		"POST /" + index + "/_refresh", "GET /" + index + "/_count", "DELETE /" + index,
	}
	if got := strings.Join(*asked, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("asked\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if again, err := sink.prepare(t.Context(), 500); err != nil || again == index {
		t.Errorf("the next run writes to %s, %v", again, err)
	}
}

// What cannot be found is not stored; the index is deleted all the same.
func TestSearchVerifiesByCount(t *testing.T) {
	s, asked := server(t, 500, 499)
	sink := sinkFor(t, s)
	if _, err := sink.prepare(t.Context(), 500); err != nil {
		t.Fatal(err)
	}
	if err := sink.verify(t.Context(), 500); err == nil || !strings.Contains(err.Error(), "499") {
		t.Errorf("one is missing, and it says %v", err)
	}
	if last := (*asked)[len(*asked)-1]; !strings.HasPrefix(last, "DELETE /speed-") {
		t.Errorf("at last it asked %s", last)
	}
}

func TestSearchRate(t *testing.T) {
	var s search
	at := time.Unix(1000, 0)
	for _, n := range []struct {
		seconds   int
		documents int64
	}{{0, 0}, {5, 100}, {6, 300}, {7, 500}, {9, 500}} {
		s.note(n.documents, at.Add(time.Duration(n.seconds)*time.Second))
	}
	// From second 5, when 100 were there already, to second 7.
	if s.seen-s.base != 400 || s.last.Sub(s.first) != 2*time.Second {
		t.Errorf("%d in %s, want 400 in 2s", s.seen-s.base, s.last.Sub(s.first))
	}
}

func TestSearchErrorsHideThePassword(t *testing.T) {
	s, _ := server(t, 0, 0)
	sink := sinkFor(t, s)
	s.Close()
	if _, err := sink.describe(t.Context()); err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("the error is %v", err)
	}
	if err := (Options{Sink: "http://:hush@[::1"}).Validate(); err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("the error is %v", err)
	}
}

func TestOptionsSayAllProblems(t *testing.T) {
	err := Options{Sink: "elsewhere"}.Validate()
	for _, want := range []string{"-topic", "-pairs", "-sink"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %s: %v", want, err)
		}
	}
}

package search

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestFaults(t *testing.T) {
	s := newServer(t, Options{})
	srv := httptest.NewServer(s)
	defer srv.Close()
	defer http.DefaultClient.CloseIdleConnections()
	post := func(id string) (*http.Response, error) {
		r, err := http.NewRequest("POST", srv.URL+"/i/_bulk", strings.NewReader("{\"create\":{\"_id\":\""+id+"\"}}\n{}\n"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-ndjson")
		resp, err := http.DefaultClient.Do(r)
		if err == nil {
			resp.Body.Close()
		}
		return resp, err
	}

	s.SetFault(&Fault{Status: 503, Type: "x", RetryAfter: 2 * time.Second})
	if resp, err := post("1"); err != nil || resp.StatusCode != 503 || resp.Header.Get("Retry-After") != "2" {
		t.Errorf("503: %v %v", resp, err)
	}
	s.SetFault(&Fault{Cut: true})
	if _, err := post("1"); err == nil {
		t.Error("a cut connection gave an answer")
	}
	if n := s.Stats().Documents; n != 0 {
		t.Errorf("%d documents were stored", n)
	}
	s.SetFault(&Fault{CutAfter: true})
	if _, err := post("1"); err == nil {
		t.Error("a connection cut after the work gave an answer")
	}
	if n := s.Stats().Documents; n != 1 {
		t.Errorf("%d documents were stored, want 1", n)
	}
	s.SetFault(nil)
	if resp, err := post("2"); err != nil || resp.StatusCode != 200 {
		t.Errorf("after the faults: %v %v", resp, err)
	}
}

func TestItemFaults(t *testing.T) {
	s := newServer(t, Options{})
	body := strings.Repeat("{\"create\":{\"_index\":\"a\"}}\n{}\n{\"create\":{\"_index\":\"b\"}}\n{}\n", 500)
	s.SetFault(&Fault{ItemStatus: 429, ItemShare: 0.5, Indices: []string{"a"}, Type: "es_rejected_execution_exception", Reason: "queue"})
	got := map[int]int{}
	for i, it := range items(t, must(t, s, "POST", "/_bulk", body)) {
		got[it.Status]++
		if it.Status == 429 && (i%2 != 0 || it.Error.Type != "es_rejected_execution_exception") {
			t.Fatalf("item %d: %+v", i, it.Error)
		}
	}
	// Half of 500: outside 150 to 350 once in more runs than there will be.
	if got[429] < 150 || got[429] > 350 || got[201] != 1000-got[429] {
		t.Errorf("statuses %v", got)
	}
}

package nullsink

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start("127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func post(t *testing.T, s *Server, query, encoding string, body []byte) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/i/_bulk"+query, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if encoding != "" {
		req.Header.Set("Content-Encoding", encoding)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

func documents(op string, n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "{\"%s\":{\"_id\":\"%d\"}}\n{\"n\":%d}\n", op, i, i)
	}
	return b.Bytes()
}

func TestAnswers(t *testing.T) {
	s := start(t, Options{})
	for _, c := range []struct {
		name, query, op string
		items, fields   int // items, and what each says
	}{
		{"whole", "", "index", 3, 8},
		{"penstock's filter", "?filter_path=errors,items.*.status,items.*.error.type", "create", 3, 1},
		{"status alone, encoded", "?filter_path=errors%2Citems.*.status", "index", 3, 1},
		{"errors only", "?filter_path=errors,items.*.error", "create", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, answer := post(t, s, c.query, "", documents(c.op, 3))
			var got struct {
				Errors *bool
				Items  []map[string]map[string]any
			}
			if err := json.Unmarshal([]byte(answer), &got); err != nil || status != 200 {
				t.Fatalf("%d, %v: %s", status, err, answer)
			}
			if got.Errors == nil || *got.Errors || len(got.Items) != c.items {
				t.Errorf("want no errors and %d items: %s", c.items, answer)
			}
			for _, item := range got.Items {
				if v, ok := item[c.op]; !ok || v["status"] != 201.0 || len(v) != c.fields {
					t.Errorf("an item is %v, want %s with status 201 and %d fields", item, c.op, c.fields)
				}
			}
		})
	}
}

func TestCounts(t *testing.T) {
	s := start(t, Options{})
	all := s.Expect(30)
	body := documents("create", 10)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	started := s.Started()
	post(t, s, "", "gzip", zipped.Bytes())
	<-started
	post(t, s, "", "", body)
	select {
	case <-all:
		t.Fatal("20 documents counted as 30")
	default:
	}
	post(t, s, "", "", body)
	<-all
	if status, _ := post(t, s, "", "br", body); status != 400 {
		t.Errorf("an unknown encoding gave %d", status)
	}
	if status, _ := post(t, s, "", "gzip", body); status != 400 {
		t.Errorf("what is not gzip gave %d", status)
	}
	res, err := http.Get(s.URL() + "/stats")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got Stats
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	want := Stats{Requests: 3, Documents: 30, FirstDocuments: 10, BodyBytes: 3 * int64(len(body)), WireBytes: 2*int64(len(body)) + int64(zipped.Len())}
	if got.Seconds <= 0 || got.DocumentsPerSecond <= 0 {
		t.Errorf("no time or rate: %+v", got)
	}
	got.Seconds, got.DocumentsPerSecond = 0, 0
	if got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	res, err = http.Post(s.URL()+"/reset", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if got := s.Stats(); got != (Stats{}) {
		t.Errorf("after a reset: %+v", got)
	}
}

func TestHangsUntilTheClientLeaves(t *testing.T) {
	s := start(t, Options{Hang: true})
	ctx, cancel := context.WithCancel(t.Context())
	started, done := s.Started(), make(chan error, 1)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/_bulk", bytes.NewReader(documents("index", 2)))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			res.Body.Close()
		}
		done <- err
	}()
	<-started
	select {
	case err := <-done:
		t.Fatalf("it was answered (%v)", err)
	default:
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	if got := s.Stats(); got.Requests != 1 || got.Documents != 0 {
		t.Errorf("what is not answered is not stored: %+v", got)
	}
}

func TestDelay(t *testing.T) {
	s := start(t, Options{Delay: 30 * time.Millisecond})
	began := time.Now()
	post(t, s, "", "", documents("index", 1))
	if took := time.Since(began); took < 30*time.Millisecond {
		t.Errorf("answered after %s", took)
	}
}

func TestRefusesToServeTheWorld(t *testing.T) {
	for _, addr := range []string{":9299", "0.0.0.0:0", "10.0.0.1:0", "here"} {
		if s, err := Start(addr, Options{}); err == nil {
			_ = s.Close()
			t.Errorf("it listens on %s", addr)
		} else if !strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("no remedy: %v", err)
		}
	}
}

package floor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// taker is a search server that keeps the bodies it gets.
type taker struct {
	*httptest.Server
	mu     sync.Mutex
	bodies [][]byte
	paths  []string
}

func newTaker(t *testing.T, status int) *taker {
	k := &taker{}
	k.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		k.mu.Lock()
		k.bodies, k.paths = append(k.bodies, body), append(k.paths, r.Method+" "+r.URL.Path)
		k.mu.Unlock()
		w.WriteHeader(status)
		fmt.Fprint(w, `{"errors":false}`)
	}))
	t.Cleanup(k.Close)
	return k
}

// topic makes a topic t with n documents.
func topic(t *testing.T, n int) []string {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(3, "t"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for i := range n {
		client.Produce(t.Context(), &kgo.Record{Topic: "t", Value: fmt.Appendf(nil, `{"n":%d}`, i)}, func(_ *kgo.Record, err error) {
			if err != nil {
				t.Error(err)
			}
		})
	}
	if err := client.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return cluster.ListenAddrs()
}

func TestSendsEveryDocumentOnce(t *testing.T) {
	k := newTaker(t, 200)
	o := Options{Brokers: topic(t, 500), Topic: "t", Group: "g", URL: k.URL, Index: "i", Op: "create", Size: 2048, Concurrency: 2, Documents: 500}
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	ids, docs := map[string]bool{}, map[string]bool{}
	for i, body := range k.bodies {
		if k.paths[i] != "POST /i/_bulk" {
			t.Errorf("sent to %s", k.paths[i])
		}
		lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
		for j := 0; j+1 < len(lines); j += 2 {
			if !strings.HasPrefix(lines[j], `{"create":{"_id":"t-`) {
				t.Fatalf("an action is %s", lines[j])
			}
			ids[lines[j]], docs[lines[j+1]] = true, true
		}
		// A body is full with the document that reaches the size.
		if len(body) > 2048+64 {
			t.Errorf("a body of %d bytes", len(body))
		}
	}
	if len(ids) != 500 || len(docs) != 500 {
		t.Errorf("%d ids and %d documents, want 500", len(ids), len(docs))
	}
	if len(k.bodies) > 500*40/2048*2+3 {
		t.Errorf("%d requests: bodies are not filled", len(k.bodies))
	}
}

// Without a number of documents it goes on until the context ends; what is too
// little for a body is sent when nothing more comes.
func TestGoesOnUntilToldToEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var got bytes.Buffer
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, err := got.ReadFrom(r.Body); err != nil {
			t.Error(err)
		}
		if strings.Count(got.String(), "\n") == 2*10 {
			cancel()
		}
	}))
	defer s.Close()
	o := Options{Brokers: topic(t, 10), Topic: "t", Group: "g", URL: s.URL, Index: "i", Op: "index", Size: 1 << 20, Concurrency: 1}
	if err := Run(ctx, o); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestStopsAtARefusal(t *testing.T) {
	k := newTaker(t, 403)
	o := Options{Brokers: topic(t, 10), Topic: "t", Group: "g", URL: k.URL, Index: "i", Op: "index", Size: 1 << 20, Concurrency: 1}
	if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("ended with %v", err)
	}
}

func TestOptionsSayAllProblems(t *testing.T) {
	err := Options{Op: "delete"}.Validate()
	for _, want := range []string{"-url", "-topic", "-op", "-size"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %s: %v", want, err)
		}
	}
}

package elasticsearch

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"penstock/pipeline"
	"penstock/sinks/elasticsearch/estest"
)

func createConfig(url string) Config {
	c := testConfig(url)
	c.CreateIndex = CreateIndexConfig{Enabled: true, Shards: 3, Replicas: 0, RefreshInterval: "30s"}
	return c
}

// twoIndices encodes documents for a, b, a, b.
func twoIndices(t *testing.T, s *Sink) bulk {
	t.Helper()
	batch := &pipeline.Batch{Destination: "a"}
	for i, destination := range []string{"a", "b", "a", "b"} {
		if err := s.Append(batch, record(int64(i)), document(t, `{"_index":"c"}`), destination); err != nil {
			t.Fatal(err)
		}
	}
	return bulk{destination: "a", body: batch.Body, documents: 4}
}

func TestIndicesAreCreatedOnceWithTheirSettings(t *testing.T) {
	server := estest.New(t)
	s := newSink(t, createConfig(server.URL))
	for range 3 {
		if _, err := s.store(t.Context(), s.nodes.all[0], twoIndices(t, s)); err != nil {
			t.Fatal(err)
		}
	}
	const settings = `{"settings":{"number_of_replicas":0,"number_of_shards":3,"refresh_interval":"30s"}}`
	if got := server.Created(); len(got) != 2 || got["a"] != settings || got["b"] != settings {
		t.Errorf("created %v", got)
	}
	if n := len(server.Requests()); n != 5 {
		t.Errorf("%d requests, want 2 creations and 3 writes", n)
	}
	if got := server.Indices(); got["a"] != 2 || got["b"] != 2 || len(got) != 2 {
		t.Errorf("stored %v", got)
	}
}

func TestWritersShareOneCreation(t *testing.T) {
	server := estest.New(t)
	s := newSink(t, createConfig(server.URL))
	b := threeDocuments(t, s)
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			if _, err := s.store(t.Context(), s.nodes.all[0], b); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	if n := len(server.Requests()); n != 9 {
		t.Errorf("%d requests, want 1 creation and 8 writes", n)
	}
}

func TestAnIndexThatExistsIsFine(t *testing.T) {
	for _, refusal := range []*estest.Reply{
		estest.Failure(400, "resource_already_exists_exception", "index [idx] already exists"),
		estest.Failure(400, "invalid_index_name_exception", "Invalid index name [idx], already exists as alias"),
	} {
		server := estest.New(t)
		server.Hook(func(r *estest.Request) *estest.Reply {
			if r.Method == "PUT" {
				return refusal
			}
			return nil
		})
		s := newSink(t, createConfig(server.URL))
		for range 2 {
			if _, err := s.store(t.Context(), s.nodes.all[0], threeDocuments(t, s)); err != nil {
				t.Error(err)
			}
		}
		if n := len(server.Requests()); n != 3 {
			t.Errorf("%d requests, want 1 creation and 2 writes", n)
		}
	}
}

func TestARefusedIndexHoldsUpNoOther(t *testing.T) {
	for name, test := range map[string]struct {
		reply *estest.Reply
		want  string
	}{
		"no right":        {estest.Failure(403, "security_exception", "no"), "1:blocked 2:throttled 3:blocked"},
		"too many shards": {estest.Failure(400, "validation_exception", "this action would add [6] shards"), "1:blocked 2:throttled 3:blocked"},
		"name":            {estest.Failure(400, "invalid_index_name_exception", "no"), "1:rejected 2:throttled 3:rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			server := estest.New(t, estest.Items(estest.Item{}, estest.Item{Status: 429, Type: "es_rejected_execution_exception"}))
			var refuse atomic.Bool
			refuse.Store(true)
			server.Hook(func(r *estest.Request) *estest.Reply {
				if r.Method == "PUT" && r.Path == "/b" && refuse.Load() {
					return test.reply
				}
				return nil
			})
			s := newSink(t, createConfig(server.URL))
			b := twoIndices(t, s)
			out, err := s.store(t.Context(), s.nodes.all[0], b)
			if got := verdicts(out.Items); err != nil || got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
			if got := server.Indices(); got["a"] != 1 || len(got) != 1 {
				t.Errorf("stored %v", got)
			}
			refuse.Store(false) // it is tried again
			out, err = s.store(t.Context(), s.nodes.all[0], b)
			if got := verdicts(out.Items); err != nil || got != "0:duplicate" {
				t.Errorf("the next try: got %q, %v", got, err)
			}
		})
	}
}

func TestAServerInTroubleFailsTheRequest(t *testing.T) {
	server := estest.New(t)
	server.Hook(func(r *estest.Request) *estest.Reply {
		if r.Method == "PUT" {
			return estest.Failure(503, "cluster_block_exception", "no master")
		}
		return nil
	})
	s := newSink(t, createConfig(server.URL))
	_, err := s.store(t.Context(), s.nodes.all[0], twoIndices(t, s))
	if e := requestError(t, err); e.Class != pipeline.Unavailable {
		t.Errorf("got %v", e)
	}
	if n := len(server.Requests()); n != 1 {
		t.Errorf("%d requests, want the failed creation alone", n)
	}
}

func TestACreationThatWasStoppedIsTakenOver(t *testing.T) {
	started, gone := make(chan struct{}), make(chan struct{})
	calls := 0 // one at a time, by contract
	x, err := newIndices(CreateIndexConfig{Replicas: -1}, func(ctx context.Context, _ *node, _ string, _ []byte) error {
		if calls++; calls > 1 {
			return nil
		}
		close(started)
		<-ctx.Done()
		<-gone
		return ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var first, second error
	var both sync.WaitGroup
	both.Go(func() { first = x.one(ctx, nil, "a") })
	<-started
	both.Go(func() { second = x.one(t.Context(), nil, "a") })
	cancel()
	close(gone)
	both.Wait()
	if !errors.Is(first, context.Canceled) || second != nil || x.missing.Load() != 0 {
		t.Errorf("got %v and %v, %d missing", first, second, x.missing.Load())
	}
}

func TestNotesAreBounded(t *testing.T) {
	x, err := newIndices(CreateIndexConfig{}, func(context.Context, *node, string, []byte) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * maxNoted {
		name := string(rune('a'+i%26)) + string(appendLegal(nil, []byte{byte(i), byte(i >> 8), byte(i >> 16)}))
		x.note(name)
		if err := x.one(t.Context(), nil, name); err != nil {
			t.Fatal(err)
		}
	}
	if len(x.noted) > maxNoted || len(x.all) > maxNoted {
		t.Errorf("%d notes, %d indices", len(x.noted), len(x.all))
	}
}

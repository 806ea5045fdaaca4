package elasticsearch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"penstock/pipeline"
)

// indices creates each index before the first documents are sent to it.
//
// Append notes destinations, so that it costs nothing later: as long as all
// that were noted exist, Write looks no further.
type indices struct {
	settings []byte
	put      func(ctx context.Context, n *node, index string, settings []byte) error
	missing  atomic.Int64

	// Append's alone.
	last  string
	noted map[string]struct{}

	mu  sync.Mutex
	all map[string]*index
}

// index is one that documents were appended for.
type index struct {
	exists  bool
	attempt *attempt // the creation under way, nil if none is
}

type attempt struct {
	done chan struct{}
	err  error // set before done is closed
}

// maxNoted bounds what is remembered; forgetting costs a refused creation each.
const maxNoted = 10_000

func newIndices(c CreateIndexConfig, put func(context.Context, *node, string, []byte) error) (*indices, error) {
	settings := map[string]any{}
	if c.Shards > 0 {
		settings["number_of_shards"] = c.Shards
	}
	if c.Replicas >= 0 {
		settings["number_of_replicas"] = c.Replicas
	}
	if c.RefreshInterval != "" {
		settings["refresh_interval"] = c.RefreshInterval
	}
	body, err := json.Marshal(map[string]any{"settings": settings})
	if err != nil {
		return nil, fmt.Errorf("encoding index settings: %w", err)
	}
	return &indices{settings: body, put: put, noted: make(map[string]struct{}), all: make(map[string]*index)}, nil
}

// note remembers a destination. One goroutine calls it.
func (x *indices) note(name string) {
	if name == x.last {
		return
	}
	x.last = name
	if _, ok := x.noted[name]; ok {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.noted) >= maxNoted {
		clear(x.noted)
		for name, i := range x.all {
			if i.exists {
				delete(x.all, name)
			}
		}
	}
	x.noted[name] = struct{}{}
	x.getLocked(name)
}

func (x *indices) getLocked(name string) *index {
	i := x.all[name]
	if i == nil {
		i = &index{}
		x.all[name] = i
		x.missing.Add(1)
	}
	return i
}

// ensure creates the indices that are missing among these. refused holds those
// that cannot be had; an error concerns the server as a whole.
func (x *indices) ensure(ctx context.Context, n *node, names []string) (refused map[string]*pipeline.RequestError, err error) {
	for _, name := range names {
		err := x.one(ctx, n, name)
		var e *pipeline.RequestError
		switch {
		case err == nil:
		case errors.As(err, &e) && (e.Class == pipeline.Refused || e.Reason.Status == 403 && e.Class == pipeline.Unauthorized):
			if refused == nil {
				refused = make(map[string]*pipeline.RequestError)
			}
			refused[name] = e
		default:
			return nil, err
		}
	}
	return refused, nil
}

// one creates one index unless it exists. Callers that come meanwhile share
// the attempt and its error; the next one tries again.
func (x *indices) one(ctx context.Context, n *node, name string) error {
	for {
		x.mu.Lock()
		i := x.getLocked(name)
		if i.exists {
			x.mu.Unlock()
			return nil
		}
		a := i.attempt
		if a == nil {
			a = &attempt{done: make(chan struct{})}
			i.attempt = a
			x.mu.Unlock()
			a.err = x.create(ctx, n, name)
			x.mu.Lock()
			if i.attempt = nil; a.err == nil {
				i.exists = true
				x.missing.Add(-1)
			}
			x.mu.Unlock()
			close(a.done)
			return a.err
		}
		x.mu.Unlock()
		select {
		case <-a.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		var e *pipeline.RequestError
		if a.err == nil || errors.As(a.err, &e) {
			return a.err
		}
		// Whoever tried was stopped, which says nothing about the index: try.
	}
}

// create asks for the index; that it exists already, also as an alias, is fine.
func (x *indices) create(ctx context.Context, n *node, name string) error {
	err := x.put(ctx, n, "/"+url.PathEscape(name), x.settings)
	var e *pipeline.RequestError
	if errors.As(err, &e) {
		switch {
		case e.Reason.Type == "resource_already_exists_exception",
			e.Reason.Type == "invalid_index_name_exception" && strings.Contains(e.Reason.Text, "already exists as alias"):
			return nil
		}
	}
	return err
}

// createIndex sends the request.
func (s *Sink) createIndex(ctx context.Context, n *node, path string, settings []byte) error {
	r := request{method: "PUT", path: path, contentType: "application/json", body: settings}
	return s.exchange(ctx, n, r, "to create the index "+path[1:], func(_ int, answer io.Reader) error {
		_, _ = io.CopyN(io.Discard, answer, maxErrorBytes) // so that the connection can be used again
		return nil
	})
}

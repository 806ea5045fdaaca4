package compare

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// search is a real Elasticsearch or OpenSearch. Each run gets an index of its
// own, which is deleted after it.
type search struct {
	address string
	http    *http.Client
	shards  int
	refresh string

	runs        int
	index       string
	first, last time.Time
	base, seen  int64 // documents at first and at last
}

func newSearch(o Options) *search {
	return &search{address: strings.TrimRight(o.Sink, "/"), http: &http.Client{Timeout: time.Minute}, shards: o.Shards, refresh: o.Refresh}
}

func (s *search) url() string { return s.address }

func (s *search) reached() <-chan struct{} { return nil }

func (s *search) describe(ctx context.Context) (string, error) {
	var about struct {
		Version struct {
			Number       string
			Distribution string
		}
	}
	if err := s.do(ctx, http.MethodGet, "/", "", &about); err != nil {
		return "", err
	}
	name := about.Version.Distribution
	if name == "" {
		name = "elasticsearch"
	}
	return fmt.Sprintf("%s %s, a new index for each run: %d shards, no replicas, refresh_interval %s", name, about.Version.Number, s.shards, s.refresh), nil
}

func (s *search) prepare(ctx context.Context, _ int64) (string, error) {
	s.runs++
	s.index = fmt.Sprintf("speed-%d-%d", os.Getpid(), s.runs)
	s.first, s.last, s.base, s.seen = time.Time{}, time.Time{}, 0, 0
	settings := fmt.Sprintf(`{"settings":{"index":{"number_of_shards":%d,"number_of_replicas":0,"refresh_interval":%q}}}`, s.shards, s.refresh)
	return s.index, s.do(ctx, http.MethodPut, "/"+s.index, settings, nil)
}

// arrived counts the index operations that succeeded. Unlike _count that needs
// no refresh, which would cost more than the writing that is measured.
func (s *search) arrived(ctx context.Context) (int64, float64, error) {
	var stats struct {
		All struct {
			Primaries struct {
				Indexing struct {
					Total int64 `json:"index_total"`
				}
			}
		} `json:"_all"`
	}
	if err := s.do(ctx, http.MethodGet, "/"+s.index+"/_stats/indexing", "", &stats); err != nil {
		return 0, 0, err
	}
	s.note(stats.All.Primaries.Indexing.Total, time.Now())
	rate := 0.0
	if d := s.last.Sub(s.first).Seconds(); d > 0 {
		rate = float64(s.seen-s.base) / d
	}
	return s.seen, rate, nil
}

// note keeps the first and the last time at which the count rose.
func (s *search) note(documents int64, now time.Time) {
	if documents <= s.seen {
		return
	}
	s.seen, s.last = documents, now
	if s.first.IsZero() {
		s.first, s.base = now, documents
	}
}

// used adds up what all nodes have used.
func (s *search) used(ctx context.Context) (time.Duration, error) {
	var stats struct {
		Nodes map[string]struct {
			Process struct {
				CPU struct {
					Millis int64 `json:"total_in_millis"`
				}
			}
		}
	}
	err := s.do(ctx, http.MethodGet, "/_nodes/stats/process", "", &stats)
	var sum time.Duration
	for _, n := range stats.Nodes {
		sum += time.Duration(n.Process.CPU.Millis) * time.Millisecond
	}
	return sum, err
}

// verify counts what can be found, and deletes the index, also of a run that
// was broken off.
func (s *search) verify(ctx context.Context, documents int64) error {
	var counted struct{ Count int64 }
	err := s.do(ctx, http.MethodPost, "/"+s.index+"/_refresh", "", nil)
	if err == nil {
		err = s.do(ctx, http.MethodGet, "/"+s.index+"/_count", "", &counted)
	}
	if err == nil && counted.Count < documents {
		err = fmt.Errorf("index %s has %d documents after a refresh, not %d", s.index, counted.Count, documents)
	}
	if deleted := s.do(context.WithoutCancel(ctx), http.MethodDelete, "/"+s.index, "", nil); err == nil {
		err = deleted
	}
	return err
}

func (s *search) close() error {
	s.http.CloseIdleConnections()
	return nil
}

// do sends a request and decodes a 2xx answer into out, unless that is nil.
func (s *search) do(ctx context.Context, method, path, body string, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, s.address+path, strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("making a request to -sink: %w", err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := s.http.Do(req) // its errors hide a password in the URL
	if err != nil {
		return fmt.Errorf("asking the search server (-sink): %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 500))
		return fmt.Errorf("the search server answers %s to %s %s: %s", res.Status, method, path, text)
	}
	if out == nil {
		_, err = io.Copy(io.Discard, res.Body)
	} else {
		err = json.NewDecoder(res.Body).Decode(out)
	}
	if err != nil {
		return fmt.Errorf("reading the answer to %s %s: %w", method, path, err)
	}
	return nil
}

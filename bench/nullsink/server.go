// Package nullsink is a search server that keeps nothing: it answers _bulk
// requests at once and counts what they held. It shows what a program costs
// when the sink costs nothing. Loopback only: it asks for no credentials.
package nullsink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
)

// Options of a Server.
type Options struct {
	// Delay is waited before each answer.
	Delay time.Duration
	// Hang takes requests and never answers them.
	Hang bool
}

// Stats are the counts since the start or the last Reset.
type Stats struct {
	Requests  int64 `json:"requests"`
	Documents int64 `json:"documents"`
	// BodyBytes are counted after decompression, WireBytes before.
	BodyBytes int64 `json:"body_bytes"`
	WireBytes int64 `json:"wire_bytes"`
	// Seconds are from the first request to the last, FirstDocuments what the
	// first one held: the rate is that of the others.
	Seconds            float64 `json:"seconds"`
	FirstDocuments     int64   `json:"first_documents"`
	DocumentsPerSecond float64 `json:"documents_per_second"`
}

// Server is a running null sink.
type Server struct {
	options Options
	http    *http.Server
	url     string
	served  chan error

	bodies  sync.Pool // *buffer
	unzip   sync.Pool // *gzip.Reader
	answers sync.Pool // *buffer

	mu          sync.Mutex
	stats       Stats
	first, last time.Time
	started     chan struct{} // closed by the first request
	target      int64
	reached     chan struct{} // closed when Documents is at least target
}

// buffer is kept behind a pointer, so that a pool takes it without allocating.
type buffer struct{ b []byte }

// Start listens on addr (host:port, port 0 for a free one) and serves until
// Close. It refuses addresses that others can reach.
func Start(addr string, o Options) (*Server, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("-listen must be host:port, such as 127.0.0.1:9299: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("-listen must be a loopback address, such as 127.0.0.1:9299, not %q: the null sink takes anything from anyone", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening for _bulk requests: %w", err)
	}
	s := &Server{options: o, url: "http://" + l.Addr().String(), served: make(chan error, 1)}
	s.bodies.New = func() any { return &buffer{b: make([]byte, 0, 6<<20)} }
	s.answers.New = func() any { return &buffer{} }
	s.unzip.New = func() any { return new(gzip.Reader) }
	s.Reset()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /stats", s.serveStats)
	mux.HandleFunc("POST /reset", func(w http.ResponseWriter, _ *http.Request) { s.Reset(); w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/", s.serve)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { s.served <- s.http.Serve(l) }()
	return s, nil
}

// URL is where it listens.
func (s *Server) URL() string { return s.url }

// Close ends it, requests that hang included.
func (s *Server) Close() error {
	err := s.http.Close()
	if served := <-s.served; err == nil && !errors.Is(served, http.ErrServerClosed) {
		err = served
	}
	return err
}

// Stats gives the counts.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Seconds = s.last.Sub(s.first).Seconds()
	if st.Seconds > 0 {
		st.DocumentsPerSecond = float64(st.Documents-st.FirstDocuments) / st.Seconds
	}
	return st
}

// Reset starts counting anew. Channels given before are never closed.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats, s.first, s.last = Stats{}, time.Time{}, time.Time{}
	s.started, s.reached, s.target = make(chan struct{}), nil, 0
}

// Started is closed once a request has been read since the last Reset.
func (s *Server) Started() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started
}

// Expect gives a channel that is closed when so many documents have arrived
// since the last Reset. There is one expectation at a time.
func (s *Server) Expect(documents int64) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.target, s.reached = documents, make(chan struct{})
	s.checkLocked()
	return s.reached
}

func (s *Server) checkLocked() {
	if s.reached != nil && s.target > 0 && s.stats.Documents >= s.target {
		close(s.reached)
		s.target = 0
	}
}

// read notes that a request has been read.
func (s *Server) read(wire, body int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stats.Requests++; s.stats.Requests == 1 {
		close(s.started)
	}
	s.stats.WireBytes += wire
	s.stats.BodyBytes += body
}

// answered notes that a request's documents count as stored.
func (s *Server) answered(documents int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = time.Now()
	if s.first.IsZero() {
		s.first, s.stats.FirstDocuments = s.last, int64(documents)
	}
	s.stats.Documents += int64(documents)
	s.checkLocked()
}

func (s *Server) serveStats(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s.Stats())
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Elastic-Product", "Elasticsearch")
	if strings.HasSuffix(r.URL.Path, "/_bulk") {
		s.bulk(w, r)
		return
	}
	// Whatever else a client asks before it writes.
	fmt.Fprint(w, `{"name":"null","cluster_name":"null","version":{"number":"8.0.0"},"tagline":"You Know, for Search","acknowledged":true}`)
}

// wait waits as the options say; false if there is to be no answer.
func (s *Server) wait(ctx context.Context) bool {
	if s.options.Hang {
		<-ctx.Done()
		return false
	}
	if s.options.Delay > 0 {
		t := time.NewTimer(s.options.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

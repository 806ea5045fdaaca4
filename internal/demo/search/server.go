package search

import (
	"compress/gzip"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// Options of a Server. The zero value is an Elasticsearch 7.17 that creates
// indices on their first document.
type Options struct {
	// OpenSearch makes the server call itself OpenSearch.
	OpenSearch bool
	// Version is what GET / reports; "" is 7.17.28, or 2.19.6 for OpenSearch.
	// From Elasticsearch 8 on, refused documents are document_parsing_exception.
	Version string
	// MaxBody is the largest request body after decompression, in bytes; larger
	// ones are answered 413. 0 is 100 MiB, as http.max_content_length.
	MaxBody int64
	// Keep is how many of the newest writes stay searchable; older ones are
	// counted and no more, and their ids are forgotten. 0 is 100,000, which
	// takes about 1 kB each for log lines of 250 bytes.
	Keep int
	// KeepBytes bounds the documents that stay searchable by the size of their
	// sources, in bytes. 0 is 128 MiB.
	KeepBytes int64
	// MaxIndices is how many indices can exist; 0 is 500.
	MaxIndices int
	// NoAutoCreate refuses documents for indices that do not exist.
	NoAutoCreate bool
}

// Server is the search server: an http.Handler to be served on loopback.
type Server struct {
	opts          Options
	perGeneration int
	clusterUUID   string
	faults        faults

	total      atomic.Int64
	searchable atomic.Int64
	requests   atomic.Int64

	mu      sync.RWMutex
	indices map[string]*index
	order   []*generation // all generations, oldest first
	writes  int           // in all generations
	bytes   int64         // of their sources and ids
}

// New gives a server without indices. Close it after use.
func New(opts Options) *Server {
	if opts.Version == "" {
		opts.Version = "7.17.28"
		if opts.OpenSearch {
			opts.Version = "2.19.6"
		}
	}
	if opts.MaxBody <= 0 {
		opts.MaxBody = 100 << 20
	}
	if opts.Keep <= 0 {
		opts.Keep = 100_000
	}
	if opts.KeepBytes <= 0 {
		opts.KeepBytes = 128 << 20
	}
	if opts.MaxIndices <= 0 {
		opts.MaxIndices = 500
	}
	return &Server{
		opts:          opts,
		perGeneration: min(max(opts.Keep/20, 1), 20_000),
		clusterUUID:   newID(),
		indices:       make(map[string]*index),
	}
}

// Close frees what the server holds. No request may be running.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.indices {
		s.dropLocked(x)
	}
}

// Stats are counts of a Server.
type Stats struct {
	// Documents that exist, with those that are only counted.
	Documents int64
	// Searchable documents, at most Options.Keep and a generation's worth.
	Searchable int64
	// Requests that were answered, or refused by a fault.
	Requests int64
}

// Stats may be called at any time and never waits for a request.
func (s *Server) Stats() Stats {
	return Stats{s.total.Load(), s.searchable.Load(), s.requests.Load()}
}

// Documents gives id and source of the documents of one index that are kept,
// in no order, for tests that compare contents. Sources must not be written to,
// and the server must not be used from inside the loop, which holds its lock.
func (s *Server) Documents(name string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		s.mu.RLock()
		defer s.mu.RUnlock()
		x, ok := s.indices[name]
		if !ok {
			return
		}
		for id, e := range x.docs {
			if !e.deleted && !yield(id, e.source) {
				return
			}
		}
	}
}

// ServeHTTP answers one request, unless a fault answers it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	f := s.faults.current()
	if f != nil && f.before(w, r) {
		return
	}
	if !s.opts.OpenSearch {
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
	}
	if f != nil && f.CutAfter {
		s.route(&discard{header: http.Header{}}, r, f)
		cut(w)
		return
	}
	s.route(w, r, f)
}

// readBody gives the request's body, decompressed.
func (s *Server) readBody(r *http.Request) ([]byte, *apiError) {
	var rd io.Reader = r.Body
	switch enc := r.Header.Get("Content-Encoding"); enc {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, badRequest(typeParse, "reading a gzip body: "+err.Error())
		}
		rd = z
	default:
		// A real server reads such a body as it is and finds no JSON in it.
		return nil, badRequest(typeJSON, "Unexpected character: only gzip is understood, not "+enc)
	}
	b, err := io.ReadAll(io.LimitReader(rd, s.opts.MaxBody+1))
	switch {
	case err != nil:
		return nil, badRequest(typeParse, "reading the body: "+err.Error())
	case int64(len(b)) > s.opts.MaxBody:
		return nil, &apiError{Status: http.StatusRequestEntityTooLarge, Type: typeParse, Reason: "body too large"}
	}
	return b, nil
}

// refuse answers a whole request; too large a body gets a 413 without a body,
// and the connection is closed, as real servers do.
func refuse(w http.ResponseWriter, e *apiError) {
	if e.Status == http.StatusRequestEntityTooLarge {
		w.Header().Set("Connection", "close")
		w.WriteHeader(e.Status)
		return
	}
	writeError(w, e)
}

// contentType tells whether a body of this type is taken.
func (s *Server) contentType(r *http.Request) bool {
	mime, params, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch strings.ToLower(strings.TrimSpace(mime)) {
	case "application/json", "application/x-ndjson":
		return true
	case "application/vnd.elasticsearch+x-ndjson", "application/vnd.elasticsearch+json":
		return !s.opts.OpenSearch && strings.Contains(params, "compatible-with")
	}
	return false
}

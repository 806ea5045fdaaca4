// Package estest is a search server for tests: it speaks enough of the bulk API
// for a sink, keeps what it was sent, and answers by script.
package estest

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Server is one node. Without a script it stores every document, and answers
// 409 to the repeated creation of an id.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	script   []*Reply
	hook     func(*Request) *Reply
	early    func(*http.Request) *Reply
	stored   func(Doc)
	requests []Request
	indices  map[string]map[string]string // index, id: source
	created  map[string]string            // index: body of its creation
	pings    int
}

// Request is one request as it came, but for GET / (see Pings).
type Request struct {
	Method, Path, Query string
	Header              http.Header
	// Wire is the body as sent, Body after decompression.
	Wire, Body []byte
	// Docs are the documents of a bulk request.
	Docs []Doc
}

// Doc is one document of a bulk request.
type Doc struct {
	Op, Index, ID, Source string
}

// New starts a server that ends with the test. The replies answer the first
// bulk requests, in order; a nil one, and any after the last, is the default.
func New(t testing.TB, script ...*Reply) *Server {
	s := newServer(script)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// NewTLS starts a server with a certificate for 127.0.0.1 of its own
// authority: see Server.Certificate.
func NewTLS(t testing.TB, script ...*Reply) *Server {
	s := newServer(script)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func newServer(script []*Reply) *Server {
	s := &Server{script: script, indices: make(map[string]map[string]string), created: make(map[string]string)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	return s
}

// Script adds replies for the bulk requests to come.
func (s *Server) Script(replies ...*Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, replies...)
}

// Hook sets a function that sees each request (bulk or index creation) before
// the script does. A nil reply leaves it to the script. Calls may be concurrent.
func (s *Server) Hook(f func(*Request) *Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hook = f
}

// Early sets a function that can answer from the headers alone, while the body
// has not been read; the connection is closed after such an answer.
func (s *Server) Early(f func(*http.Request) *Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.early = f
}

// Stored sets a function that is told of each document as it is stored, before
// the answer. It must not call the server.
func (s *Server) Stored(f func(Doc)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored = f
}

// Requests gives the requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Pings counts GET /.
func (s *Server) Pings() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pings
}

// Documents gives a copy of an index: sources by id.
func (s *Server) Documents(index string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.indices[index])
}

// Indices lists how many documents each index has.
func (s *Server) Indices() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := make(map[string]int)
	for name, documents := range s.indices {
		counts[name] = len(documents)
	}
	return counts
}

// Created gives the bodies by which indices were created.
func (s *Server) Created() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.created)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		s.mu.Lock()
		s.pings++
		s.mu.Unlock()
		answer(w, http.StatusOK, `{"version":{"number":"7.17.28"},"tagline":"You Know, for Search"}`)
		return
	}
	s.mu.Lock()
	early := s.early
	s.mu.Unlock()
	if early != nil {
		if reply := early(r); reply != nil {
			w.Header().Set("Connection", "close")
			reply.write(w, r, "")
			return
		}
	}
	req, err := read(r)
	if err != nil {
		s.mu.Lock()
		s.requests = append(s.requests, *req)
		s.mu.Unlock()
		answer(w, http.StatusBadRequest, errorBody(http.StatusBadRequest, "parse_exception", err.Error()))
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, *req)
	hook := s.hook
	s.mu.Unlock()
	var reply *Reply
	if hook != nil {
		reply = hook(req)
	}
	if r.Method == http.MethodPut {
		s.create(w, r, req, reply)
		return
	}
	if reply == nil {
		reply = s.next()
	}
	if reply == nil {
		reply = &Reply{}
	}
	if reply.Wait != nil {
		select {
		case <-reply.Wait:
		case <-r.Context().Done():
			return
		}
	}
	body := reply.Body
	if !reply.raw() {
		body = s.store(req, reply)
	}
	if reply.Late != nil {
		select {
		case <-reply.Late:
		case <-r.Context().Done():
			return
		}
	}
	reply.write(w, r, body)
}

func (s *Server) next() *Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.script) == 0 {
		return nil
	}
	reply := s.script[0]
	s.script = s.script[1:]
	return reply
}

func (s *Server) create(w http.ResponseWriter, r *http.Request, req *Request, reply *Reply) {
	name := strings.Trim(req.Path, "/")
	if reply != nil {
		reply.write(w, r, reply.Body)
		return
	}
	s.mu.Lock()
	_, exists := s.created[name]
	if exists = exists || s.indices[name] != nil; !exists {
		s.created[name] = string(req.Body)
	}
	s.mu.Unlock()
	if exists {
		answer(w, http.StatusBadRequest, errorBody(http.StatusBadRequest, "resource_already_exists_exception", "index ["+name+"] already exists"))
		return
	}
	answer(w, http.StatusOK, `{"acknowledged":true,"shards_acknowledged":true,"index":"`+name+`"}`)
}

// read takes a request apart.
func read(r *http.Request) (*Request, error) {
	req := &Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone()}
	var err error
	if req.Wire, err = io.ReadAll(r.Body); err != nil {
		return req, err
	}
	req.Body = req.Wire
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(bytes.NewReader(req.Wire))
		if err != nil {
			return req, err
		}
		if req.Body, err = io.ReadAll(z); err != nil {
			return req, err
		}
	}
	if strings.HasSuffix(req.Path, "/_bulk") {
		req.Docs, err = documents(req)
	}
	return req, err
}

package search

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// create makes a new index. The caller holds the lock.
func (s *Server) createLocked(name string) (*index, *apiError) {
	if e := checkName(name); e != nil {
		return nil, e
	}
	if x, ok := s.indices[name]; ok {
		return nil, badRequest(typeIndexExists, fmt.Sprintf("index [%s/%s] already exists", name, x.uuid))
	}
	if len(s.indices) >= s.opts.MaxIndices {
		return nil, badRequest(typeTooManyShards, fmt.Sprintf(
			"Validation Failed: 1: this action would add [1] total shards, but this cluster currently has [%d]/[%d] maximum shards open;", len(s.indices), s.opts.MaxIndices))
	}
	x := &index{
		name: name, uuid: newID(), created: time.Now(), mapping: newMapping(),
		docs: make(map[string]*entry), settings: map[string]string{},
	}
	s.indices[name] = x
	return x, nil
}

// dropLocked deletes an index and what it holds.
func (s *Server) dropLocked(x *index) {
	for _, g := range x.generations {
		s.order = slices.DeleteFunc(s.order, func(o *generation) bool { return o == g })
		s.releaseLocked(g)
	}
	s.total.Add(-x.count)
	delete(s.indices, x.name)
}

// releaseLocked gives the memory of a generation back.
func (s *Server) releaseLocked(g *generation) {
	s.writes -= len(g.ids)
	s.bytes -= g.bytes
	_ = g.bleve.Close() // in memory: nothing to be lost
}

// currentLocked is the generation of x that takes new documents.
func (s *Server) currentLocked(x *index) (*generation, error) {
	if n := len(x.generations); n > 0 && len(x.generations[n-1].ids) < s.perGeneration {
		return x.generations[n-1], nil
	}
	g, err := newGeneration(x)
	if err != nil {
		return nil, err
	}
	if n := len(x.generations); n > 0 {
		if err := x.generations[n-1].flushAbove(0); err != nil {
			return nil, err
		}
	}
	x.generations = append(x.generations, g)
	s.order = append(s.order, g)
	return g, nil
}

// storeLocked writes one document, nil source for a deleted one, and forgets
// the oldest documents if there are too many now.
func (s *Server) storeLocked(x *index, id string, source []byte, values []indexed, version int64) (*entry, error) {
	g, err := s.currentLocked(x)
	if err != nil {
		return nil, err
	}
	old, existed := x.lookup(id)
	if existed {
		if err := old.gen.remove(id); err != nil {
			return nil, err
		}
		x.bytes -= int64(len(old.source))
		x.count--
		s.total.Add(-1)
	}
	e := &entry{source: bytes.Clone(source), version: version, seq: x.seq, deleted: source == nil, gen: g}
	x.seq++
	x.docs[id] = e
	g.ids = append(g.ids, id)
	g.bytes += int64(len(source) + len(id))
	s.writes++
	s.bytes += int64(len(source) + len(id))
	if source != nil {
		if err := g.put(id, values); err != nil {
			return nil, err
		}
		x.bytes += int64(len(source))
		x.count++
		s.total.Add(1)
	}
	for (s.writes > s.opts.Keep || s.bytes > s.opts.KeepBytes) && len(s.order) > 1 {
		s.forgetLocked(s.order[0])
	}
	s.searchable.Store(int64(s.writes))
	return e, nil
}

// forgetLocked drops the documents of a generation; they stay counted.
func (s *Server) forgetLocked(g *generation) {
	x := g.owner
	for _, id := range g.ids {
		if e := x.docs[id]; e != nil && e.gen == g {
			if !e.deleted {
				x.forgotten++
			}
			delete(x.docs, id)
		}
	}
	s.order = slices.DeleteFunc(s.order, func(o *generation) bool { return o == g })
	x.generations = slices.DeleteFunc(x.generations, func(o *generation) bool { return o == g })
	s.releaseLocked(g)
}

// matchLocked gives the indices that an expression (names, commas, wildcards,
// _all) names, by name. A plain name that does not exist is an error.
func (s *Server) matchLocked(expression []string) ([]*index, *apiError) {
	var out []*index
	for _, part := range expression {
		if part == "_all" {
			part = "*"
		}
		if x, ok := s.indices[part]; ok {
			out = append(out, x)
			continue
		}
		if !bytes.ContainsAny([]byte(part), "*?") {
			return nil, noIndex(part)
		}
		for name, x := range s.indices {
			if matchWildcard(part, name) && !x.closed {
				out = append(out, x)
			}
		}
	}
	slices.SortFunc(out, func(a, b *index) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	return slices.Compact(out), nil
}

func newID() string {
	var b [15]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// internal reports a fault of the index library as a server would.
func internal(err error) *apiError {
	return &apiError{Status: http.StatusInternalServerError, Type: "exception", Reason: err.Error()}
}

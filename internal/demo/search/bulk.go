package search

import (
	"fmt"
	"hash/maphash"
	"net/http"
	"time"
)

// result is what became of one action.
type result struct {
	op, index, id string
	status        int
	result        string // created, updated, deleted or not_found
	version, seq  int64
	err           *apiError
}

// bulk answers _bulk and /{index}/_bulk.
func (s *Server) bulk(w http.ResponseWriter, r *http.Request, defaultIndex string, f *Fault) {
	began := time.Now()
	if !s.contentType(r) {
		refuse(w, &apiError{Status: http.StatusNotAcceptable, Type: "content_type_header_exception", Reason: "Content-Type header [" + r.Header.Get("Content-Type") + "] is not supported"})
		return
	}
	body, e := s.readBody(r)
	if e != nil {
		refuse(w, e)
		return
	}
	actions, e := parseBulk(body, defaultIndex)
	if e != nil {
		refuse(w, e)
		return
	}
	parsed := make([]parsedAction, len(actions))
	for i := range actions { // outside the lock: it is most of the work
		parsed[i].action = &actions[i]
		if actions[i].op != "delete" {
			parsed[i].leaves, parsed[i].err = parseDocument(actions[i].source)
		}
	}
	results := s.apply(parsed, f)
	s.writeBulk(w, r, results, time.Since(began))
}

// parsedAction is an action with its document looked at.
type parsedAction struct {
	*action
	leaves []leaf
	err    *apiError
}

func (s *Server) apply(actions []parsedAction, f *Fault) []result {
	s.mu.Lock()
	defer s.mu.Unlock()
	seed := maphash.MakeSeed()
	results := make([]result, len(actions))
	for i := range actions {
		a := &actions[i]
		r := &results[i]
		*r = result{op: a.op, index: a.index, id: a.id}
		if r.err = f.item(seed, i, a.index); r.err == nil {
			r.err = s.applyLocked(a, r)
		}
		if r.err != nil {
			r.status = r.err.Status
			s.dialect(r.err)
		}
	}
	return results
}

// dialect gives an error the name that the version of the server has for it.
func (s *Server) dialect(e *apiError) {
	if e.Type == typeMapper && !s.opts.OpenSearch && len(s.opts.Version) > 1 && (s.opts.Version[0] > '7' || s.opts.Version[1] != '.') {
		e.Type = typeDocument
	}
}

// applyLocked does one action, in the order in which a server checks it.
func (s *Server) applyLocked(a *parsedAction, r *result) *apiError {
	if a.hasID && a.id == "" {
		return badRequest(typeArgument, "if _id is specified it must not be empty")
	}
	x, ok := s.indices[a.index]
	if !ok {
		var e *apiError
		if x, e = s.autoCreateLocked(a); e != nil {
			return e
		}
	}
	if e := x.blocked(); e != nil {
		return e
	}
	if !a.hasID {
		a.id = newID()
		r.id = a.id
	}
	old := x.docs[a.id]
	live := old != nil && !old.deleted
	version := int64(1)
	if old != nil {
		version = old.version + 1
	}
	if a.external != "" {
		if old != nil && (a.version < old.version || a.version == old.version && a.external == "external") {
			return conflict(x, a.id, fmt.Sprintf("current version [%d] is higher or equal to the one provided [%d]", old.version, a.version))
		}
		version = a.version
	}
	if a.op == "delete" {
		return s.deleteLocked(x, a, r, live, version)
	}
	if a.err != nil {
		return a.err
	}
	values, e := x.mapping.admit(a.id, a.leaves)
	if e != nil {
		return e
	}
	if a.op == "create" && live {
		return conflict(x, a.id, fmt.Sprintf("document already exists (current version [%d])", old.version))
	}
	stored, err := s.storeLocked(x, a.id, a.source, values, version)
	if err != nil {
		return internal(err)
	}
	r.status, r.result = http.StatusCreated, "created"
	if live {
		r.status, r.result = http.StatusOK, "updated"
	}
	r.version, r.seq = stored.version, stored.seq
	return nil
}

func (s *Server) deleteLocked(x *index, a *parsedAction, r *result, live bool, version int64) *apiError {
	r.status, r.result, r.version = http.StatusNotFound, "not_found", version
	if live {
		r.status, r.result = http.StatusOK, "deleted"
	}
	if live || a.external != "" { // the version of what never was is kept too
		e, err := s.storeLocked(x, a.id, nil, nil, version)
		if err != nil {
			return internal(err)
		}
		r.seq = e.seq
	}
	return nil
}

func (s *Server) autoCreateLocked(a *parsedAction) (*index, *apiError) {
	if a.op == "delete" && a.external == "" {
		return nil, noIndex(a.index)
	}
	if s.opts.NoAutoCreate {
		e := noIndex(a.index)
		e.Reason += " and [action.auto_create_index] is [false]"
		return nil, e
	}
	return s.createLocked(a.index)
}

func conflict(x *index, id, why string) *apiError {
	return &apiError{Status: http.StatusConflict, Type: typeConflict, Reason: "[" + id + "]: version conflict, " + why}
}

package search

import (
	"encoding/json"
	"net/http"
)

// found is a document as _doc and _mget give it.
type found struct {
	Index   string          `json:"_index"`
	Type    string          `json:"_type,omitempty"`
	ID      string          `json:"_id"`
	Version int64           `json:"_version,omitempty"`
	Seq     *int64          `json:"_seq_no,omitempty"`
	Found   bool            `json:"found"`
	Source  json.RawMessage `json:"_source,omitempty"`
	Error   *apiError       `json:"error,omitempty"`
}

func (s *Server) fetchLocked(name, id string) found {
	out := found{Index: name, Type: s.typeName(), ID: id}
	x, ok := s.indices[name]
	if !ok {
		out.Error = noIndex(name)
		return out
	}
	if d, ok := x.lookup(id); ok {
		out.Found, out.Version, out.Seq, out.Source = true, d.version, &d.seq, d.source
	}
	return out
}

// get answers GET and HEAD /{index}/_doc/{id}.
func (s *Server) get(w http.ResponseWriter, r *http.Request, name, id string) {
	s.mu.RLock()
	doc := s.fetchLocked(name, id)
	s.mu.RUnlock()
	switch {
	case doc.Error != nil:
		writeError(w, doc.Error)
	case !doc.Found:
		s.answer(w, r, http.StatusNotFound, doc)
	default:
		s.answer(w, r, http.StatusOK, doc)
	}
}

// multiGet answers _mget and /{index}/_mget.
func (s *Server) multiGet(w http.ResponseWriter, r *http.Request, name string) {
	if name == "_mget" {
		name = ""
	}
	body, e := s.readBody(r)
	if e != nil {
		refuse(w, e)
		return
	}
	var req struct {
		Docs []struct {
			Index string `json:"_index"`
			ID    string `json:"_id"`
		} `json:"docs"`
		IDs []string `json:"ids"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		refuse(w, badRequest(typeParse, "reading the ids: "+err.Error()))
		return
	}
	if len(req.Docs)+len(req.IDs) == 0 {
		refuse(w, badRequest(typeValidation, "Validation Failed: 1: no documents to get;"))
		return
	}
	docs := make([]found, 0, len(req.Docs)+len(req.IDs))
	s.mu.RLock()
	for _, d := range req.Docs {
		if d.Index == "" {
			d.Index = name
		}
		docs = append(docs, s.fetchLocked(d.Index, d.ID))
	}
	for _, id := range req.IDs {
		docs = append(docs, s.fetchLocked(name, id))
	}
	s.mu.RUnlock()
	s.answer(w, r, http.StatusOK, map[string]any{"docs": docs})
}

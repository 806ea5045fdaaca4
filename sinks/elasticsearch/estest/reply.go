package estest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Reply is the answer to one request. The zero Reply stores every document.
type Reply struct {
	// Status of the request, 200 if 0.
	Status int
	Header http.Header
	// Body is the whole answer. Nothing is stored then, nor with a Status of 300
	// or more.
	Body string
	// Empty answers with no body at all.
	Empty bool
	// Item decides what is said of each document; nil, or a zero Item, stores it.
	Item func(place int, d Doc) Item
	// Wait holds the answer, and the storing, until it is closed or the client
	// goes away.
	Wait <-chan struct{}
	// Late holds the answer after storing, until it is closed or the client goes away.
	Late <-chan struct{}
	// Drop closes the connection without an answer, after storing.
	Drop bool
}

// Item is the answer on one document.
type Item struct {
	Status       int
	Type, Reason string
}

// Items says the same of the first documents in order, and stores the rest.
func Items(items ...Item) *Reply {
	return &Reply{Item: func(place int, _ Doc) Item {
		if place < len(items) {
			return items[place]
		}
		return Item{}
	}}
}

// Failure is the refusal of a whole request, as the server words it.
func Failure(status int, kind, reason string) *Reply {
	return &Reply{Status: status, Body: errorBody(status, kind, reason)}
}

func (r *Reply) raw() bool { return r.Body != "" || r.Empty || r.Status >= 300 }

func (r *Reply) write(w http.ResponseWriter, _ *http.Request, body string) {
	if r.Drop {
		panic(http.ErrAbortHandler)
	}
	for key, values := range r.Header {
		w.Header()[key] = values
	}
	answer(w, max(r.Status, http.StatusOK), body)
}

func answer(w http.ResponseWriter, status int, body string) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

func errorBody(status int, kind, reason string) string {
	b, _ := json.Marshal(map[string]any{"error": map[string]any{"type": kind, "reason": reason}, "status": status})
	return string(b)
}

// documents reads the lines of a bulk body, as strictly as servers do.
func documents(req *Request) ([]Doc, error) {
	if len(req.Body) == 0 {
		return nil, errors.New("request body is required")
	}
	if req.Body[len(req.Body)-1] != '\n' {
		return nil, errors.New("the bulk request must be terminated by a newline [\\n]")
	}
	lines := bytes.Split(req.Body[:len(req.Body)-1], []byte{'\n'})
	if len(lines)%2 != 0 {
		return nil, fmt.Errorf("%d lines are not pairs of action and document", len(lines))
	}
	index := strings.TrimPrefix(strings.TrimSuffix(req.Path, "/_bulk"), "/")
	if i := strings.LastIndexByte(index, '/'); i >= 0 {
		index = index[i+1:] // behind a prefix
	}
	docs := make([]Doc, 0, len(lines)/2)
	for i := 0; i < len(lines); i += 2 {
		var action map[string]struct {
			Index string `json:"_index"`
			ID    string `json:"_id"`
		}
		if err := json.Unmarshal(lines[i], &action); err != nil || len(action) != 1 {
			return nil, fmt.Errorf("malformed action/metadata line [%d]", i+1)
		}
		for op, a := range action {
			d := Doc{Op: op, Index: a.Index, ID: a.ID, Source: string(lines[i+1])}
			if d.Index == "" {
				d.Index = index
			}
			docs = append(docs, d)
		}
	}
	return docs, nil
}

// store keeps the documents that the reply lets pass, and gives the answer.
func (s *Server) store(req *Request, reply *Reply) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var items []string
	failed := false
	for place, d := range req.Docs {
		var item Item
		if reply.Item != nil {
			item = reply.Item(place, d)
		}
		if item.Status == 0 {
			item = s.storeLocked(d)
		}
		text := fmt.Sprintf(`{%q:{"status":%d}}`, d.Op, item.Status)
		if item.Status >= 300 {
			failed = true
			kind, _ := json.Marshal(item.Type)
			reason, _ := json.Marshal(item.Reason)
			text = fmt.Sprintf(`{%q:{"status":%d,"error":{"type":%s,"reason":%s}}}`, d.Op, item.Status, kind, reason)
		}
		items = append(items, text)
	}
	took := `"took":3,`
	if strings.Contains(req.Query, "filter_path") {
		took = ""
	}
	return fmt.Sprintf(`{%s"errors":%t,"items":[%s]}`, took, failed, strings.Join(items, ","))
}

func (s *Server) storeLocked(d Doc) Item {
	documents := s.indices[d.Index]
	if documents == nil {
		documents = make(map[string]string)
		s.indices[d.Index] = documents
	}
	_, exists := documents[d.ID]
	switch {
	case exists && d.Op == "create":
		return Item{http.StatusConflict, "version_conflict_engine_exception", "[" + d.ID + "]: version conflict, document already exists (current version [1])"}
	case !json.Valid([]byte(d.Source)) || d.Source[0] != '{':
		return Item{http.StatusBadRequest, "mapper_parsing_exception", "failed to parse"}
	}
	documents[d.ID] = d.Source
	if s.stored != nil {
		s.stored(d)
	}
	if exists {
		return Item{Status: http.StatusOK}
	}
	return Item{Status: http.StatusCreated}
}

package search

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// indexItself answers PUT, GET, HEAD and DELETE /{index}.
func (s *Server) indexItself(w http.ResponseWriter, r *http.Request, name string, names []string) {
	switch r.Method {
	case http.MethodPut:
		s.putIndex(w, r, name)
	case http.MethodDelete:
		s.change(w, r, names, func(x *index) *apiError { s.dropLocked(x); return nil })
	case http.MethodHead:
		s.mu.RLock()
		_, e := s.matchLocked(names)
		s.mu.RUnlock()
		if e != nil {
			w.WriteHeader(e.Status)
		}
	case http.MethodGet:
		s.describe(w, r, names)
	default:
		writeError(w, &apiError{Status: http.StatusMethodNotAllowed, Type: typeArgument, Reason: "Incorrect HTTP method for uri [" + r.URL.Path + "] and method [" + r.Method + "]"})
	}
}

// putIndex creates an index with settings and mappings.
func (s *Server) putIndex(w http.ResponseWriter, r *http.Request, name string) {
	body, e := s.readBody(r)
	if e != nil {
		refuse(w, e)
		return
	}
	var spec struct {
		Settings map[string]any  `json:"settings"`
		Mappings json.RawMessage `json:"mappings"`
		Aliases  json.RawMessage `json:"aliases"`
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &spec); err != nil {
			refuse(w, badRequest(typeParse, "reading the index: "+err.Error()))
			return
		}
	}
	s.mu.Lock()
	e = s.putIndexLocked(name, spec.Settings, spec.Mappings)
	s.mu.Unlock()
	if e != nil {
		writeError(w, e)
		return
	}
	s.answer(w, r, http.StatusOK, map[string]any{"acknowledged": true, "shards_acknowledged": true, "index": name})
}

func (s *Server) putIndexLocked(name string, settings map[string]any, mappings json.RawMessage) *apiError {
	x, e := s.createLocked(name)
	if e != nil {
		return e
	}
	flatten("", settings, x.settings)
	x.declared = mappings
	if len(mappings) > 0 {
		var spec mappingSpec
		if err := json.Unmarshal(mappings, &spec); err != nil {
			e = badRequest(typeMapper, "Failed to parse mapping: "+err.Error())
		} else {
			e = x.mapping.declare(spec)
		}
	}
	if e != nil { // as if it had never been
		s.dropLocked(x)
	}
	return e
}

// flatten writes nested settings with dotted keys that begin with "index.".
func flatten(prefix string, from map[string]any, to map[string]string) {
	for k, v := range from {
		key := prefix + k
		if inner, ok := v.(map[string]any); ok {
			flatten(key+".", inner, to)
			continue
		}
		if !strings.HasPrefix(key, "index.") {
			key = "index." + key
		}
		if v == nil {
			delete(to, key)
		} else {
			to[key] = fmt.Sprint(v)
		}
	}
}

// change does something to each of the indices under the lock.
func (s *Server) change(w http.ResponseWriter, r *http.Request, names []string, do func(*index) *apiError) {
	s.mu.Lock()
	xs, e := s.matchLocked(names)
	for _, x := range xs {
		if e == nil {
			e = do(x)
		}
	}
	s.mu.Unlock()
	if e != nil {
		writeError(w, e)
		return
	}
	s.answer(w, r, http.StatusOK, map[string]any{"acknowledged": true})
}

// putSettings answers PUT /{index}/_settings; index.blocks.* take effect.
func (s *Server) putSettings(w http.ResponseWriter, r *http.Request, names []string) {
	body, e := s.readBody(r)
	if e != nil {
		refuse(w, e)
		return
	}
	var settings map[string]any
	if err := json.Unmarshal(body, &settings); err != nil {
		refuse(w, badRequest(typeParse, "reading the settings: "+err.Error()))
		return
	}
	s.change(w, r, names, func(x *index) *apiError { flatten("", settings, x.settings); return nil })
}

// Block sets or clears a block of one index, without a request: "write", or
// "read_only_allow_delete" as a full disk does. Unknown indices are left alone.
func (s *Server) Block(name, block string, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x, ok := s.indices[name]; ok {
		flatten("", map[string]any{"index.blocks." + block: on}, x.settings)
	}
}

func (s *Server) setClosed(w http.ResponseWriter, r *http.Request, names []string, closed bool) {
	s.change(w, r, names, func(x *index) *apiError { x.closed = closed; return nil })
}

// describe answers GET /{index}, _settings and _mapping with all of it.
func (s *Server) describe(w http.ResponseWriter, r *http.Request, names []string) {
	s.mu.RLock()
	xs, e := s.matchLocked(names)
	out := make(map[string]any, len(xs))
	for _, x := range xs {
		declared := x.declared
		if declared == nil {
			declared = json.RawMessage("{}")
		}
		out[x.name] = map[string]any{"aliases": map[string]any{}, "mappings": declared, "settings": maps.Clone(x.settings)}
	}
	s.mu.RUnlock()
	if e != nil {
		writeError(w, e)
		return
	}
	s.answer(w, r, http.StatusOK, out)
}

// refresh makes what was written searchable; a search does that by itself too.
func (s *Server) refresh(w http.ResponseWriter, r *http.Request, names []string) {
	s.mu.Lock()
	xs, e := s.openLocked(names)
	s.mu.Unlock()
	if e != nil {
		writeError(w, e)
		return
	}
	s.answer(w, r, http.StatusOK, map[string]any{"_shards": shardsOf(len(xs))})
}

func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	s.mu.RLock()
	n := len(s.indices)
	s.mu.RUnlock()
	s.answer(w, r, http.StatusOK, map[string]any{
		"cluster_name": "penstock-demo", "status": "green", "timed_out": false, "number_of_nodes": 1, "number_of_data_nodes": 1,
		"active_primary_shards": n, "active_shards": n, "relocating_shards": 0, "initializing_shards": 0, "unassigned_shards": 0,
	})
}

// catIndices answers _cat/indices, as text or with format=json.
func (s *Server) catIndices(w http.ResponseWriter, r *http.Request, names []string) {
	columns := []string{"health", "status", "index", "uuid", "pri", "rep", "docs.count", "docs.deleted", "store.size", "pri.store.size"}
	s.mu.RLock()
	xs, e := s.matchLocked(names)
	rows := make([][]string, 0, len(xs))
	for _, x := range xs {
		state := "open"
		if x.closed {
			state = "close"
		}
		size := fmt.Sprintf("%.1fkb", float64(x.bytes)/1024)
		rows = append(rows, []string{"green", state, x.name, x.uuid, "1", "0", fmt.Sprint(x.count), "0", size, size})
	}
	s.mu.RUnlock()
	if e != nil {
		writeError(w, e)
		return
	}
	if r.URL.Query().Get("format") == "json" {
		list := make([]map[string]string, len(rows))
		for i, row := range rows {
			list[i] = make(map[string]string, len(columns))
			for c, name := range columns {
				list[i][name] = row[c]
			}
		}
		s.answer(w, r, http.StatusOK, list)
		return
	}
	if r.URL.Query().Has("v") {
		rows = slices.Insert(rows, 0, columns)
	}
	writeTable(w, rows)
}

// writeTable writes rows in aligned columns.
func writeTable(w http.ResponseWriter, rows [][]string) {
	width := map[int]int{}
	for _, row := range rows {
		for c, cell := range row {
			width[c] = max(width[c], len(cell))
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
	for _, row := range rows {
		var line strings.Builder
		for c, cell := range row {
			fmt.Fprintf(&line, "%-*s ", width[c], cell)
		}
		_, _ = fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

package search

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// route finds who answers. Paths are split by hand: names of indices can hold
// what net/http's patterns give a meaning to.
func (s *Server) route(w http.ResponseWriter, r *http.Request, f *Fault) {
	parts := strings.Split(strings.Trim(r.URL.EscapedPath(), "/"), "/")
	for i, p := range parts { // an id can hold a slash
		if u, err := url.PathUnescape(p); err == nil {
			parts[i] = u
		}
	}
	first := parts[0]
	names := []string{"*"}
	if first != "" && first[0] != '_' || first == "_all" {
		names = strings.Split(first, ",")
		parts = parts[1:]
	}
	api := strings.Join(parts, "/")
	switch {
	case first == "":
		s.info(w, r)
	case len(parts) == 0:
		s.indexItself(w, r, first, names)
	case api == "_bulk" && (r.Method == http.MethodPost || r.Method == http.MethodPut):
		if first == "_bulk" {
			first = ""
		}
		s.bulk(w, r, first, f)
	case api == "_search":
		s.search(w, r, names)
	case api == "_count":
		s.count(w, r, names)
	case api == "_refresh" || api == "_flush":
		s.refresh(w, r, names)
	case api == "_mget":
		s.multiGet(w, r, first)
	case parts[0] == "_doc" && len(parts) == 2 && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		s.get(w, r, first, parts[1])
	case api == "_settings" && r.Method == http.MethodPut:
		s.putSettings(w, r, names)
	case api == "_settings" || api == "_mapping":
		s.describe(w, r, names)
	case api == "_close" || api == "_open":
		s.setClosed(w, r, names, api == "_close")
	case strings.HasPrefix(api, "_cat/indices"):
		if len(parts) == 3 {
			names = strings.Split(parts[2], ",")
		}
		s.catIndices(w, r, names)
	case api == "_cluster/health" || strings.HasPrefix(api, "_cluster/health/"):
		s.health(w, r)
	default:
		writeError(w, badRequest(typeArgument, fmt.Sprintf("no handler found for uri [%s] and method [%s] in this embedded server", r.URL.Path, r.Method)))
	}
}

// info answers GET and HEAD /.
func (s *Server) info(w http.ResponseWriter, r *http.Request) {
	version := map[string]any{"number": s.opts.Version, "build_snapshot": false}
	tagline := "You Know, for Search"
	if s.opts.OpenSearch {
		version["distribution"] = "opensearch"
		version["minimum_wire_compatibility_version"] = "7.10.0"
		tagline = "The OpenSearch Project: https://opensearch.org/"
	} else {
		version["build_flavor"] = "default"
		version["minimum_wire_compatibility_version"] = "6.8.0"
	}
	s.answer(w, r, http.StatusOK, map[string]any{
		"name": "penstock-embedded", "cluster_name": "penstock-demo", "cluster_uuid": s.clusterUUID,
		"version": version, "tagline": tagline,
	})
}

// answer writes v, reduced by filter_path. For HEAD net/http drops the body.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, status int, v any) {
	p := r.URL.Query().Get("filter_path")
	if p == "" {
		writeJSON(w, status, v)
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		writeError(w, internal(err))
		return
	}
	var tree any
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.UseNumber() // numbers pass as they are
	if err := dec.Decode(&tree); err != nil {
		writeError(w, internal(err))
		return
	}
	reduced, ok := parseFilter(p).reduce(tree)
	if !ok {
		reduced = map[string]any{}
	}
	writeJSON(w, status, reduced)
}

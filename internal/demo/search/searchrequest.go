package search

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search/query"
)

// maxWindow is Elasticsearch's default of index.max_result_window.
const maxWindow = 10_000

// searchRequest is what _search and _count ask for.
type searchRequest struct {
	Query json.RawMessage `json:"query"`
	Size  *int            `json:"size"`
	From  int             `json:"from"`
	Sort  json.RawMessage `json:"sort"`

	// Taken and without effect here.
	TrackTotalHits json.RawMessage `json:"track_total_hits"`
	Source         json.RawMessage `json:"_source"`
	Timeout        json.RawMessage `json:"timeout"`
	Version        json.RawMessage `json:"version"`

	q           string
	defaultAnd  bool
	field       string
	sortField   string
	sortReverse bool
}

// readSearch reads a request from its body and its URL; the URL wins.
func (s *Server) readSearch(r *http.Request) (*searchRequest, *apiError) {
	body, e := s.readBody(r)
	if e != nil {
		return nil, e
	}
	req := new(searchRequest)
	if len(body) > 0 {
		dec := json.NewDecoder(strings.NewReader(string(body)))
		dec.DisallowUnknownFields()
		if err := dec.Decode(req); err != nil {
			return nil, badRequest(typeParsing, "reading the search: "+err.Error())
		}
	}
	v := r.URL.Query()
	req.q, req.field = v.Get("q"), v.Get("df")
	req.defaultAnd = strings.EqualFold(v.Get("default_operator"), "and")
	for name, into := range map[string]func(int){"size": func(n int) { req.Size = &n }, "from": func(n int) { req.From = n }} {
		if t := v.Get(name); t != "" {
			n, err := strconv.Atoi(t)
			if err != nil {
				return nil, badRequest(typeArgument, fmt.Sprintf("Failed to parse int parameter [%s] with value [%s]", name, t))
			}
			into(n)
		}
	}
	if req.Size == nil {
		ten := 10
		req.Size = &ten
	}
	if *req.Size < 0 || req.From < 0 {
		return nil, badRequest(typeArgument, "[size] and [from] must not be negative")
	}
	if req.From+*req.Size > maxWindow {
		return nil, badRequest(typeArgument, fmt.Sprintf("Result window is too large, from + size must be less than or equal to: [%d] but was [%d].", maxWindow, req.From+*req.Size))
	}
	return req, req.readSort(v)
}

// readSort takes one field: "f", "f:desc", or in the body also
// [{"f":"desc"}] and [{"f":{"order":"desc"}}].
func (r *searchRequest) readSort(v url.Values) *apiError {
	if s := v.Get("sort"); s != "" {
		var order string
		r.sortField, order, _ = strings.Cut(s, ":")
		r.sortReverse = order == "desc"
		return nil
	}
	if len(r.Sort) == 0 {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(r.Sort, &list) != nil {
		list = []json.RawMessage{r.Sort}
	}
	if len(list) != 1 {
		return badRequest(typeArgument, "this embedded server sorts by one field")
	}
	var name string
	if json.Unmarshal(list[0], &name) == nil {
		r.sortField = name
		return nil
	}
	var plain map[string]string
	var full map[string]struct {
		Order string `json:"order"`
	}
	if json.Unmarshal(list[0], &plain) == nil {
		for f, order := range plain {
			r.sortField, r.sortReverse = f, order == "desc"
		}
	} else if json.Unmarshal(list[0], &full) == nil {
		for f, o := range full {
			r.sortField, r.sortReverse = f, o.Order == "desc"
		}
	} else {
		return badRequest(typeParsing, "[sort] is not understood: write [{\"field\":\"desc\"}]")
	}
	return nil
}

// all tells whether every document matches, so that none need be looked at.
func (r *searchRequest) all() bool {
	var only map[string]json.RawMessage
	if r.q != "" || len(r.Query) > 0 && json.Unmarshal(r.Query, &only) != nil {
		return false
	}
	_, matchAll := only["match_all"]
	return len(r.Query) == 0 || matchAll && len(only) == 1
}

// forIndex gives the query over one index.
func (r *searchRequest) forIndex(m *mapping) (query.Query, *apiError) {
	if r.q != "" {
		return parseQuery(r.q, m, r.field, r.defaultAnd)
	}
	if len(r.Query) == 0 {
		return bleve.NewMatchAllQuery(), nil
	}
	var outer map[string]json.RawMessage
	if err := json.Unmarshal(r.Query, &outer); err != nil || len(outer) != 1 {
		return nil, badRequest(typeParsing, "[query] must be an object with one member")
	}
	var name string
	var inner json.RawMessage
	for name, inner = range outer {
	}
	return bodyQuery(name, inner, m)
}

// bodyQuery reads the queries that can stand in a body.
func bodyQuery(name string, inner json.RawMessage, m *mapping) (query.Query, *apiError) {
	malformed := func(err error) (query.Query, *apiError) {
		return nil, badRequest(typeParsing, "["+name+"]: "+err.Error())
	}
	switch name {
	case "match_all":
		return bleve.NewMatchAllQuery(), nil
	case "query_string":
		var p struct {
			Query           string `json:"query"`
			DefaultField    string `json:"default_field"`
			DefaultOperator string `json:"default_operator"`
		}
		if err := json.Unmarshal(inner, &p); err != nil {
			return malformed(err)
		}
		if p.DefaultField == "*" {
			p.DefaultField = ""
		}
		return parseQuery(p.Query, m, p.DefaultField, strings.EqualFold(p.DefaultOperator, "and"))
	case "exists":
		var p struct {
			Field string `json:"field"`
		}
		if err := json.Unmarshal(inner, &p); err != nil {
			return malformed(err)
		}
		return exact(existsField, p.Field), nil
	case "ids":
		var p struct {
			Values []string `json:"values"`
		}
		if err := json.Unmarshal(inner, &p); err != nil {
			return malformed(err)
		}
		return bleve.NewDocIDQuery(p.Values), nil
	case "match", "term":
		return fieldQuery(name, inner, m)
	}
	return nil, badRequest(typeParsing, "unknown query ["+name+"]: this embedded server knows match_all, query_string, match, term, exists and ids")
}

// fieldQuery reads {"field": value} and {"field": {"query" or "value": value}}.
func fieldQuery(name string, inner json.RawMessage, m *mapping) (query.Query, *apiError) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(inner, &fields); err != nil || len(fields) != 1 {
		return nil, badRequest(typeParsing, "["+name+"] takes one field")
	}
	p := &queryParser{m: m}
	for path, raw := range fields {
		var long struct{ Query, Value json.RawMessage }
		if json.Unmarshal(raw, &long) == nil {
			raw = append(long.Query, long.Value...)
		}
		text := string(raw)
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		if name == "term" && m.fields[path].class == typeText {
			return exact(path, text), nil // a term is not analyzed
		}
		return p.value(path, token{kind: tokWord, text: text})
	}
	return bleve.NewMatchNoneQuery(), nil
}

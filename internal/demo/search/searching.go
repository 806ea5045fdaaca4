package search

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/blevesearch/bleve/v2"
	bsearch "github.com/blevesearch/bleve/v2/search"
)

// hit is one document of an answer.
type hit struct {
	Index  string          `json:"_index"`
	Type   string          `json:"_type,omitempty"`
	ID     string          `json:"_id"`
	Score  *float64        `json:"_score"`
	Source json.RawMessage `json:"_source"`
	Sort   []string        `json:"sort,omitempty"`
}

type shards struct {
	Total      int `json:"total"`
	Successful int `json:"successful"`
	Skipped    int `json:"skipped"`
	Failed     int `json:"failed"`
}

func shardsOf(n int) shards { return shards{Total: n, Successful: n} }

// openLocked gives the indices that can be searched, with all that was written
// made searchable.
func (s *Server) openLocked(names []string) ([]*index, *apiError) {
	xs, e := s.matchLocked(names)
	if e != nil {
		return nil, e
	}
	for _, x := range xs {
		if x.closed {
			return nil, badRequest(typeClosed, "closed")
		}
		for _, g := range x.generations {
			if err := g.flushAbove(0); err != nil {
				return nil, internal(err)
			}
		}
	}
	return xs, nil
}

// find searches the indices and gives the hits of the window, best first, and
// how many documents match.
func (s *Server) find(names []string, req *searchRequest) (hits []hit, total int64, n int, e *apiError) {
	// One lock for all of it: a generation may not go while it is searched.
	s.mu.Lock()
	defer s.mu.Unlock()
	xs, e := s.openLocked(names)
	if e != nil {
		return nil, 0, 0, e
	}
	for _, x := range xs {
		found, matches, e := s.findLocked(x, req)
		if e != nil {
			return nil, 0, 0, e
		}
		hits = append(hits, found...)
		total += matches
	}
	if len(xs) > 1 {
		slices.SortStableFunc(hits, req.compare)
	}
	hits = hits[min(req.From, len(hits)):]
	return hits[:min(*req.Size, len(hits))], total, len(xs), nil
}

func (r *searchRequest) compare(a, b hit) int {
	if r.sortField == "" {
		return cmp.Compare(*b.Score, *a.Score)
	}
	if r.sortReverse {
		a, b = b, a
	}
	return slices.Compare(a.Sort, b.Sort)
}

func (s *Server) findLocked(x *index, req *searchRequest) ([]hit, int64, *apiError) {
	q, e := req.forIndex(x.mapping)
	if e != nil || len(x.generations) == 0 {
		return nil, 0, e
	}
	alias := bleve.NewIndexAlias()
	for _, g := range x.generations {
		alias.Add(g.bleve)
	}
	sr := bleve.NewSearchRequestOptions(q, req.From+*req.Size, 0, false)
	if req.sortField != "" {
		sr.Sort = bsearch.SortOrder{&bsearch.SortField{Field: req.sortField, Desc: req.sortReverse, Missing: bsearch.SortFieldMissingLast}}
	}
	res, err := alias.Search(sr)
	if err != nil {
		return nil, 0, internal(err)
	}
	hits := make([]hit, 0, len(res.Hits))
	for _, h := range res.Hits {
		d, ok := x.lookup(h.ID)
		if !ok {
			continue // deleted in this very moment's batch
		}
		one := hit{Index: x.name, ID: h.ID, Source: d.source, Type: s.typeName()}
		if req.sortField == "" {
			one.Score = &h.Score
		} else {
			one.Sort = h.Sort
		}
		hits = append(hits, one)
	}
	return hits, int64(res.Total), nil
}

func (s *Server) typeName() string {
	if s.opts.OpenSearch || s.opts.Version[0] != '7' {
		return ""
	}
	return "_doc"
}

// search answers _search and /{index}/_search.
func (s *Server) search(w http.ResponseWriter, r *http.Request, names []string) {
	began := time.Now()
	req, e := s.readSearch(r)
	if e != nil {
		refuse(w, e)
		return
	}
	hits, total, n, e := s.find(names, req)
	if e != nil {
		writeError(w, e)
		return
	}
	var best *float64
	if req.sortField == "" && len(hits) > 0 {
		best = hits[0].Score
	}
	s.answer(w, r, http.StatusOK, map[string]any{
		"took": time.Since(began).Milliseconds(), "timed_out": false, "_shards": shardsOf(n),
		"hits": map[string]any{
			"total":     map[string]any{"value": total, "relation": "eq"},
			"max_score": best,
			"hits":      slices.Concat(hits, []hit{}),
		},
	})
}

// count answers _count and /{index}/_count. Without a query it counts all
// documents, with those that are only counted.
func (s *Server) count(w http.ResponseWriter, r *http.Request, names []string) {
	req, e := s.readSearch(r)
	if e != nil {
		refuse(w, e)
		return
	}
	var total int64
	var n int
	if req.all() {
		total, n, e = s.countAll(names)
	} else {
		*req.Size, req.From = 0, 0
		_, total, n, e = s.find(names, req)
	}
	if e != nil {
		writeError(w, e)
		return
	}
	s.answer(w, r, http.StatusOK, map[string]any{"count": total, "_shards": shardsOf(n)})
}

func (s *Server) countAll(names []string) (total int64, n int, e *apiError) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	xs, e := s.matchLocked(names)
	for _, x := range xs {
		total += x.count
	}
	return total, len(xs), e
}

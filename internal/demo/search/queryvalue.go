package search

import (
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search/query"
)

func exact(field, term string) query.Query {
	q := bleve.NewTermQuery(term)
	q.SetField(field)
	return q
}

// anyField looks for a term in the parser's field, or in all of them. Fields
// that cannot hold the term are passed over, as "lenient" does.
func (p *queryParser) anyField(t token) (query.Query, *apiError) {
	if p.field != "" {
		return p.value(p.field, t)
	}
	if t.wild && t.text == "*" {
		return bleve.NewMatchAllQuery(), nil
	}
	some := bleve.NewDisjunctionQuery()
	for path, f := range p.m.fields {
		if t.wild && f.class != typeText && f.class != typeKeyword {
			continue
		}
		if q, e := p.value(path, t); e == nil && f.class != typeObject {
			some.AddQuery(q)
		}
	}
	if len(some.Disjuncts) == 0 {
		return bleve.NewMatchNoneQuery(), nil
	}
	return some, nil
}

// value looks for one term, pattern or phrase in one field.
func (p *queryParser) value(name string, t token) (query.Query, *apiError) {
	f, ok := p.m.fields[name]
	if !ok || f.class == "" || f.class == typeObject {
		return bleve.NewMatchNoneQuery(), nil
	}
	if t.wild {
		if t.text == "*" {
			return exact(existsField, name), nil
		}
		pattern := t.text
		if f.class == typeText {
			pattern = strings.ToLower(pattern)
		}
		q := bleve.NewWildcardQuery(pattern)
		q.SetField(name)
		return q, nil
	}
	switch f.class {
	case typeText:
		return p.words(name, t), nil
	case typeDate:
		return p.bounds(name, t.text, t.text, true, true)
	}
	v, _, c := f.convert(leaf{name, kindString, t.text})
	if c != nil {
		return nil, p.badValue(c)
	}
	return exact(name, v.term), nil
}

// words looks for the words of a text: in a row for a phrase, else any of
// them, or all where that is the default operator.
func (p *queryParser) words(name string, t token) query.Query {
	var terms []string
	for _, tok := range standard.Analyze([]byte(t.text)) {
		terms = append(terms, string(tok.Term))
	}
	switch {
	case len(terms) == 0:
		return bleve.NewMatchNoneQuery()
	case len(terms) == 1:
		return exact(name, terms[0])
	case t.kind == tokPhrase:
		return bleve.NewPhraseQuery(terms, name)
	}
	qs := make([]query.Query, len(terms))
	for i, term := range terms {
		qs[i] = exact(name, term)
	}
	if p.and {
		return bleve.NewConjunctionQuery(qs...)
	}
	return bleve.NewDisjunctionQuery(qs...)
}

// bounds looks for values between two bounds; "*" is none. A date is as wide
// as it is precise: up to 2026-01-02 includes that day.
func (p *queryParser) bounds(name, low, high string, fromIncluded, toIncluded bool) (query.Query, *apiError) {
	f, ok := p.m.fields[name]
	if !ok || f.class == "" || f.class == typeObject {
		return bleve.NewMatchNoneQuery(), nil
	}
	term := func(s string, after bool) (string, *apiError) {
		s = strings.Trim(s, `"`)
		if s == "*" || s == "" {
			return "", nil
		}
		if from, to, ok := parseDate(s); ok && f.class == typeDate {
			if after {
				from = to.Add(-time.Millisecond)
			}
			return sortable(float64(from.UnixMilli())), nil
		}
		v, _, c := f.convert(leaf{name, kindString, s})
		if c != nil {
			return "", p.badValue(c)
		}
		return v.term, nil
	}
	from, e := term(low, !fromIncluded)
	if e != nil {
		return nil, e
	}
	to, e := term(high, toIncluded)
	if e != nil {
		return nil, e
	}
	if from == "" && to == "" {
		return exact(existsField, name), nil
	}
	q := bleve.NewTermRangeInclusiveQuery(from, to, &fromIncluded, &toIncluded)
	q.SetField(name)
	return q, nil
}

func (p *queryParser) badValue(c *cause) *apiError {
	e := badRequest("query_shard_exception", "failed to create query: "+c.Reason)
	e.Cause = c
	return e
}

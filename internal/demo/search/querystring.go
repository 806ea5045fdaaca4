package search

import (
	"fmt"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search/query"
)

// maxQueryDepth bounds parentheses inside parentheses.
const maxQueryDepth = 50

// queryParser turns a query string into a query over one index, whose mapping
// says what a value means.
type queryParser struct {
	text    string
	tokens  []token
	m       *mapping
	field   string // that terms without one are looked for in, "" is all
	and     bool   // terms side by side are all wanted
	nesting int
}

// parseQuery reads a query string.
func parseQuery(q string, m *mapping, field string, and bool) (query.Query, *apiError) {
	tokens, e := lex(q)
	if e != nil {
		return nil, e
	}
	p := &queryParser{text: q, tokens: tokens, m: m, field: field, and: and}
	if p.peek() == tokEnd {
		return bleve.NewMatchNoneQuery(), nil
	}
	out, e := p.disjunction()
	if e == nil && p.peek() != tokEnd {
		e = badQuery(q, "a parenthesis or an operator too many")
	}
	return out, e
}

func (p *queryParser) peek() tokenKind { return p.tokens[0].kind }

func (p *queryParser) next() token {
	t := p.tokens[0]
	if t.kind != tokEnd {
		p.tokens = p.tokens[1:]
	}
	return t
}

// clauses of one group by how they must match.
type clauses struct{ must, should, not []query.Query }

func (c *clauses) query() query.Query {
	if len(c.not) == 0 && len(c.must)+len(c.should) == 1 {
		return append(c.must, c.should...)[0]
	}
	b := bleve.NewBooleanQuery()
	b.AddMust(c.must...)
	b.AddShould(c.should...)
	b.AddMustNot(c.not...)
	if len(c.must) == 0 && len(c.should) == 0 {
		b.AddMust(bleve.NewMatchAllQuery())
	}
	if len(c.must) == 0 && len(c.should) > 0 {
		b.SetMinShould(1)
	}
	return b
}

// disjunction reads clauses up to a closing parenthesis or the end: OR binds
// least, then side by side, then AND.
func (p *queryParser) disjunction() (query.Query, *apiError) {
	var c clauses
	for {
		kind, q, e := p.conjunction()
		if e != nil {
			return nil, e
		}
		or := p.peek() == tokOr
		switch {
		case kind == tokMinus:
			c.not = append(c.not, q)
		case kind == tokPlus, p.and && !or && len(c.should) == 0:
			c.must = append(c.must, q)
		default:
			c.should = append(c.should, q)
		}
		if or {
			p.next()
		} else if k := p.peek(); k == tokEnd || k == tokClose {
			return c.query(), nil
		}
	}
}

// conjunction reads clauses joined by AND. A single clause keeps its sign.
func (p *queryParser) conjunction() (tokenKind, query.Query, *apiError) {
	kind, q, e := p.signed()
	if e != nil || p.peek() != tokAnd {
		return kind, q, e
	}
	var c clauses
	for {
		if kind == tokMinus {
			c.not = append(c.not, q)
		} else {
			c.must = append(c.must, q)
		}
		if p.peek() != tokAnd {
			return tokWord, c.query(), nil
		}
		p.next()
		if kind, q, e = p.signed(); e != nil {
			return kind, nil, e
		}
	}
}

// signed reads one clause with what stands before it.
func (p *queryParser) signed() (tokenKind, query.Query, *apiError) {
	kind := tokWord
	switch p.peek() {
	case tokPlus:
		p.next()
		kind = tokPlus
	case tokMinus, tokNot:
		p.next()
		kind = tokMinus
	}
	q, e := p.clause()
	return kind, q, e
}

func (p *queryParser) clause() (query.Query, *apiError) {
	t := p.next()
	switch t.kind {
	case tokOpen:
		return p.group()
	case tokPhrase:
		return p.anyField(t)
	case tokWord:
		if p.peek() != tokColon {
			return p.anyField(t)
		}
		p.next()
		return p.inField(t.text)
	}
	return nil, badQuery(p.text, "a term is missing")
}

func (p *queryParser) group() (query.Query, *apiError) {
	if p.nesting++; p.nesting > maxQueryDepth {
		return nil, badQuery(p.text, "parentheses are nested too deeply")
	}
	q, e := p.disjunction()
	p.nesting--
	if e == nil && p.next().kind != tokClose {
		e = badQuery(p.text, "a parenthesis is not closed")
	}
	return q, e
}

// inField reads what comes after "name:".
func (p *queryParser) inField(name string) (query.Query, *apiError) {
	switch t := p.next(); t.kind {
	case tokOpen:
		outer := p.field
		p.field = name
		q, e := p.group()
		p.field = outer
		return q, e
	case tokRange:
		return p.interval(name, t.text)
	case tokPlus, tokMinus: // a signed number
		v := p.next()
		if v.kind != tokWord {
			return nil, badQuery(p.text, "a value is missing")
		}
		if t.kind == tokMinus {
			v.text = "-" + v.text
		}
		return p.value(name, v)
	case tokWord, tokPhrase:
		if name == existsField {
			return exact(existsField, t.text), nil
		}
		if name == "*" && t.text == "*" {
			return bleve.NewMatchAllQuery(), nil
		}
		if t.kind == tokWord && (t.text[0] == '<' || t.text[0] == '>') {
			return p.comparison(name, t.text)
		}
		return p.value(name, t)
	}
	return nil, badQuery(p.text, "a value is missing")
}

// interval reads [a TO b], with { and } for bounds that are left out.
func (p *queryParser) interval(name, text string) (query.Query, *apiError) {
	low, high, ok := strings.Cut(text[1:len(text)-1], " TO ")
	if !ok {
		return nil, badQuery(p.text, "a range is written [from TO to]")
	}
	return p.bounds(name, strings.TrimSpace(low), strings.TrimSpace(high), text[0] == '[', text[len(text)-1] == ']')
}

// comparison reads >a, >=a, <a and <=a.
func (p *queryParser) comparison(name, text string) (query.Query, *apiError) {
	v := strings.TrimLeft(text, "<>=")
	inclusive := strings.HasPrefix(text[1:], "=")
	if v == "" {
		return nil, badQuery(p.text, fmt.Sprintf("%s needs a value", text))
	}
	if text[0] == '>' {
		return p.bounds(name, v, "*", inclusive, true)
	}
	return p.bounds(name, "*", v, true, inclusive)
}

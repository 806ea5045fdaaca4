package search

import (
	"strings"
	"unicode/utf8"
)

// maxWildcards bounds the automaton that a pattern becomes.
const maxWildcards = 5

// token is one piece of a query string.
type token struct {
	kind tokenKind
	text string // with escapes undone, except in a wildcard pattern
	wild bool   // text is a pattern
}

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokWord
	tokPhrase
	tokRange // text is what is between the brackets, with them
	tokColon
	tokOpen
	tokClose
	tokAnd
	tokOr
	tokNot
	tokPlus
	tokMinus
)

// lex splits a query string. It keeps the syntax of Lucene's classic parser,
// without regular expressions and fuzzy terms.
func lex(q string) ([]token, *apiError) {
	if !utf8.ValidString(q) {
		return nil, badQuery(strings.ToValidUTF8(q, "?"), "it is not UTF-8")
	}
	var out []token
	for i := 0; i < len(q); {
		rest := q[i:]
		switch c := q[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '(':
			out = append(out, token{kind: tokOpen})
			i++
		case c == ')':
			out = append(out, token{kind: tokClose})
			i++
		case c == ':':
			out = append(out, token{kind: tokColon})
			i++
		case c == '+':
			out = append(out, token{kind: tokPlus})
			i++
		case c == '-':
			out = append(out, token{kind: tokMinus})
			i++
		case c == '!':
			out = append(out, token{kind: tokNot})
			i++
		case strings.HasPrefix(rest, "&&"):
			out = append(out, token{kind: tokAnd})
			i += 2
		case strings.HasPrefix(rest, "||"):
			out = append(out, token{kind: tokOr})
			i += 2
		case c == '"':
			text, n := quoted(rest)
			if n == 0 {
				return nil, badQuery(q, "a quote is not closed")
			}
			out = append(out, token{kind: tokPhrase, text: text})
			i += n
		case (c == '[' || c == '{') && afterColon(out):
			n := strings.IndexAny(rest, "]}")
			if n < 0 {
				return nil, badQuery(q, "a range is not closed")
			}
			out = append(out, token{kind: tokRange, text: rest[:n+1]})
			i += n + 1
		case c == '/' && afterColon(out):
			return nil, badQuery(q, "regular expressions are not supported here")
		case c == '~':
			return nil, badQuery(q, "fuzzy terms are not supported here")
		case c == '^': // a boost changes no match
			i++
			for i < len(q) && strings.IndexByte("0123456789.", q[i]) >= 0 {
				i++
			}
		default:
			t, n := word(rest)
			if strings.Count(t.text, "*")+strings.Count(t.text, "?") > maxWildcards {
				return nil, badQuery(q, "a term has too many wildcards")
			}
			out = append(out, t)
			i += n
		}
	}
	return append(out, token{kind: tokEnd}), nil
}

func afterColon(ts []token) bool { return len(ts) > 0 && ts[len(ts)-1].kind == tokColon }

// quoted reads a phrase and gives its length in q, 0 if it is not closed.
func quoted(q string) (string, int) {
	var b strings.Builder
	for i := 1; i < len(q); i++ {
		switch {
		case q[i] == '\\' && i+1 < len(q):
			i++
			b.WriteByte(q[i])
		case q[i] == '"':
			return b.String(), i + 1
		default:
			b.WriteByte(q[i])
		}
	}
	return "", 0
}

// word reads a term, a pattern or an operator. It takes at least one byte.
func word(q string) (token, int) {
	var plain, pattern strings.Builder
	wild, escaped := false, false
	i := 0
	for ; i < len(q); i++ {
		c := q[i]
		if c == '\\' && i+1 < len(q) {
			i++
			plain.WriteByte(q[i])
			pattern.WriteString(`\` + q[i:i+1])
			escaped = true
			continue
		}
		if i > 0 && strings.IndexByte(" \t\r\n():\"^~", c) >= 0 {
			break
		}
		wild = wild || c == '*' || c == '?'
		plain.WriteByte(c)
		pattern.WriteByte(c)
	}
	if !escaped {
		switch plain.String() {
		case "AND":
			return token{kind: tokAnd}, i
		case "OR":
			return token{kind: tokOr}, i
		case "NOT":
			return token{kind: tokNot}, i
		}
	}
	if wild {
		return token{kind: tokWord, text: pattern.String(), wild: true}, i
	}
	return token{kind: tokWord, text: plain.String()}, i
}

func badQuery(q, why string) *apiError {
	e := badRequest("query_shard_exception", "Failed to parse query ["+q+"]")
	e.Cause = &cause{typeParse, "Cannot parse '" + q + "': " + why}
	return e
}

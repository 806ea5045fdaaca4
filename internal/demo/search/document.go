package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// kind is the form of a JSON value.
type kind uint8

const (
	kindString kind = iota
	kindNumber
	kindBool
	kindObject // an object as such; its members are leaves of their own
)

// leaf is one value of a document with its dotted path. Elements of an array
// have the array's path; nulls are left out, as they are in a real index.
type leaf struct {
	path string
	kind kind
	text string // a string's content, or the literal
}

// The limits of Elasticsearch's own settings index.mapping.depth.limit, and a
// bound on arrays inside arrays.
const (
	maxObjectDepth = 20
	maxArrayDepth  = 100
)

// metadataFields cannot be members of a document.
var metadataFields = map[string]bool{
	"_id": true, "_index": true, "_routing": true, "_source": true, "_seq_no": true,
	"_version": true, "_primary_term": true, "_field_names": true, "_ignored": true,
}

// parseDocument checks a document as strictly as a server does: one object,
// valid UTF-8, no key twice, nothing after it.
func parseDocument(source []byte) ([]leaf, *apiError) {
	if len(bytes.TrimSpace(source)) == 0 {
		return nil, badRequest(typeMapper, "failed to parse, document is empty")
	}
	if !utf8.Valid(source) {
		return nil, unparsable("Invalid UTF-8 start byte")
	}
	dec := json.NewDecoder(bytes.NewReader(source))
	dec.UseNumber()
	p := &docParser{dec: dec}
	tok, err := dec.Token()
	if err != nil {
		return nil, unparsable(err.Error())
	}
	if tok != json.Delim('{') {
		return nil, badRequest(typeMapper, "failed to parse: expected START_OBJECT")
	}
	if e := p.object("", 1); e != nil {
		return nil, e
	}
	if rest := bytes.TrimSpace(source[dec.InputOffset():]); len(rest) > 0 {
		return nil, unparsable("content after the end of the object")
	}
	return p.leaves, nil
}

func unparsable(reason string) *apiError {
	e := badRequest(typeMapper, "failed to parse")
	e.Cause = &cause{typeJSON, reason}
	return e
}

type docParser struct {
	dec    *json.Decoder
	leaves []leaf
}

// object reads the members of an object whose brace has been read.
func (p *docParser) object(prefix string, depth int) *apiError {
	if depth > maxObjectDepth {
		return badRequest(typeArgument, fmt.Sprintf("Limit of mapping depth [%d] has been exceeded due to object field [%s]", maxObjectDepth, strings.TrimSuffix(prefix, ".")))
	}
	var keys []string
	for {
		tok, err := p.dec.Token()
		if err != nil {
			return unparsable(err.Error())
		}
		if tok == json.Delim('}') {
			return nil
		}
		key, ok := tok.(string)
		if !ok {
			return unparsable(fmt.Sprintf("unexpected %v", tok))
		}
		for _, k := range keys { // objects have few keys: a map costs more
			if k == key {
				return unparsable("Duplicate field '" + key + "'")
			}
		}
		keys = append(keys, key)
		if e := checkKey(prefix, key); e != nil {
			return e
		}
		if e := p.value(prefix+key, depth, 0); e != nil {
			return e
		}
	}
}

func checkKey(prefix, key string) *apiError {
	if prefix == "" && metadataFields[key] {
		return badRequest(typeMapper, "Field ["+key+"] is a metadata field and cannot be added inside a document. Use the index API request parameters.")
	}
	if strings.TrimSpace(key) == "" {
		return badRequest(typeMapper, "failed to parse: field name cannot be an empty string")
	}
	for part := range strings.SplitSeq(key, ".") {
		if strings.TrimSpace(part) == "" {
			return badRequest(typeMapper, "failed to parse: object field starting or ending with a [.] makes object resolution ambiguous: ["+key+"]")
		}
	}
	return nil
}

// value reads one value, of a member or of an array's element.
func (p *docParser) value(path string, depth, arrays int) *apiError {
	tok, err := p.dec.Token()
	if err != nil {
		return unparsable(err.Error())
	}
	switch v := tok.(type) {
	case json.Delim:
		if v == '{' {
			p.leaves = append(p.leaves, leaf{path: path, kind: kindObject})
			return p.object(path+".", depth+1)
		}
		if arrays == maxArrayDepth {
			return unparsable("arrays are nested too deeply")
		}
		for p.dec.More() {
			if e := p.value(path, depth, arrays+1); e != nil {
				return e
			}
		}
		if _, err := p.dec.Token(); err != nil {
			return unparsable(err.Error())
		}
	case string:
		p.leaves = append(p.leaves, leaf{path, kindString, v})
	case json.Number:
		p.leaves = append(p.leaves, leaf{path, kindNumber, v.String()})
	case bool:
		p.leaves = append(p.leaves, leaf{path, kindBool, fmt.Sprint(v)})
	}
	return nil
}

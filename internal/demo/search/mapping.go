package search

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// fieldType is the type of a field as a mapping names it.
type fieldType string

const (
	typeObject  fieldType = "object"
	typeText    fieldType = "text"
	typeKeyword fieldType = "keyword"
	typeLong    fieldType = "long"
	typeFloat   fieldType = "float"
	typeBoolean fieldType = "boolean"
	typeDate    fieldType = "date"
)

// unchecked types are kept in the source, and neither checked nor indexed.
var unchecked = []fieldType{"ip", "geo_point", "geo_shape", "binary", "flattened", "flat_object", "nested", "completion", "dense_vector", "knn_vector", "alias"}

// sameAs maps the types that differ only in width to the one that stands for them.
var sameAs = map[fieldType]fieldType{
	typeText: typeText, typeKeyword: typeKeyword, "constant_keyword": typeKeyword, "wildcard": typeKeyword, "match_only_text": typeText,
	typeLong: typeLong, "integer": typeLong, "short": typeLong, "byte": typeLong, "unsigned_long": typeLong,
	typeFloat: typeFloat, "double": typeFloat, "half_float": typeFloat, "scaled_float": typeFloat,
	typeBoolean: typeBoolean, typeDate: typeDate, "date_nanos": typeDate, typeObject: typeObject,
}

// field is one field of a mapping.
type field struct {
	name            fieldType // as declared
	class           fieldType // what it is treated as; "" is unchecked
	anyFormat       bool      // a date of a format of its own, which is not checked
	ignoreMalformed bool
}

// maxFields is Elasticsearch's default of index.mapping.total_fields.limit.
const maxFields = 1000

// mapping is the fields of one index by dotted path.
type mapping struct {
	fields  map[string]field
	dynamic string // "true", "false" or "strict"
}

func newMapping() *mapping { return &mapping{fields: make(map[string]field), dynamic: "true"} }

// fieldSpec is a field as PUT /{index} and _mapping write it.
type fieldSpec struct {
	Type            fieldType            `json:"type"`
	Format          string               `json:"format"`
	IgnoreMalformed bool                 `json:"ignore_malformed"`
	Properties      map[string]fieldSpec `json:"properties"`
}

// mappingSpec is the "mappings" of an index.
type mappingSpec struct {
	Dynamic    json.RawMessage      `json:"dynamic"`
	Properties map[string]fieldSpec `json:"properties"`
}

// declare adds the fields of a specification.
func (m *mapping) declare(spec mappingSpec) *apiError {
	if d := strings.Trim(string(spec.Dynamic), `"`); d != "" {
		if !slices.Contains([]string{"true", "false", "strict"}, d) {
			return badRequest(typeMapper, "Failed to parse mapping: Could not convert ["+d+"] to dynamic")
		}
		m.dynamic = d
	}
	return m.properties("", spec.Properties)
}

func (m *mapping) properties(prefix string, specs map[string]fieldSpec) *apiError {
	for name, spec := range specs {
		path := prefix + name
		f := field{name: spec.Type, class: sameAs[spec.Type], ignoreMalformed: spec.IgnoreMalformed}
		f.anyFormat = spec.Format != "" && spec.Format != dateFormat
		switch {
		case spec.Type == "" && spec.Properties != nil:
			f.name, f.class = typeObject, typeObject
		case f.class == "" && !slices.Contains(unchecked, spec.Type):
			return badRequest(typeMapper, fmt.Sprintf("Failed to parse mapping: No handler for type [%s] declared on field [%s]", spec.Type, name))
		}
		if old, ok := m.fields[path]; ok && old.name != f.name {
			return badRequest(typeArgument, fmt.Sprintf("mapper [%s] cannot be changed from type [%s] to [%s]", path, old.name, f.name))
		}
		if e := m.add(path, f); e != nil {
			return e
		}
		if f.class == typeObject {
			if e := m.properties(path+".", spec.Properties); e != nil {
				return e
			}
		}
	}
	return nil
}

func (m *mapping) add(path string, f field) *apiError {
	if _, ok := m.fields[path]; !ok && len(m.fields) >= maxFields {
		return badRequest(typeArgument, fmt.Sprintf("Limit of total fields [%d] has been exceeded", maxFields))
	}
	m.fields[path] = f
	return nil
}

// admit checks the leaves of a document against the mapping and gives the
// values to index. Fields that are new become part of the mapping, unless the
// document is refused.
func (m *mapping) admit(id string, leaves []leaf) ([]indexed, *apiError) {
	var added []string
	out := make([]indexed, 0, len(leaves))
	refuse := func(e *apiError) ([]indexed, *apiError) {
		for _, path := range added {
			delete(m.fields, path)
		}
		return nil, e
	}
	for i := range leaves {
		l := &leaves[i]
		f, ok := m.fields[l.path]
		if !ok {
			if e := m.parents(l.path, &added); e != nil {
				return refuse(e)
			}
			if m.hidden(l.path) {
				continue
			}
			switch m.dynamic {
			case "strict":
				return refuse(badRequest(typeStrict, fmt.Sprintf("mapping set to strict, dynamic introduction of [%s] within [_doc] is not allowed", l.path)))
			case "false":
				continue
			}
			f = dynamicField(*l)
			if e := m.add(l.path, f); e != nil {
				return refuse(&apiError{Status: e.Status, Type: typeMapper, Reason: "failed to parse", Cause: &cause{e.Type, e.Reason}})
			}
			added = append(added, l.path)
		}
		v, keep, c := f.convert(*l)
		switch {
		case c == nil && keep:
			v.path = l.path
			out = append(out, v)
		case c != nil && !f.ignoreMalformed:
			return refuse(f.refusal(id, *l, c))
		}
	}
	return out, nil
}

// parents makes sure that what is above path in the document's tree is an object.
func (m *mapping) parents(path string, added *[]string) *apiError {
	for i := range len(path) {
		if path[i] != '.' {
			continue
		}
		f, ok := m.fields[path[:i]]
		switch {
		case !ok && m.dynamic == "true":
			if e := m.add(path[:i], field{name: typeObject, class: typeObject}); e != nil {
				return e
			}
			*added = append(*added, path[:i])
		case ok && f.class != typeObject && f.class != "":
			return badRequest(typeMapper, fmt.Sprintf("Could not dynamically add mapping for field [%s]. Existing mapping for [%s] must be of type object but found [%s].", path, path[:i], f.name))
		}
	}
	return nil
}

// hidden tells whether path lies in a field that is not looked into.
func (m *mapping) hidden(path string) bool {
	for i := range len(path) {
		if path[i] == '.' {
			if f, ok := m.fields[path[:i]]; ok && f.class == "" {
				return true
			}
		}
	}
	return false
}

// dynamicField is the field that a value of no known field creates.
func dynamicField(l leaf) field {
	t := typeText
	switch l.kind {
	case kindObject:
		t = typeObject
	case kindBool:
		t = typeBoolean
	case kindNumber:
		t = typeLong
		if strings.ContainsAny(l.text, ".eE") {
			t = typeFloat
		}
	case kindString:
		if _, _, ok := parseDate(l.text); ok && strings.ContainsRune(l.text, '-') {
			t = typeDate
		}
	}
	return field{name: t, class: t}
}

package elasticsearch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"

	"penstock/pipeline"
)

// template names an index after a record. It is parsed once and used by one
// goroutine at a time.
type template struct {
	text  string
	parts []part
	// perRecord: a header or field decides, so that records of one partition and
	// day may differ.
	perRecord bool
	// unit is how many seconds of record time share a name; 0 if time plays no part.
	unit int64
	// topic: the topic's name is part of the index's.
	topic bool
}

// part appends one piece of the name; ok is false where the record lacks it.
type part struct {
	text   string // as written, for messages
	append func(dst []byte, r *pipeline.Record) (_ []byte, ok bool)
}

const placeholders = "{topic}, {partition}, {header:name}, {field:path} or {time:yyyy.MM.dd}"

// parseTemplate reads a template; errors name the placeholder that is wrong.
func parseTemplate(s string) (*template, error) {
	t := &template{text: s}
	if s == "" {
		return nil, errors.New("is required, such as logs-{topic}")
	}
	for rest := s; rest != ""; {
		open := strings.IndexAny(rest, "{}")
		if open < 0 {
			open = len(rest)
		}
		if open > 0 {
			if err := checkLiteral(rest[:open], rest == s); err != nil {
				return nil, err
			}
			t.parts = append(t.parts, literal(rest[:open]))
		}
		if rest = rest[open:]; rest == "" {
			break
		}
		end := strings.IndexByte(rest, '}')
		if rest[0] == '}' || end < 0 {
			return nil, fmt.Errorf("%q: a brace is not closed or not opened at %q: write placeholders as %s", s, rest, placeholders)
		}
		p, err := t.placeholder(rest[1:end])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", s, err)
		}
		p.text = rest[:end+1]
		t.parts = append(t.parts, p)
		rest = rest[end+1:]
	}
	return t, nil
}

func (t *template) usesTime() bool { return t.unit > 0 }

// placeholder makes the part for the text between braces.
func (t *template) placeholder(s string) (part, error) {
	name, argument, hasArgument := strings.Cut(s, ":")
	switch name {
	case "topic", "partition":
		if hasArgument {
			return part{}, fmt.Errorf("{%s} takes no argument: write {%s}", s, name)
		}
		if name == "partition" {
			return part{append: appendPartition}, nil
		}
		t.topic = true
		return part{append: appendTopic}, nil
	case "header", "field", "time":
		if argument == "" {
			return part{}, fmt.Errorf("{%s} needs an argument, such as {header:tenant}, {field:service.name} or {time:yyyy.MM.dd}", s)
		}
	default:
		return part{}, fmt.Errorf("{%s} is not known: write %s; a field of the document is {field:%s}", s, placeholders, s)
	}
	if name == "time" {
		pattern, err := parseTimePattern(argument)
		if err != nil {
			return part{}, err
		}
		if t.unit == 0 || pattern.unit < t.unit {
			t.unit = pattern.unit
		}
		return part{append: pattern.append}, nil
	}
	t.perRecord = true
	if name == "header" {
		return part{append: headerAppender(argument)}, nil
	}
	return part{append: fieldAppender(argument)}, nil
}

// render appends the name as the template has it, not yet made legal. missing
// is the placeholder that the record has nothing for, "" if there is none.
func (t *template) render(dst []byte, r *pipeline.Record) (_ []byte, missing string) {
	for i := range t.parts {
		var ok bool
		if dst, ok = t.parts[i].append(dst, r); !ok {
			return dst, t.parts[i].text
		}
	}
	return dst, ""
}

func literal(s string) part {
	return part{text: s, append: func(dst []byte, _ *pipeline.Record) ([]byte, bool) { return append(dst, s...), true }}
}

func appendTopic(dst []byte, r *pipeline.Record) ([]byte, bool) {
	return append(dst, r.Topic...), r.Topic != ""
}

func appendPartition(dst []byte, r *pipeline.Record) ([]byte, bool) {
	return strconv.AppendInt(dst, int64(r.Partition), 10), true
}

// headerAppender takes the last header of that name, as Kafka's own lastHeader
// does: whoever handled the record last added it.
func headerAppender(name string) func([]byte, *pipeline.Record) ([]byte, bool) {
	return func(dst []byte, r *pipeline.Record) ([]byte, bool) {
		for i := len(r.Headers) - 1; i >= 0; i-- {
			if r.Headers[i].Key == name {
				return append(dst, r.Headers[i].Value...), len(r.Headers[i].Value) > 0
			}
		}
		return dst, false
	}
}

// fieldAppender takes a string, number or boolean of the document. A dotted path
// means {"a":{"b":..}} or, as for the server, {"a.b":..}.
func fieldAppender(path string) func([]byte, *pipeline.Record) ([]byte, bool) {
	keys := strings.Split(path, ".")
	for i := range keys {
		keys[i] = gjson.Escape(keys[i])
	}
	nested, flat := strings.Join(keys, "."), gjson.Escape(path)
	return func(dst []byte, r *pipeline.Record) ([]byte, bool) {
		if len(r.Value) == 0 {
			return dst, false
		}
		// Without a copy: gjson writes nothing, and the result is copied below.
		document := unsafe.String(unsafe.SliceData(r.Value), len(r.Value))
		got := gjson.Get(document, nested)
		if !got.Exists() && nested != flat {
			got = gjson.Get(document, flat)
		}
		switch got.Type {
		case gjson.String:
			return append(dst, got.Str...), got.Str != ""
		case gjson.Number, gjson.True, gjson.False:
			return append(dst, got.Raw...), true // the number's own text, not a float's
		default:
			return dst, false
		}
	}
}

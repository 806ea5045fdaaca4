package search

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// dateFormat is the format of dates that a mapping has by default.
const dateFormat = "strict_date_optional_time||epoch_millis"

// indexed is one value in the form in which it is indexed.
type indexed struct {
	path  string
	class fieldType
	term  string // the text, the keyword, or the sortable form of a number
}

// convert gives the indexed form of a value, whether there is one, and why the
// field cannot hold the value.
func (f field) convert(l leaf) (v indexed, keep bool, c *cause) {
	v.class = f.class
	if f.class == "" {
		return v, false, nil
	}
	if (l.kind == kindObject) != (f.class == typeObject) {
		if l.kind == kindObject {
			return v, false, &cause{"illegal_state_exception", "Can't get text on a START_OBJECT"}
		}
		return v, false, &cause{typeArgument, "object mapping tried to parse field as object, but found a concrete value"}
	}
	switch f.class {
	case typeText, typeKeyword:
		v.term = l.text
	case typeLong, typeFloat:
		n, why := parseNumber(f.class, l)
		if why != nil {
			return v, false, why
		}
		v.term = sortable(n)
	case typeBoolean:
		if l.text != "true" && l.text != "false" && (l.kind != kindString || l.text != "") {
			return v, false, &cause{typeArgument, "Failed to parse value [" + l.text + "] as only [true] or [false] are allowed."}
		}
		v.term = l.text
	case typeDate:
		from, _, ok := parseDate(l.text)
		if !ok {
			if f.anyFormat {
				return v, false, nil
			}
			return v, false, &cause{typeArgument, "failed to parse date field [" + l.text + "] with format [" + dateFormat + "]"}
		}
		v.term = sortable(float64(from.UnixMilli()))
	case typeObject:
		return v, false, nil
	}
	return v, true, nil
}

func parseNumber(class fieldType, l leaf) (float64, *cause) {
	n, err := strconv.ParseFloat(strings.TrimSpace(l.text), 64)
	switch {
	case l.kind == kindBool || err != nil && n == 0, math.IsNaN(n):
		return 0, &cause{typeArgument, "For input string: \"" + l.text + "\""}
	case class == typeLong && math.Abs(n) >= 1<<64, math.IsInf(n, 0):
		return 0, &cause{typeArgument, "Value [" + l.text + "] is out of range for a " + string(class)}
	}
	return n, nil
}

// refusal is the item error of a value that its field cannot hold.
func (f field) refusal(id string, l leaf, c *cause) *apiError {
	if f.class == typeObject {
		return badRequest(typeMapper, fmt.Sprintf("object mapping for [%s] tried to parse field [%s] as object, but found a concrete value", l.path, l.path))
	}
	preview := l.text
	if l.kind == kindObject {
		preview = "{...}"
	}
	e := badRequest(typeMapper, fmt.Sprintf("failed to parse field [%s] of type [%s] in document with id '%s'. Preview of field's value: '%s'", l.path, f.name, id, preview))
	e.Cause = c
	return e
}

// sortable writes a number so that the order of the texts is the order of the
// numbers. Numbers are indexed as one such term each, which takes a quarter of
// the memory of bleve's own numeric fields with their many terms.
func sortable(n float64) string {
	if n == 0 {
		n = 0 // minus zero
	}
	b := math.Float64bits(n)
	if b&(1<<63) != 0 {
		b = ^b
	} else {
		b |= 1 << 63
	}
	return fmt.Sprintf("%016x", b)
}

var dateLayouts = []struct {
	layout string
	// span is how long a time of this precision lasts.
	span func(time.Time) time.Time
}{
	{"2006-01-02T15:04:05.999999999Z07:00", plus(time.Millisecond)},
	{"2006-01-02T15:04:05.999999999", plus(time.Millisecond)},
	{"2006-01-02T15:04:05.999999999Z0700", plus(time.Millisecond)},
	{"2006-01-02T15:04Z07:00", plus(time.Minute)},
	{"2006-01-02T15:04", plus(time.Minute)},
	{"2006-01-02", func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }},
	{"2006-01", func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }},
	{"2006", func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }},
}

func plus(d time.Duration) func(time.Time) time.Time {
	return func(t time.Time) time.Time { return t.Add(d) }
}

// parseDate reads a date of the default format, and gives the moment after it
// in its own precision: a day for "2026-01-02".
func parseDate(s string) (from, to time.Time, ok bool) {
	for _, l := range dateLayouts {
		if t, err := time.Parse(l.layout, s); err == nil {
			return t, l.span(t), true
		}
	}
	if ms, err := strconv.ParseInt(s, 10, 64); err == nil {
		t := time.UnixMilli(ms)
		return t, t.Add(time.Millisecond), true
	}
	return from, to, false
}

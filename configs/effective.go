package configs

import (
	"bufio"
	"encoding"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"penstock/configs/value"
)

// maxColumn is where comments stand at most; longer lines push theirs out.
const maxColumn = 56

// WriteEffective writes the configuration as YAML, each line with a comment
// that says where its value came from. Secrets, and passwords in URLs, are
// stars; apart from them the output loads to the same configuration.
func WriteEffective(w io.Writer, l *Loaded) error {
	lines := l.lines(l.schema, "")
	column := 0
	for _, line := range lines {
		if n := utf8.RuneCountInString(line.text); line.comment != "" && n <= maxColumn {
			column = max(column, n)
		}
	}
	out := bufio.NewWriter(w)
	for _, line := range lines {
		if line.comment == "" {
			fmt.Fprintln(out, line.text)
			continue
		}
		fmt.Fprintf(out, "%-*s  # %s\n", column, line.text, line.comment)
	}
	return out.Flush()
}

type line struct{ text, comment string }

func (l *Loaded) lines(s *field, indent string) []line {
	var lines []line
	for _, f := range s.children {
		if f.section {
			lines = append(lines, line{text: indent + f.key + ":"})
			lines = append(lines, l.lines(f, indent+"  ")...)
			continue
		}
		origin := strings.Map(visible, l.origins[f.path].String())
		lines = append(lines, line{indent + f.key + ": " + f.effective(), origin})
	}
	return lines
}

// visible keeps a comment on its line, whatever the file is called.
func visible(r rune) rune {
	if !unicode.IsPrint(r) {
		return '?'
	}
	return r
}

// effective is the field's value as YAML on one line.
func (f *field) effective() string { return render(f.value) }

func render(v reflect.Value) string {
	if v.Type() == durationType {
		return formatDuration(time.Duration(v.Int()))
	}
	if isText(v.Type()) {
		return renderText(v)
	}
	switch v.Kind() {
	case reflect.String:
		return quote(unexpand(value.RedactURLs(v.String())))
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = render(v.Index(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case reflect.Struct:
		items := make([]string, v.NumField())
		for i := range items {
			items[i] = v.Type().Field(i).Tag.Get("yaml") + ": " + render(v.Field(i))
		}
		return "{" + strings.Join(items, ", ") + "}"
	default:
		return fmt.Sprint(v.Interface())
	}
}

func renderText(v reflect.Value) string {
	text := fmt.Sprint(v.Interface())
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		if b, err := m.MarshalText(); err == nil {
			text = string(b)
		}
	}
	switch {
	case v.Type() == bytesType:
		return text // a number and a unit
	case text == "" && setText(reflect.New(v.Type()).Elem(), "") != nil:
		return "null" // not set, and not to be set to nothing
	}
	return quote(unexpand(value.RedactURLs(text)))
}

// formatDuration leaves out what is zero: 1m, not 1m0s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// plain is text that every reader of YAML takes as a text, also inside a list.
var (
	plain    = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./-]*$`)
	reserved = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n)$`)
)

// quote writes a text as YAML, in double quotes where it needs them.
func quote(s string) string {
	if plain.MatchString(s) && !reserved.MatchString(s) {
		return s
	}
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case unicode.IsPrint(r):
			out.WriteRune(r)
		case r < 0x10000:
			out.WriteString(`\u` + hex(r, 4))
		default:
			out.WriteString(`\U` + hex(r, 8))
		}
	}
	out.WriteByte('"')
	return out.String()
}

func hex(r rune, width int) string {
	s := strconv.FormatInt(int64(r), 16)
	return strings.Repeat("0", width-len(s)) + s
}

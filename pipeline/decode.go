package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Document is a record made ready for a sink: one JSON object.
type Document struct {
	value []byte
	form  form
}

type form uint8

const (
	formObject form = iota // value is a JSON object; line feeds in it are white space
	formRepair             // the same, with bytes that are not UTF-8 to be replaced
	formText               // value is text, to be wrapped as {"message": "..."}
)

// Len is about the number of bytes that AppendTo appends.
func (d Document) Len() int {
	if d.form == formText {
		return len(d.value) + len(d.value)/8 + len(textOpen) + len(textClose)
	}
	return len(d.value)
}

const (
	textOpen  = `{"message":"`
	textClose = `"}`
)

// AppendTo appends the document as one line of UTF-8, without the final line feed.
func (d Document) AppendTo(dst []byte) []byte {
	if d.form == formText {
		dst = append(dst, textOpen...)
		dst = appendJSONText(dst, d.value)
		return append(dst, textClose...)
	}
	start := len(dst)
	if d.form == formRepair {
		dst = appendValidUTF8(dst, d.value)
	} else {
		dst = append(dst, d.value...)
	}
	// A raw line feed would end the line early. Between tokens it is white space,
	// so a tab says the same; inside a string it is refused by the server before
	// and after, so nothing is altered in silence.
	line := dst[start:]
	for i := bytes.IndexByte(line, '\n'); i >= 0; i = bytes.IndexByte(line, '\n') {
		line[i] = '\t'
		line = line[i+1:]
	}
	return dst
}

// decoder turns record values into documents, by policy.
type decoder struct {
	text   bool
	config DocumentsConfig
}

// Reason types of records that never reach a sink.
const (
	ReasonTombstone   = "tombstone"
	ReasonBlank       = "blank"
	ReasonNotObject   = "not_a_json_object"
	ReasonInvalidUTF8 = "invalid_utf8"
	ReasonInvalidJSON = "invalid_json"
	ReasonFramed      = "schema_registry_framing"
)

// skipped is the error of a record that a stated policy leaves out.
type skipped struct{ policy policy }

func (s *skipped) Error() string { return "skipped: " + s.policy.String() }

// policy is why a record is left out.
type policy uint8

const (
	policyControl policy = iota // a transaction marker
	policyTombstone
	policyBlank
	numPolicies
)

func (p policy) String() string {
	return [numPolicies]string{"control", ReasonTombstone, ReasonBlank}[p]
}

var (
	skipTombstone = &skipped{policyTombstone}
	skipBlank     = &skipped{policyBlank}
	bom           = []byte("\xef\xbb\xbf")
)

// decode checks one record. The error is a *skipped or a *DocumentError.
func (d *decoder) decode(r *Record) (Document, error) {
	v := r.Value
	if v == nil {
		return Document{}, d.absent(d.config.Tombstones, skipTombstone, "the value is null (a tombstone)")
	}
	if d.text {
		return d.decodeText(v)
	}
	// The common case first: an object of valid UTF-8.
	if len(v) > 0 && v[0] == '{' && utf8.Valid(v) && d.config.Check != CheckFull {
		return Document{value: v}, nil
	}
	return d.decodeObject(v)
}

func (d *decoder) absent(policy string, skip *skipped, text string) error {
	if policy == PolicySkip {
		return skip
	}
	return refuse(skip.policy.String(), text)
}

func refuse(kind, text string) error {
	return &DocumentError{Reason{Type: kind, Text: text}}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func trim(v []byte) []byte {
	v = bytes.TrimPrefix(v, bom)
	for len(v) > 0 && isSpace(v[0]) {
		v = v[1:]
	}
	for len(v) > 0 && isSpace(v[len(v)-1]) {
		v = v[:len(v)-1]
	}
	return v
}

func (d *decoder) decodeObject(raw []byte) (Document, error) {
	v := trim(raw)
	switch {
	case len(v) == 0:
		return Document{}, d.absent(d.config.Blank, skipBlank, "the value is blank")
	case len(raw) > 5 && raw[0] == 0:
		return Document{}, refuse(ReasonFramed, fmt.Sprintf("the value starts with a zero byte, as schema-registry serializers write it (schema id %d): send plain JSON to this topic", int(raw[1])<<24|int(raw[2])<<16|int(raw[3])<<8|int(raw[4])))
	case v[0] != '{':
		return Document{}, refuse(ReasonNotObject, `the value is not a JSON object (it does not start with "{"); set decode: text to wrap lines of text`)
	}
	doc := Document{value: v}
	if !utf8.Valid(v) {
		if d.config.InvalidUTF8 != PolicyReplace {
			return Document{}, refuse(ReasonInvalidUTF8, invalidUTF8Text(v))
		}
		doc.form = formRepair
	}
	if d.config.Check == CheckFull && !json.Valid(v) {
		return Document{}, refuse(ReasonInvalidJSON, "the value starts as a JSON object and is not valid JSON, or more follows after the object")
	}
	return doc, nil
}

func (d *decoder) decodeText(raw []byte) (Document, error) {
	v := bytes.TrimPrefix(raw, bom)
	for len(v) > 0 && (v[len(v)-1] == '\n' || v[len(v)-1] == '\r') {
		v = v[:len(v)-1]
	}
	if len(trim(v)) == 0 {
		return Document{}, d.absent(d.config.Blank, skipBlank, "the value is blank")
	}
	if d.config.InvalidUTF8 != PolicyReplace && !utf8.Valid(v) {
		return Document{}, refuse(ReasonInvalidUTF8, invalidUTF8Text(v))
	}
	return Document{value: v, form: formText}, nil
}

func invalidUTF8Text(v []byte) string {
	for i := 0; i < len(v); {
		r, n := utf8.DecodeRune(v[i:])
		if r == utf8.RuneError && n == 1 {
			return fmt.Sprintf("the value is not UTF-8: byte 0x%02x at position %d; set documents.invalid_utf8: replace to store it with U+FFFD", v[i], i)
		}
		i += n
	}
	return "the value is not UTF-8"
}

func appendValidUTF8(dst, v []byte) []byte {
	for len(v) > 0 {
		r, n := utf8.DecodeRune(v)
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, "\ufffd"...)
		} else {
			dst = append(dst, v[:n]...)
		}
		v = v[n:]
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// appendJSONText appends v as the inside of a JSON string. Bytes that are not
// UTF-8 become U+FFFD.
func appendJSONText(dst, v []byte) []byte {
	start := 0
	for i := 0; i < len(v); {
		c := v[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(v[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, v[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		dst = append(dst, v[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(dst, v[start:]...)
}

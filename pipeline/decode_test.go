package pipeline

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDecode(t *testing.T) {
	object := DefaultDocumentsConfig()
	with := func(f func(*DocumentsConfig)) DocumentsConfig { c := object; f(&c); return c }
	full := with(func(c *DocumentsConfig) { c.Check = CheckFull })
	replace := with(func(c *DocumentsConfig) { c.InvalidUTF8 = PolicyReplace })
	letters := with(func(c *DocumentsConfig) { c.Tombstones, c.Blank = PolicyDeadLetter, PolicyDeadLetter })
	for _, c := range []struct {
		name   string
		text   bool
		config DocumentsConfig
		value  string
		null   bool
		want   string // the document
		skip   string // or the policy that skips it
		refuse string // or the type of the refusal
	}{
		{name: "object", value: `{"a":1}`, want: `{"a":1}`},
		{name: "numbers keep their digits", value: `{"id":9007199254740993,"price":1.10,"big":1e400,"u":18446744073709551615}`, want: `{"id":9007199254740993,"price":1.10,"big":1e400,"u":18446744073709551615}`},
		{name: "pretty-printed", value: "{\r\n  \"a\": 1\r\n}", want: "{\r\t  \"a\": 1\r\t}"},
		{name: "trailing line feeds", value: "{\"a\":1}\n\n", want: "{\"a\":1}\t\t"},
		{name: "escaped line feed stays", value: `{"m":"line1\nline2"}`, want: `{"m":"line1\nline2"}`},
		{name: "line separator stays", value: "{\"m\":\"x\u2028y\"}", want: "{\"m\":\"x\u2028y\"}"},
		{name: "leading spaces", value: "  {\"a\":1}", want: `{"a":1}`},
		{name: "byte-order mark", value: "\xef\xbb\xbf{\"a\":1}", want: `{"a":1}`},
		{name: "two objects are the server's to refuse", value: `{"a":1}{"b":2}`, want: `{"a":1}{"b":2}`},
		{name: "two objects with full check", config: full, value: `{"a":1}{"b":2}`, refuse: ReasonInvalidJSON},
		{name: "cut off with full check", config: full, value: `{"a":`, refuse: ReasonInvalidJSON},
		{name: "object with full check", config: full, value: `{"a":1}`, want: `{"a":1}`},
		{name: "number", value: `42`, refuse: ReasonNotObject},
		{name: "string", value: `"text"`, refuse: ReasonNotObject},
		{name: "literal null is no tombstone", value: `null`, refuse: ReasonNotObject},
		{name: "true", value: `true`, refuse: ReasonNotObject},
		{name: "array", value: `[{"a":1}]`, refuse: ReasonNotObject},
		{name: "plain text", value: `plain text`, refuse: ReasonNotObject},
		{name: "schema registry framing", value: "\x00\x00\x00\x00\x07{\"a\":1}", refuse: ReasonFramed},
		{name: "Latin-1", value: "{\"m\":\"caf\xe9\"}", refuse: ReasonInvalidUTF8},
		{name: "Latin-1 replaced", config: replace, value: "{\"m\":\"caf\xe9\"}", want: "{\"m\":\"caf\ufffd\"}"},
		{name: "tombstone", null: true, skip: ReasonTombstone},
		{name: "tombstone to the dead letters", config: letters, null: true, refuse: ReasonTombstone},
		{name: "no bytes", value: "", skip: ReasonBlank},
		{name: "white space", value: " \t\r\n", skip: ReasonBlank},
		{name: "blank to the dead letters", config: letters, value: " ", refuse: ReasonBlank},
		{name: "text", text: true, value: `he said "no"\`, want: `{"message":"he said \"no\"\\"}`},
		{name: "text of two lines", text: true, value: "line1\nline2\r\n", want: `{"message":"line1\nline2"}`},
		{name: "text with control characters", text: true, value: "a\x00\tb\x1f", want: `{"message":"a\u0000\tb\u001f"}`},
		{name: "text that is JSON", text: true, value: `{"a":1}`, want: `{"message":"{\"a\":1}"}`},
		{name: "text beyond ASCII", text: true, value: "grüße 🙂\u2028", want: "{\"message\":\"grüße 🙂\u2028\"}"},
		{name: "text that is not UTF-8", text: true, value: "a\x00b\xff", refuse: ReasonInvalidUTF8},
		{name: "text repaired", text: true, config: replace, value: "a\x00b\xffc", want: `{"message":"a\u0000b` + "\ufffd" + `c"}`},
		{name: "blank text", text: true, value: "\n", skip: ReasonBlank},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.config == (DocumentsConfig{}) {
				c.config = object
			}
			r := &Record{Value: []byte(c.value)}
			if c.null {
				r.Value = nil
			}
			d := decoder{text: c.text, config: c.config}
			doc, err := d.decode(r)
			if s, ok := err.(*skipped); ok {
				if s.policy.String() != c.skip {
					t.Fatalf("skipped as %s, want %q", s.policy, c.skip)
				}
				return
			}
			if e, ok := err.(*DocumentError); ok {
				if e.Reason.Type != c.refuse || e.Reason.Text == "" {
					t.Fatalf("refused as %q (%s), want %q", e.Reason.Type, e.Reason.Text, c.refuse)
				}
				return
			}
			if c.skip != "" || c.refuse != "" {
				t.Fatalf("taken, want skip %q or refusal %q", c.skip, c.refuse)
			}
			got := string(doc.AppendTo([]byte("before ")))
			if got != "before "+c.want {
				t.Errorf("document is %q, want %q", got[7:], c.want)
			}
			if string(r.Value) != c.value {
				t.Errorf("the record's own bytes changed to %q", r.Value)
			}
		})
	}
}

// Whatever comes, a document is one line of UTF-8; wrapped text is valid JSON
// that gives the text back.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "{\n}", "\xef\xbb\xbf{}", "a\x00\xff\"\\", "\u2028", ""} {
		f.Add([]byte(s), true, true)
		f.Add([]byte(s), false, false)
	}
	f.Fuzz(func(t *testing.T, value []byte, text, replace bool) {
		c := DefaultDocumentsConfig()
		if replace {
			c.InvalidUTF8 = PolicyReplace
		}
		d := decoder{text: text, config: c}
		before := string(value)
		doc, err := d.decode(&Record{Value: value})
		if string(value) != before {
			t.Fatal("the record's bytes were changed")
		}
		if err != nil {
			return
		}
		line := doc.AppendTo(nil)
		if strings.ContainsRune(string(line), '\n') || !utf8.Valid(line) || line[0] != '{' {
			t.Fatalf("not a safe line: %q", line)
		}
		if text {
			var back struct{ Message string }
			if err := json.Unmarshal(line, &back); err != nil {
				t.Fatalf("%q is not valid JSON: %v", line, err)
			}
			want := strings.ToValidUTF8(strings.TrimRight(strings.TrimPrefix(before, "\ufeff"), "\r\n"), "\ufffd")
			if !replace && back.Message != want {
				t.Fatalf("message is %q, want %q", back.Message, want)
			}
		}
	})
}

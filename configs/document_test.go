package configs

import (
	"testing"
)

func TestFileRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"Decode: a":                     "Decode: is not a key that Penstock knows: write decode (penstock.yaml:1)",
		"decod: a":                      "decod: is not a key that Penstock knows: did you mean decode? (penstock.yaml:1)",
		"\nsource: {brokers: [a]}":      "source.brokers: is not a key that Penstock knows: did you mean source.kafka.brokers? (penstock.yaml:2)",
		"kafka: {brokers: [a]}":         "kafka: is not a key that Penstock knows: did you mean source.kafka? (penstock.yaml:1)",
		"source.kafka.count: 5":         "source.kafka.count: is not a key that Penstock knows: write its parts as nested sections, source: kafka: count (penstock.yaml:1)",
		"source: {kafka: {zzzzzz: 1}}":  "source.kafka.zzzzzz: is not a key that Penstock knows: known here are brokers, sasl, size, count, small, word, sizes, words (penstock.yaml:1)",
		"decode: a\ndecode: a":          "decode: is there twice, first in line 1: keep one (penstock.yaml:2)",
		"source: {}\nsource: {}":        "source: is there twice, first in line 1: keep one (penstock.yaml:2)",
		"source: [a]":                   "source: is a list where a section with keys is expected: write kafka: brokers: ... (penstock.yaml:1)",
		"decode: {a: b}":                "decode: is a section with keys where a single value is expected: write one value, in quotes if it has special characters (penstock.yaml:1)",
		"decode: !!binary YQ==":         "decode: has a YAML tag, which is not supported: leave out the word that begins with ! (penstock.yaml:1)",
		"sink: {<<: {index: a}}":        "sink.<<: merging is not supported: write the keys out (penstock.yaml:1)",
		"sink: {[a]: b}":                "sink: holds a list as a key: a key is one word (penstock.yaml:1)",
		"sink:\n  urls: [a,\n    ~]":    "sink.urls[1]: is empty: write a value or remove the item (penstock.yaml:3)",
		"sink:\n  urls: [a,\n    [b]]":  "sink.urls[1]: is a list where a single value is expected: write one value, in quotes if it has special characters (penstock.yaml:3)",
		"sink: {headers: {X-A: t}}":     "sink.headers: is a section with keys where a list is expected: write [{name: ..., value: ...}] (penstock.yaml:1)",
		"sink: {headers: [X-A]}":        "sink.headers[0]: is a single value where keys are expected: write {name: ..., value: ...} (penstock.yaml:1)",
		"sink: {headers: [{nam: x}]}":   "sink.headers[0].nam: is not a key that Penstock knows here: write {name: ..., value: ...} (penstock.yaml:1)",
		"sink: {routes: [{after: 5}]}":  `sink.routes[0].after: "5" has no unit: write 5s, or 5ms, 5m, 5h if you mean that (penstock.yaml:1)`,
		"source: {kafka: {word: abc}}":  "source.kafka.word: is not in upper case: write ABC (penstock.yaml:1)",
		"sink: {password: [s3cret]}":    "sink.password: is a list where a single value is expected: write ${NAME}, file:/path or the value in quotes (penstock.yaml:1)",
		"sink: {password: {s3cret: a}}": "sink.password: is a section with keys where a single value is expected: write ${NAME}, file:/path or the value in quotes (penstock.yaml:1)",
	} {
		_, _, err := loadText(t, text)
		wantLines(t, err, want)
	}
}

// An item's keys are unique as well; the second is named, whatever it holds.
func TestDuplicateInItem(t *testing.T) {
	_, _, err := loadText(t, "sink: {headers: [{name: a, name: b}]}")
	wantLines(t, err, "sink.headers[0].name: is there twice: keep one (penstock.yaml:1)")
}

func TestAliases(t *testing.T) {
	got, l, err := loadText(t, "source: {kafka: {brokers: &b [a, c]}}\nsink:\n  urls: *b\n")
	if err != nil || len(got.Sink.URLs) != 2 {
		t.Fatalf("%v, %v", got.Sink.URLs, err)
	}
	if o := l.Origin("sink.urls"); o.Line != 3 {
		t.Errorf("origin %v", o)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"brokers", "broker", 1}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

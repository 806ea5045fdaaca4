package main

import (
	"bytes"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/pipeline"
	"penstock/sinks/deadletter"
)

// What becomes of one value, in each format: what is stored, or the reason of a
// dead letter, or neither where it is skipped.
func TestWhatBecomesOfValues(t *testing.T) {
	const (
		refused = "mapper_parsing_exception" // by the server, which checks each document
		bom     = "\ufeff"
	)
	type fate struct{ stored, reason string }
	for name, c := range map[string]struct {
		value      string
		json, text fate
	}{
		"object":               {`{"a":1}`, fate{stored: `{"a":1}`}, fate{stored: `{"message":"{\"a\":1}"}`}},
		"spaces around":        {" \t{\"a\":1} ", fate{stored: `{"a":1}`}, fate{stored: `{"message":" \t{\"a\":1} "}`}},
		"over several lines":   {"{\r\n  \"a\": 1\r\n}", fate{stored: "{\r\t  \"a\": 1\r\t}"}, fate{stored: `{"message":"{\r\n  \"a\": 1\r\n}"}`}},
		"line feeds after":     {"{\"a\":1}\n\n", fate{stored: "{\"a\":1}\t\t"}, fate{stored: `{"message":"{\"a\":1}"}`}},
		"line separator":       {"{\"m\":\"x\u2028y\"}", fate{stored: "{\"m\":\"x\u2028y\"}"}, fate{stored: "{\"message\":\"{\\\"m\\\":\\\"x\u2028y\\\"}\"}"}},
		"escaped line feed":    {`{"m":"a\nb"}`, fate{stored: `{"m":"a\nb"}`}, fate{stored: `{"message":"{\"m\":\"a\\nb\"}"}`}},
		"two objects":          {`{"a":1}{"b":2}`, fate{reason: refused}, fate{stored: `{"message":"{\"a\":1}{\"b\":2}"}`}},
		"raw line feed inside": {"{\"m\":\"a\nb\"}", fate{reason: refused}, fate{stored: `{"message":"{\"m\":\"a\nb\"}"}`}},
		"byte-order mark":      {bom + `{"a":1}`, fate{stored: `{"a":1}`}, fate{stored: `{"message":"{\"a\":1}"}`}},
		"number":               {"42", fate{reason: pipeline.ReasonNotObject}, fate{stored: `{"message":"42"}`}},
		"string":               {`"text"`, fate{reason: pipeline.ReasonNotObject}, fate{stored: `{"message":"\"text\""}`}},
		"null":                 {"null", fate{reason: pipeline.ReasonNotObject}, fate{stored: `{"message":"null"}`}},
		"true":                 {"true", fate{reason: pipeline.ReasonNotObject}, fate{stored: `{"message":"true"}`}},
		"array":                {`[{"a":1}]`, fate{reason: pipeline.ReasonNotObject}, fate{stored: `{"message":"[{\"a\":1}]"}`}},
		"plain text":           {"plain text", fate{reason: pipeline.ReasonNotObject}, fate{stored: `{"message":"plain text"}`}},
		"two lines":            {"line1\nline2", fate{reason: pipeline.ReasonNotObject}, fate{stored: `{"message":"line1\nline2"}`}},
		"schema registry":      {"\x00\x00\x00\x00\x07{\"a\":1}", fate{reason: pipeline.ReasonFramed}, fate{stored: `{"message":"\u0000\u0000\u0000\u0000\u0007{\"a\":1}"}`}},
		"not UTF-8":            {"{\"m\":\"caf\xe9\"}", fate{reason: pipeline.ReasonInvalidUTF8}, fate{reason: pipeline.ReasonInvalidUTF8}},
		"big numbers": {
			`{"id":9007199254740993,"ns":1712345678901234567,"neg":-65302192449388541,"price":1.10,"big":1e400,"u":18446744073709551615}`,
			fate{stored: `{"id":9007199254740993,"ns":1712345678901234567,"neg":-65302192449388541,"price":1.10,"big":1e400,"u":18446744073709551615}`},
			fate{stored: `{"message":"{\"id\":9007199254740993,\"ns\":1712345678901234567,\"neg\":-65302192449388541,\"price\":1.10,\"big\":1e400,\"u\":18446744073709551615}"}`},
		},
		"nothing": {"", fate{}, fate{}},
		"blank":   {" \r\n", fate{}, fate{}},
	} {
		for format, want := range map[string]fate{pipeline.DecodeJSON: c.json, pipeline.DecodeText: c.text} {
			t.Run(name+" as "+format, func(t *testing.T) {
				w := newWorld(t, 1)
				w.document = func(v []byte) string {
					if bytes.HasPrefix(v, []byte("{\"neighbour\"")) && format == pipeline.DecodeJSON {
						return string(v)
					} else if bytes.HasPrefix(v, []byte("{\"neighbour\"")) {
						return fmt.Sprintf(`{"message":"{\"neighbour\":%s}"}`, v[13:14])
					}
					return want.stored
				}
				w.send(0, `{"neighbour":0}`, c.value, `{"neighbour":1}`)
				w.start("a", func(c *Config) { c.Decode = format })
				w.finish()
				// The neighbours were not touched: nothing was sent twice.
				w.same("requests", len(w.search.Requests()), 1)
				for _, r := range w.search.Requests() {
					if lines := bytes.Count(r.Body, []byte{'\n'}); lines != 2*len(r.Docs) || bytes.Contains(r.Body, []byte("\n\n")) || !utf8.Valid(r.Body) {
						t.Errorf("the body's framing or encoding is broken: %q", r.Body)
					}
				}
				w.same("stored", w.witness.isStored(0, 1), want.stored != "")
				letters := w.letters()
				if want.reason == "" {
					w.same("dead letters", len(letters), 0)
					return
				}
				if len(letters) != 1 {
					t.Fatalf("%d dead letters", len(letters))
				}
				w.same("reason", letters[0].header(deadletter.HeaderType), want.reason)
				w.same("value", string(letters[0].record.Value), c.value)
			})
		}
	}
}

// With the policy "replace" a bad byte becomes U+FFFD, compressed or not.
func TestBadBytesAreReplacedIfAskedTo(t *testing.T) {
	for _, compression := range []string{"none", "gzip"} {
		t.Run(compression, func(t *testing.T) {
			w := newWorld(t, 1)
			w.document = func(v []byte) string { return string(bytes.ToValidUTF8(v, []byte("\ufffd"))) }
			w.send(0, `{"n":0}`, "{\"m\":\"caf\xe9\"}", `{"n":2}`)
			w.start("a", func(c *Config) {
				c.Documents.InvalidUTF8 = pipeline.PolicyReplace
				c.Sink.Elasticsearch.Compression = compression
			})
			w.finish()
			w.same("dead letters", w.deadOffsets(0), []int64{})
		})
	}
}

// Null values and values of no bytes are left out and counted apart; keys may be
// null or empty.
func TestTombstonesAndBlanksAreSkippedAndCounted(t *testing.T) {
	w := newWorld(t, 1)
	w.sendRecords(
		&kgo.Record{Topic: logs, Key: []byte("k")},
		&kgo.Record{Topic: logs},
		&kgo.Record{Topic: logs, Key: []byte("k"), Value: []byte{}},
		&kgo.Record{Topic: logs, Key: []byte{}, Value: []byte(`{"a":1}`)},
	)
	m := w.start("a")
	w.awaitCommitted(0, 4)
	w.same("tombstones", m.metric(`penstock_skipped_total{reason="tombstone"}`), "2")
	w.same("blanks", m.metric(`penstock_skipped_total{reason="blank"}`), "1")
	w.finish()
	w.same("requests", len(w.search.Requests()), 1)
	w.same("dead letters", len(w.letters()), 0)
}

// With nothing but what is skipped, the watermark still moves.
func TestOnlyTombstonesAreCommitted(t *testing.T) {
	w := newWorld(t, 1)
	w.sendRecords(&kgo.Record{Topic: logs}, &kgo.Record{Topic: logs}, &kgo.Record{Topic: logs})
	w.start("a")
	w.finish()
	w.same("requests", len(w.search.Requests()), 0)
}

// Many records through two senders: none is stored with bytes of another.
func TestContentSurvivesConcurrency(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 2_000
	}
	w := newLonelyWorld(t, 4)
	for p := range int32(4) {
		for start := 0; start < n/4; start += 500 {
			values := make([]string, 500)
			for i := range values {
				at := fmt.Sprintf("%d-%d.", p, start+i)
				values[i] = fmt.Sprintf(`{"p":%d,"o":%d,"m":"%s"}`, p, start+i, bytes.Repeat([]byte(at), 1+(start+i)%40))
			}
			w.send(p, values...)
		}
	}
	w.start("a", func(c *Config) {
		c.Delivery.Concurrency.Fixed = 2
		c.Batch.Bytes = 64 << 10
	})
	w.finish() // compares each document with its record
	w.same("documents", w.search.Indices(), map[string]int{index: n})
}

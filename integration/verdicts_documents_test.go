package integration

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

// unparsed is how servers call a document that they cannot take in; the second
// is its name since Elasticsearch 8.
var unparsed = []string{"mapper_parsing_exception", "document_parsing_exception"}

// exhibit is one value, and what must become of it.
type exhibit struct {
	name  string
	value string
	// stored is what must be in the index, "" if nothing.
	stored string
	// refused lists the error types that its dead letter may name, nil for none.
	refused []string
}

func exhibits() []exhibit {
	many := new(strings.Builder)
	for i := range 60 {
		fmt.Fprintf(many, `"field%d":1,`, i)
	}
	return []exhibit{
		{name: "object", value: `{"n":1}`, stored: `{"n":1}`},
		{name: "two objects", value: `{"a":1}{"b":2}`, refused: unparsed},
		{name: "text after the object", value: `{"a":1} and more`, refused: unparsed},
		{name: "a brace too many", value: `{"a":1}}`, refused: unparsed},
		{name: "cut off", value: `{"a":"b`, refused: unparsed},
		{name: "raw control character", value: "{\"a\":\"\x01\"}", refused: unparsed},
		{name: "line feed in a string", value: "{\"a\":\"b\nc\"}", refused: unparsed},
		{name: "action line inside", value: "{\"a\":1}\n{\"delete\":{\"_id\":\"x\"}}\n{\"a\":2}", refused: unparsed},
		{name: "duplicate key", value: `{"a":1,"a":2}`, refused: unparsed},
		{name: "text for a long", value: `{"n":"many"}`, refused: unparsed},
		{name: "object for a long", value: `{"n":{"x":1}}`, refused: unparsed},
		{name: "_id inside", value: `{"_id":"x"}`, refused: unparsed},
		{name: "too many fields", value: "{" + strings.TrimSuffix(many.String(), ",") + "}", refused: append([]string{"illegal_argument_exception"}, unparsed...)},
		{name: "number", value: `42`, refused: []string{"not_a_json_object"}},
		{name: "array", value: `[{"a":1}]`, refused: []string{"not_a_json_object"}},
		{name: "not UTF-8", value: "{\"a\":\"\xff\"}", refused: []string{"invalid_utf8"}},
		{name: "schema registry", value: "\x00\x00\x00\x00\x07\x02a", refused: []string{"schema_registry_framing"}},
		{name: "byte-order mark", value: "\xef\xbb\xbf{\"bom\":1}", stored: `{"bom":1}`},
		{name: "spaces around", value: " \t{\"a\":1}\r\n ", stored: `{"a":1}`},
		{name: "pretty-printed", value: "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 2\n  }\n}", stored: "{\t  \"a\": 1,\t  \"b\": {\t    \"c\": 2\t  }\t}"},
		{name: "escapes", value: `{"message":"\u0000 \ud83d\udc1f \n \" \\"}`, stored: `{"message":"\u0000 \ud83d\udc1f \n \" \\"}`},
		{name: "empty object", value: `{}`, stored: `{}`},
		{name: "blank", value: " \n"},
		{name: "tombstone"},
	}
}

// Each bad document goes to the dead letters and takes no neighbour with it; what
// is stored is what was sent. A replay stores nothing twice.
func testDocuments(c *court) {
	c.search.must(http.MethodPut, "/"+c.topic, `{
		"settings": {"number_of_shards": 2, "number_of_replicas": 0, "mapping.total_fields.limit": 50},
		"mappings": {"properties": {"n": {"type": "long"}}}}`, nil)
	refused := map[int64][]string{}
	var values, stored [][]byte
	var skipped int64
	for _, x := range exhibits() {
		neighbour := fmt.Appendf(nil, `{"message":"after %s"}`, x.name)
		value := []byte(x.value)
		switch {
		case x.stored != "":
			stored = append(stored, []byte(x.stored))
		case x.refused != nil:
			refused[int64(len(values))] = x.refused
		default:
			skipped++
			if x.value == "" {
				value = nil
			}
		}
		values, stored = append(values, value, neighbour), append(stored, neighbour)
	}
	c.values(0, values...)
	stop := c.config().with(config{"source.kafka.stop": "lag0"})
	l := start(c.t, "ingester", stop).done()
	c.mustContain(c.topic, stored...)
	c.mustLetters(refused)
	if l.Stored != int64(len(stored)) || l.DeadLettered != int64(len(refused)) || l.Skipped != skipped || l.Duplicate != 0 {
		c.t.Errorf("the ledger says %+v, want %d stored, %d dead-lettered and %d skipped", l.Counts, len(stored), len(refused), skipped)
	}
	for _, got := range c.letters(c.dead) {
		if want := values[got.from.offset]; !bytes.Equal(got.record.Value, want) {
			c.t.Errorf("the dead letter of offset %d holds %q, want %q", got.from.offset, got.record.Value, want)
		}
	}
	if err := c.lag(c.group, c.topic); err != nil {
		c.t.Errorf("not all is committed: %v", err)
	}

	l = start(c.t, "replay", stop.with(config{"source.kafka.group": c.group + "-again"})).done()
	c.mustContain(c.topic, stored...)
	c.mustLetters(refused)
	if l.Stored != 0 || l.Duplicate != int64(len(stored)) || l.DeadLettered != int64(len(refused)) {
		c.t.Errorf("a replay's ledger says %+v, want %d duplicates and nothing stored", l.Counts, len(stored))
	}
}

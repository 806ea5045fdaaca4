package integration

import (
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// mapping is what the proof's index is created with: one field of each of the
// common types, and no others.
const mapping = `{
  "settings": {"number_of_shards": 3, "number_of_replicas": 0, "refresh_interval": "1s"},
  "mappings": {"dynamic": "strict", "properties": {
    "@timestamp": {"type": "date"},
    "level":      {"type": "keyword"},
    "host":       {"type": "keyword"},
    "message":    {"type": "text"},
    "bytes":      {"type": "long"},
    "partition":  {"type": "integer"},
    "offset":     {"type": "long"}
  }}
}`

// quality is what becomes of a log line.
type quality int

const (
	good       quality = iota
	notObject          // JSON or text that is not an object
	badUTF8            // an object with a byte that is not UTF-8
	unmappable         // an object with text for a long
)

// reason is the type of error that the dead letter of such a line names.
func (q quality) reasons() []string {
	switch q {
	case notObject:
		return []string{"not_a_json_object"}
	case badUTF8:
		return []string{"invalid_utf8"}
	default:
		// The second is its name since Elasticsearch 8.
		return []string{"mapper_parsing_exception", "document_parsing_exception"}
	}
}

// logLines makes the proof's log lines one after the other, always the same:
// what must be stored is worked out by making them once more.
type logLines struct {
	topic      string
	partitions int32
	began      time.Time
	n          int
	next       offsets
}

func newLogLines(topic string, partitions int32, began time.Time) *logLines {
	return &logLines{topic: topic, partitions: partitions, began: began.Truncate(time.Millisecond), next: offsets{}}
}

// line gives the next log line. Lines in every hundred: one that cannot be
// decoded, half of them no object and half not UTF-8, and one that cannot be mapped.
func (l *logLines) line() (*kgo.Record, quality) {
	n := l.n
	l.n++
	r := &kgo.Record{Topic: l.topic, Partition: int32(n+n/100) % l.partitions, Timestamp: l.began.Add(time.Duration(n) * time.Millisecond)}
	r.Offset = l.next[r.Partition]
	l.next[r.Partition]++
	q := good
	switch n % 100 {
	case 17:
		if q = notObject; n/100%2 == 1 {
			q = badUTF8
		}
	case 61:
		q = unmappable
	}
	r.Value = l.value(n, r, q)
	// Null keys, empty keys, null values of headers and repeated names are all legal.
	switch n % 3 {
	case 0:
		r.Key = []byte("key-" + strconv.Itoa(n))
	case 1:
		r.Key = []byte{}
	}
	r.Headers = []kgo.RecordHeader{
		{Key: "line", Value: []byte(strconv.Itoa(n))}, {Key: "null"}, {Key: "bytes", Value: []byte{0, 0xff, byte(n)}}, {Key: "line", Value: []byte("again")},
	}
	return r, q
}

func (l *logLines) value(n int, r *kgo.Record, q quality) []byte {
	if q == notObject {
		return []byte([...]string{"42", `[{"a":1}]`, `"text"`, "plain text of line " + strconv.Itoa(n), "true"}[n/200%5])
	}
	level := [...]string{"INFO", "WARN", "ERROR", "DEBUG"}[n%4]
	bytes := strconv.Itoa(n * 7919 % 1_000_003)
	if q == unmappable {
		bytes = `"many"`
	}
	// Escapes, and characters of two to four bytes, must come through as they are.
	text := fmt.Sprintf(`GET /api/v1/items/%d HTTP/1.1 \"curl/8.5\" took %d \u00b5s – größer 日本語 🐟`, n, n%977)
	if q == badUTF8 {
		text += " \xc3("
	}
	return fmt.Appendf(nil, `{"@timestamp":%q,"level":%q,"host":"web-%02d","message":"%s","bytes":%s,"partition":%d,"offset":%d}`,
		r.Timestamp.UTC().Format("2006-01-02T15:04:05.000Z"), level, n%23, text, bytes, r.Partition, r.Offset)
}

package nullsink

import (
	"bytes"
	"strings"
)

// The items of an answer: what Elasticsearch says of a document that is stored,
// and what filter_path leaves of it.
const (
	fullItem    = `":{"_index":"t","_id":"pTq0ZpEBx7cVt0zHq3dY","_version":1,"result":"created","_shards":{"total":2,"successful":1,"failed":0},"_seq_no":0,"_primary_term":1,"status":201}},`
	reducedItem = `":{"status":201}},`
)

// shape is what filter_path leaves of an answer.
type shape int

const (
	whole    shape = iota // no filter_path
	statuses              // one item with a status per document
	summary               // no items: with all documents stored, nothing of them is left
)

// shapeOf reads filter_path as far as it matters here: whether an item of a
// stored document is left.
func shapeOf(filterPath string) shape {
	if filterPath == "" {
		return whole
	}
	for _, path := range strings.Split(filterPath, ",") {
		switch path {
		case "items", "items.*", "items.*.*", "**":
			return whole
		case "items.*.status", "items.status", "**.status":
			return statuses
		}
	}
	return summary
}

// count gives the number of documents in a body and their action's name. Every
// action is taken to have its document on the next line, so deletes are not
// counted right; a raw line feed never is in a document.
func count(body []byte) (documents int, op string) {
	op = "index"
	if bytes.HasPrefix(body, []byte(`{"create"`)) {
		op = "create"
	}
	return bytes.Count(body, []byte{'\n'}) / 2, op
}

// appendAnswer appends the answer to a request whose documents are all stored.
func appendAnswer(b []byte, s shape, documents int, op string) []byte {
	switch s {
	case summary:
		return append(b, `{"errors":false}`...)
	case statuses:
		b = append(b, `{"errors":false,"items":[`...)
	default:
		b = append(b, `{"took":1,"errors":false,"items":[`...)
	}
	item := `{"` + op + fullItem
	if s == statuses {
		item = `{"` + op + reducedItem
	}
	for range documents {
		b = append(b, item...)
	}
	if documents > 0 {
		b = b[:len(b)-1] // the last comma
	}
	return append(b, `]}`...)
}

package elasticsearch

import "penstock/pipeline"

// encoder writes documents in the form of the bulk API: an action line, then
// the document's own line. One goroutine uses it.
type encoder struct {
	op      string // {"create":{
	origins *origins
}

func newEncoder(op string, o *origins) *encoder {
	return &encoder{op: `{"` + op + `":{`, origins: o}
}

// append encodes one document. The index is left out of documents that go where
// the request's path says.
func (e *encoder) append(b *pipeline.Batch, r *pipeline.Record, doc pipeline.Document, destination string) {
	dst := append(b.Body, e.op...)
	if destination != b.Destination {
		dst = append(dst, `"_index":"`...)
		dst = append(dst, destination...) // legal names need no escapes
		dst = append(dst, `",`...)
	}
	dst = append(dst, `"_id":"`...)
	dst = appendID(dst, e.origins.of(r.Origin), r)
	dst = append(dst, "\"}}\n"...)
	dst = doc.AppendTo(dst)
	b.Body = append(dst, '\n')
}

package elasticsearch

import (
	"bytes"
	"slices"

	"penstock/pipeline"
)

// lines walks a bulk body document by document. The body is as encoder wrote
// it: an action line and a document line each.
type lines struct {
	rest  []byte
	index []byte // how an action line that names an index begins
	path  string // the index of lines that name none
}

func (e *encoder) lines(b bulk) lines {
	return lines{rest: b.body, index: []byte(e.op + `"_index":"`), path: b.destination}
}

// next gives the next document with its action line, and its index.
func (l *lines) next() (destination, document []byte, ok bool) {
	if len(l.rest) == 0 {
		return nil, nil, false
	}
	action := bytes.IndexByte(l.rest, '\n') + 1
	end := action + bytes.IndexByte(l.rest[action:], '\n') + 1
	document = l.rest[:end]
	l.rest = l.rest[end:]
	if named, ok := bytes.CutPrefix(document, l.index); ok {
		return named[:bytes.IndexByte(named, '"')], document, true
	}
	return []byte(l.path), document, true
}

// destinations lists the indices that documents of b go to.
func (e *encoder) destinations(b bulk) []string {
	var names []string
	l := e.lines(b)
	for name, _, ok := l.next(); ok; name, _, ok = l.next() {
		if !slices.ContainsFunc(names, func(s string) bool { return s == string(name) }) {
			names = append(names, string(name))
		}
	}
	return names
}

// without copies the documents of b whose index was not refused. positions are
// their places in b; items are the verdicts on the others.
func (e *encoder) without(b bulk, refused map[string]*pipeline.RequestError) (kept bulk, positions []int, items []pipeline.Item) {
	kept = bulk{destination: b.destination}
	l, at := e.lines(b), 0
	for name, document, ok := l.next(); ok; name, document, ok = l.next() {
		if cause := refused[string(name)]; cause != nil {
			items = append(items, pipeline.Item{Doc: at, Verdict: refusedIndex(cause), Reason: cause.Reason})
		} else {
			kept.body = append(kept.body, document...)
			positions = append(positions, at)
		}
		at++
	}
	kept.documents = len(positions)
	return kept, positions, items
}

// refusedIndex is the verdict on documents whose index the server does not
// create: only a name that it will never take is their fault.
func refusedIndex(cause *pipeline.RequestError) pipeline.Verdict {
	if cause.Reason.Type == "invalid_index_name_exception" {
		return pipeline.Rejected
	}
	return pipeline.Blocked
}

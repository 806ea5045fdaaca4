package search

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// shape says which parts of the items of one operation a reply has.
type shape struct {
	index, id, typ, version, result, shards, seq, term, status bool
	errType, errReason, errCause, errRest                      bool
}

func (s *Server) shape(f filter, op string) shape {
	has := func(path ...string) bool { return f.has(append([]string{"items", op}, path...)...) }
	return shape{
		index: has("_index"), id: has("_id"), typ: has("_type") && s.opts.Version[0] == '7' && !s.opts.OpenSearch,
		version: has("_version"), result: has("result"), shards: has("_shards"), seq: has("_seq_no"), term: has("_primary_term"), status: has("status"),
		errType: has("error", "type"), errReason: has("error", "reason"), errCause: has("error", "caused_by"), errRest: has("error", "index_uuid"),
	}
}

// writeBulk answers a bulk request, reduced by filter_path.
func (s *Server) writeBulk(w http.ResponseWriter, r *http.Request, results []result, took time.Duration) {
	var f filter
	if p := r.URL.Query().Get("filter_path"); p != "" {
		f = parseFilter(p)
	}
	shapes := map[string]shape{"create": s.shape(f, "create"), "index": s.shape(f, "index"), "delete": s.shape(f, "delete")}
	failed := false
	for i := range results {
		failed = failed || results[i].err != nil
	}
	out := make([]byte, 0, 64+48*len(results))
	out = append(out, '{')
	if f.has("took") {
		out = strconv.AppendInt(append(out, `"took":`...), took.Milliseconds(), 10)
	}
	if f.has("errors") {
		out = strconv.AppendBool(append(comma(out), `"errors":`...), failed)
	}
	items := append(comma(out), `"items":[`...)
	empty := len(items)
	for i := range results {
		items = appendItem(items, &results[i], shapes[results[i].op])
	}
	if len(items) > empty {
		out = append(items, ']')
	}
	out = append(out, '}')
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(out)
}

// appendItem adds one item; one of which nothing is left is not there at all.
func appendItem(b []byte, r *result, s shape) []byte {
	start := len(b)
	b = append(comma(b), `{"`+r.op+`":{`...)
	inner := len(b)
	str := func(on bool, key, v string) {
		if on {
			b = appendString(append(comma(b), `"`+key+`":`...), v)
		}
	}
	num := func(on bool, key string, v int64) {
		if on {
			b = strconv.AppendInt(append(comma(b), `"`+key+`":`...), v, 10)
		}
	}
	str(s.index, "_index", r.index)
	str(s.typ, "_type", "_doc")
	str(s.id, "_id", r.id)
	if r.err == nil {
		num(s.version, "_version", r.version)
		str(s.result, "result", r.result)
		if s.shards {
			b = append(comma(b), `"_shards":{"total":1,"successful":1,"failed":0}`...)
		}
		num(s.seq, "_seq_no", r.seq)
		num(s.term, "_primary_term", 1)
	}
	num(s.status, "status", int64(r.status))
	if r.err != nil && (s.errType || s.errReason || s.errCause) {
		b = append(comma(b), `"error":{`...)
		str(s.errType, "type", r.err.Type)
		str(s.errReason, "reason", r.err.Reason)
		if s.errCause && r.err.Cause != nil {
			b = append(comma(b), `"caused_by":{`...)
			str(true, "type", r.err.Cause.Type)
			str(true, "reason", r.err.Cause.Reason)
			b = append(b, '}')
		}
		if s.errRest && r.err.Type == typeConflict {
			str(true, "shard", "0")
			str(true, "index", r.index)
		}
		b = append(b, '}')
	}
	if len(b) == inner {
		return b[:start]
	}
	return append(b, "}}"...)
}

// comma separates a member from the one before it.
func comma(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] != '{' && b[n-1] != '[' {
		return append(b, ',')
	}
	return b
}

func appendString(b []byte, s string) []byte {
	q, err := json.Marshal(s)
	if err != nil {
		return append(b, `""`...)
	}
	return append(b, q...)
}

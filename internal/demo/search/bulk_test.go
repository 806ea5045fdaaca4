package search

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestBulkItems: what real servers were seen to answer to single documents,
// with a good neighbour on each side that is stored whatever the middle one is.
func TestBulkItems(t *testing.T) {
	const mapping = `{"mappings":{"properties":{"n":{"type":"long"},"at":{"type":"date"},"ok":{"type":"boolean"},"o":{"properties":{"a":{"type":"keyword"}}},"lax":{"type":"long","ignore_malformed":true}}}}`
	cases := []struct {
		name, action, doc string
		status            int
		errType           string
	}{
		{"new", `{"create":{"_index":"i","_id":"1"}}`, `{"n":1}`, 201, ""},
		{"spaces around", `{"create":{"_index":"i","_id":"1"}}`, `  {"n":1}  `, 201, ""},
		{"byte-order mark", `{"create":{"_index":"i","_id":"1"}}`, "\xef\xbb\xbf{\"n\":1}", 201, ""},
		{"carriage return", `{"create":{"_index":"i","_id":"1"}}`, "{\"n\":1}\r", 201, ""},
		{"big number in text", `{"create":{"_index":"i","_id":"1"}}`, `{"m":1e300}`, 201, ""},
		{"digits in quotes for a long", `{"create":{"_index":"i","_id":"1"}}`, `{"n":"12"}`, 201, ""},
		{"array for a long", `{"create":{"_index":"i","_id":"1"}}`, `{"n":[1,2,null]}`, 201, ""},
		{"null for a long", `{"create":{"_index":"i","_id":"1"}}`, `{"n":null}`, 201, ""},
		{"ignore_malformed", `{"create":{"_index":"i","_id":"1"}}`, `{"lax":"x"}`, 201, ""},
		{"other index, created", `{"index":{"_index":"other"}}`, `{"n":"text"}`, 201, ""},
		{"two objects", `{"create":{"_index":"i","_id":"1"}}`, `{"a":1}{"b":2}`, 400, "mapper_parsing_exception"},
		{"text after", `{"create":{"_index":"i","_id":"1"}}`, `{"a":1} x`, 400, "mapper_parsing_exception"},
		{"one brace too many", `{"create":{"_index":"i","_id":"1"}}`, `{"a":1}}`, 400, "mapper_parsing_exception"},
		{"cut off", `{"create":{"_index":"i","_id":"1"}}`, `{"a":`, 400, "mapper_parsing_exception"},
		{"comma too many", `{"create":{"_index":"i","_id":"1"}}`, `{"a":1,}`, 400, "mapper_parsing_exception"},
		{"invalid UTF-8", `{"create":{"_index":"i","_id":"1"}}`, "{\"a\":\"caf\xe9\"}", 400, "mapper_parsing_exception"},
		{"control character", `{"create":{"_index":"i","_id":"1"}}`, "{\"a\":\"\x01\"}", 400, "mapper_parsing_exception"},
		{"duplicate key", `{"create":{"_index":"i","_id":"1"}}`, `{"a":1,"a":2}`, 400, "mapper_parsing_exception"},
		{"number", `{"create":{"_index":"i","_id":"1"}}`, `42`, 400, "mapper_parsing_exception"},
		{"array", `{"create":{"_index":"i","_id":"1"}}`, `[{"a":1}]`, 400, "mapper_parsing_exception"},
		{"empty document", `{"create":{"_index":"i","_id":"1"}}`, ` `, 400, "mapper_parsing_exception"},
		{"text for a long", `{"create":{"_index":"i","_id":"1"}}`, `{"n":"x"}`, 400, "mapper_parsing_exception"},
		{"boolean for a long", `{"create":{"_index":"i","_id":"1"}}`, `{"n":true}`, 400, "mapper_parsing_exception"},
		{"too big for a long", `{"create":{"_index":"i","_id":"1"}}`, `{"n":1e30}`, 400, "mapper_parsing_exception"},
		{"object for a long", `{"create":{"_index":"i","_id":"1"}}`, `{"n":{"a":1}}`, 400, "mapper_parsing_exception"},
		{"text for a date", `{"create":{"_index":"i","_id":"1"}}`, `{"at":"yesterday"}`, 400, "mapper_parsing_exception"},
		{"text for a boolean", `{"create":{"_index":"i","_id":"1"}}`, `{"ok":"maybe"}`, 400, "mapper_parsing_exception"},
		{"text for an object", `{"create":{"_index":"i","_id":"1"}}`, `{"o":"x"}`, 400, "mapper_parsing_exception"},
		{"object under a long", `{"create":{"_index":"i","_id":"1"}}`, `{"n.x":1}`, 400, "mapper_parsing_exception"},
		{"_id inside", `{"create":{"_index":"i","_id":"1"}}`, `{"_id":"1"}`, 400, "mapper_parsing_exception"},
		{"empty field name", `{"create":{"_index":"i","_id":"1"}}`, `{"":1}`, 400, "mapper_parsing_exception"},
		{"field name ends with a dot", `{"create":{"_index":"i","_id":"1"}}`, `{"a.":1}`, 400, "mapper_parsing_exception"},
		{"empty id", `{"create":{"_index":"i","_id":""}}`, `{"n":1}`, 400, "illegal_argument_exception"},
		{"illegal index name", `{"create":{"_index":"Upper","_id":"1"}}`, `{"n":1}`, 400, "invalid_index_name_exception"},
		{"create twice", `{"create":{"_index":"i","_id":"before"}}`, `{"n":1}`, 409, "version_conflict_engine_exception"},
		{"index over another", `{"index":{"_index":"i","_id":"before"}}`, `{"n":1}`, 200, ""},
		{"older external version", `{"index":{"_index":"i","_id":"before","version":0,"version_type":"external"}}`, `{"n":1}`, 409, "version_conflict_engine_exception"},
		{"newer external version", `{"index":{"_index":"i","_id":"before","version":9,"version_type":"external"}}`, `{"n":1}`, 200, ""},
		{"delete", `{"delete":{"_index":"i","_id":"before"}}`, "", 200, ""},
		{"delete what is not there", `{"delete":{"_index":"i","_id":"nothing"}}`, "", 404, ""},
		{"delete from no index", `{"delete":{"_index":"none","_id":"1"}}`, "", 404, "index_not_found_exception"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, Options{})
			must(t, s, "PUT", "/i", mapping)
			body := `{"create":{"_index":"i","_id":"before"}}` + "\n{}\n" + c.action + "\n"
			if c.doc != "" {
				body += c.doc + "\n"
			}
			body += `{"create":{"_index":"i","_id":"after"}}` + "\n{}\n"
			got := items(t, must(t, s, "POST", "/_bulk", body))
			if len(got) != 3 || got[0].Status != 201 || got[2].Status != 201 {
				t.Fatalf("items: %+v", got)
			}
			errType := ""
			if got[1].Error != nil {
				errType = got[1].Error.Type
			}
			if got[1].Status != c.status || errType != c.errType {
				t.Errorf("status %d %q, want %d %q (%+v)", got[1].Status, errType, c.status, c.errType, got[1].Error)
			}
		})
	}
}

// TestBulkRequests: what refuses a request as a whole, and stores nothing of it.
func TestBulkRequests(t *testing.T) {
	good := `{"create":{"_index":"i","_id":"good"}}` + "\n{}\n"
	cases := []struct {
		name, body string
		status     int
		contains   string
	}{
		{"empty", "", 400, "request body is required"},
		{"no newline at the end", strings.TrimSuffix(good, "\n"), 400, "must be terminated by a newline"},
		{"id of 513 bytes", good + `{"create":{"_index":"i","_id":"` + str(513) + `"}}` + "\n{}\n", 400, "action_request_validation_exception"},
		{"id of 171 runes and 513 bytes", good + `{"create":{"_index":"i","_id":"` + strings.Repeat("€", 171) + `"}}` + "\n{}\n", 400, "no longer than 512 bytes but was: 513"},
		{"no index", good + `{"create":{"_id":"1"}}` + "\n{}\n", 400, "index is missing"},
		{"only blank lines", "\n\n", 400, "no requests added"},
		{"document without action", `{"message":"x"}` + "\n", 400, "expected field [create], [delete], [index] or [update] but found [message]"},
		{"not JSON", "hello\n", 400, "json_parse_exception"},
		{"a number", "42\n", 400, "Malformed action/metadata line [1]"},
		{"unknown parameter", `{"create":{"_index":"i","_id":"1","colour":"red"}}` + "\n{}\n", 400, "unknown parameter [colour]"},
		{"action without its document", good + `{"create":{"_index":"i","_id":"1"}}` + "\n", 400, "document of line [3] is missing"},
		{"over the limit", good + `{"create":{"_index":"i"}}` + "\n" + `{"m":"` + str(2000) + `"}` + "\n", 413, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, Options{MaxBody: 2000})
			r := httptest.NewRequest("POST", "/_bulk", strings.NewReader(c.body))
			r.Header.Set("Content-Type", "application/x-ndjson")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.contains) {
				t.Errorf("status %d, %s; want %d, %q", w.Code, w.Body, c.status, c.contains)
			}
			if c.status == 413 && (w.Body.Len() > 0 || w.Header().Get("Connection") != "close") {
				t.Errorf("a 413 has a body or keeps the connection: %q %v", w.Body, w.Header())
			}
			if n := s.Stats().Documents; n != 0 {
				t.Errorf("%d documents were stored", n)
			}
		})
	}
}

func TestContentTypes(t *testing.T) {
	const compatible = "application/vnd.elasticsearch+x-ndjson;compatible-with=8"
	for _, c := range []struct {
		kind       string
		opensearch bool
		status     int
	}{{"application/x-ndjson", false, 200}, {"application/json; charset=utf-8", true, 200}, {compatible, false, 200}, {compatible, true, 406}, {"", false, 406}} {
		s := newServer(t, Options{OpenSearch: c.opensearch})
		r := httptest.NewRequest("POST", "/_bulk", strings.NewReader("{\"index\":{\"_index\":\"i\"}}\n{}\n"))
		r.Header.Set("Content-Type", c.kind)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%q, OpenSearch %v: status %d, want %d", c.kind, c.opensearch, w.Code, c.status)
		}
	}
}

func TestCompressedBodies(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	fmt.Fprint(z, "{\"create\":{\"_index\":\"i\",\"_id\":\"1\"}}\n{\"a\":1}\n")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		encoding string
		body     []byte
		status   int
	}{{"gzip", zipped.Bytes(), 200}, {"gzip", []byte("plain"), 400}, {"gzip", zipped.Bytes()[:20], 400}, {"zstd", []byte("\x28\xb5\x2f\xfd"), 400}} {
		s := newServer(t, Options{})
		r := httptest.NewRequest("POST", "/_bulk", bytes.NewReader(c.body))
		r.Header.Set("Content-Type", "application/x-ndjson")
		r.Header.Set("Content-Encoding", c.encoding)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s of %d bytes: status %d: %s", c.encoding, len(c.body), w.Code, w.Body)
		}
	}
}

// TestReducedReply: one item for each document, with no more than was asked for.
func TestReducedReply(t *testing.T) {
	s := newServer(t, Options{})
	must(t, s, "PUT", "/i", `{"mappings":{"properties":{"n":{"type":"long"}}}}`)
	body := "{\"create\":{\"_id\":\"1\"}}\n{\"n\":1}\n{\"create\":{\"_id\":\"1\"}}\n{}\n{\"create\":{\"_id\":\"2\"}}\n{\"n\":\"x\"}\n"
	answer := must(t, s, "POST", "/i/_bulk?filter_path=errors,items.*.status,items.*.error.type,items.*.error.reason", body)
	want := `{"errors":true,"items":[{"create":{"status":201}},` +
		`{"create":{"status":409,"error":{"type":"version_conflict_engine_exception","reason":"[1]: version conflict, document already exists (current version [1])"}}},` +
		`{"create":{"status":400,"error":{"type":"mapper_parsing_exception","reason":"failed to parse field [n] of type [long] in document with id '2'. Preview of field's value: 'x'"}}}]}`
	if answer != want {
		t.Errorf("got  %s\nwant %s", answer, want)
	}
	// What is empty is not there: a client that asks for errors alone cannot count.
	answer = must(t, s, "POST", "/i/_bulk?filter_path=items.*.error.type", body)
	if n := strings.Count(answer, "create"); n != 3 { // 409, 409 and 400: nothing was new
		t.Errorf("%d items in %s", n, answer)
	}
	answer = must(t, s, "POST", "/i/_bulk?filter_path=took", body)
	if strings.Contains(answer, "items") || !strings.Contains(answer, "took") {
		t.Errorf("filter_path=took gave %s", answer)
	}
}

func TestVersion8CallsItADocumentError(t *testing.T) {
	s := newServer(t, Options{Version: "8.19.0"})
	got := items(t, must(t, s, "POST", "/i/_bulk", "{\"create\":{}}\n[]\n"))
	if got[0].Error == nil || got[0].Error.Type != "document_parsing_exception" {
		t.Errorf("got %+v", got[0].Error)
	}
}

func TestBlocks(t *testing.T) {
	doc := "{\"index\":{}}\n{}\n"
	for _, c := range []struct {
		name, method, target, body string
		status                     int
		errType                    string
	}{
		{"write block", "PUT", "/i/_settings", `{"index.blocks.write":true}`, 403, "cluster_block_exception"},
		{"disk full", "PUT", "/i/_settings", `{"index":{"blocks":{"read_only_allow_delete":true}}}`, 429, "cluster_block_exception"},
		{"closed", "POST", "/i/_close", "", 400, "index_closed_exception"},
		{"gone, not made again", "DELETE", "/i", "", 404, "index_not_found_exception"},
	} {
		s := newServer(t, Options{NoAutoCreate: true})
		must(t, s, "PUT", "/i", "")
		must(t, s, c.method, c.target, c.body)
		got := items(t, must(t, s, "POST", "/i/_bulk", doc))
		if got[0].Status != c.status || got[0].Error == nil || got[0].Error.Type != c.errType {
			t.Errorf("%s: %+v", c.name, got[0])
		}
	}
	s := newServer(t, Options{})
	must(t, s, "PUT", "/i", "")
	s.Block("i", "write", true)
	s.Block("i", "write", false)
	if got := items(t, must(t, s, "POST", "/i/_bulk", doc)); got[0].Status != http.StatusCreated {
		t.Errorf("after the block: %+v", got[0])
	}
}

func TestTooManyFields(t *testing.T) {
	s := newServer(t, Options{})
	fields := make(map[string]int)
	for i := range maxFields + 1 {
		fields[fmt.Sprintf("f%d", i)] = i
	}
	doc, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	got := items(t, must(t, s, "POST", "/i/_bulk", "{\"index\":{}}\n"+string(doc)+"\n{\"index\":{}}\n{\"one\":1}\n"))
	if got[0].Status != 400 || got[0].Error.Type != "mapper_parsing_exception" {
		t.Errorf("got %+v", got[0])
	}
	if got[1].Status != 201 { // the refused document left no fields behind
		t.Errorf("the next document: %+v", got[1].Error)
	}
}

func FuzzParseBulk(f *testing.F) {
	f.Add([]byte("{\"create\":{\"_index\":\"i\",\"_id\":\"1\"}}\n{\"a\":1}\n"))
	f.Add([]byte("{\"delete\":{\"_id\":\"1\"}}\n\n{\"index\":{}}\n \n"))
	f.Add([]byte("{\"index\":{\"version\":3,\"version_type\":\"external\",\"_id\":\"\"}}\n{\"a\":{\"b\":[[1]]}}\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		actions, e := parseBulk(body, "i")
		if (e == nil) != (len(actions) > 0) && e == nil {
			t.Fatal("no actions and no error")
		}
		total := 0
		for _, a := range actions {
			total += len(a.source)
			if a.op == "delete" && a.source != nil {
				t.Fatal("a delete has a document")
			}
			if bytes.IndexByte(a.source, '\n') >= 0 {
				t.Fatal("a document spans lines")
			}
			leaves, e := parseDocument(a.source)
			if e == nil && !json.Valid(a.source) {
				t.Fatalf("%q was taken for JSON", a.source)
			}
			if e == nil {
				_, _ = newMapping().admit("1", leaves)
			}
		}
		if total > len(body) {
			t.Fatal("documents are longer than the body")
		}
	})
}

package search

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// logs has six documents in an index with a mapping and one without.
func logs(t *testing.T) *Server {
	s := newServer(t, Options{})
	must(t, s, "PUT", "/web", `{"mappings":{"properties":{"level":{"type":"keyword"},"status":{"type":"long"},"at":{"type":"date"},"ok":{"type":"boolean"}}}}`)
	must(t, s, "POST", "/_bulk", strings.Join([]string{
		`{"create":{"_index":"web","_id":"1"}}`, `{"level":"error","status":500,"at":"2026-01-01T10:00:00Z","ok":false,"message":"Payment of order 17 failed"}`,
		`{"create":{"_index":"web","_id":"2"}}`, `{"level":"info","status":200,"at":"2026-01-02T10:00:00.5Z","ok":true,"message":"order 17 paid"}`,
		`{"create":{"_index":"web","_id":"3"}}`, `{"level":"error","status":404,"at":"2026-01-03T10:00:00Z","message":"no such page"}`,
		`{"create":{"_index":"web","_id":"4"}}`, `{"level":"warn","status":-1,"at":"2026-02-01","message":"the order of things","tags":["slow","web-01"]}`,
		`{"create":{"_index":"app","_id":"5"}}`, `{"level":"error","http":{"status":500},"message":"Failed"}`,
		`{"create":{"_index":"app","_id":"6"}}`, `{"level":"info","http":{"status":201},"message":"fine"}`,
	}, "\n")+"\n")
	return s
}

type answer struct {
	Hits struct {
		Total struct{ Value int }
		Hits  []struct {
			ID     string          `json:"_id"`
			Index  string          `json:"_index"`
			Source json.RawMessage `json:"_source"`
		}
	}
}

func (a answer) ids() string {
	var ids []string
	for _, h := range a.Hits.Hits {
		ids = append(ids, h.ID)
	}
	return strings.Join(ids, "")
}

func sorted(s string) string {
	b := []byte(s)
	slices.Sort(b)
	return string(b)
}

func TestQueryStrings(t *testing.T) {
	s := logs(t)
	for _, c := range []struct{ query, want string }{
		{"*:*", "123456"},
		{"*", "123456"},
		{"level:error", "135"},
		{"level:ERROR", "5"}, // a keyword is exact, a text is not
		{"level:error AND status:500", "1"},
		{"level:error AND NOT status:500", "35"},
		{"level:error -status:500", "35"},
		{"NOT level:error", "246"},
		{"level:error OR level:warn", "1345"},
		{"level:warn OR level:error AND status:404", "34"},
		{"(level:warn OR level:error) AND status:404", "3"},
		{"level:(warn OR info)", "246"},
		{"+level:error +message:failed", "15"},
		{"level:error && status:[400 TO 499]", "3"},
		{"level:info || level:warn", "246"},
		{"status:[200 TO 500]", "123"},
		{"status:{200 TO 500}", "3"},
		{"status:[* TO 200]", "24"},
		{"status:>=404", "13"},
		{"status:>404", "1"},
		{"status:<0", "4"},
		{"status:-1", "4"},
		{"at:2026-01-02", "2"},
		{"at:[2026-01-02 TO 2026-01-03]", "23"},
		{"at:[2026-01-02 TO 2026-01-03}", "2"},
		{"at:>2026-01-03", "4"},
		{"ok:true", "2"},
		{"message:order", "124"},
		{"message:order 17", "124"},
		{`message:"order 17"`, "12"},
		{`message:"17 order"`, ""},
		{"message:FAIL*", "15"},
		{"message:p?id", "2"},
		{"failed", "15"},
		{`"no such"`, "3"},
		{"tags:slow", "4"},
		{"http.status:500", "5"},
		{"_exists_:ok", "12"},
		{"_exists_:tags AND status:\\-1", "4"},
		{"status:*", "1234"},
		{"nothing:here", ""},
		{"level:error^2", "135"},
	} {
		var got answer
		body := must(t, s, "GET", "/_search?q="+url.QueryEscape(c.query), "")
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		if sorted(got.ids()) != c.want || got.Hits.Total.Value != len(c.want) {
			t.Errorf("%s: %s (%d), want %s", c.query, sorted(got.ids()), got.Hits.Total.Value, c.want)
		}
	}
}

func TestQueriesThatAreRefused(t *testing.T) {
	s := logs(t)
	for _, q := range []string{"(level:error", "level:error)", `"open`, "level:", "AND", "status:[1 TO", "status:[1 2]", "status:many", "a:/x/", "a~", "status:>", "+", "message:a*b*c*d*e*f*g", "caf\xe9", strings.Repeat("(", 100) + "a"} {
		if code, body := call(t, s, "GET", "/web/_search?q="+url.QueryEscape(q), ""); code != 400 {
			t.Errorf("%s: %d %s", q, code, body)
		}
	}
	for _, body := range []string{`{"query":{"fuzzy":{}}}`, `{"aggs":{}}`, `{"size":20000}`, `{"size":-1}`, `{`, `{"sort":[{"a":1}]}`} {
		if code, answer := call(t, s, "POST", "/web/_search", body); code != 400 {
			t.Errorf("%s: %d %s", body, code, answer)
		}
	}
}

func TestSearchBodies(t *testing.T) {
	s := logs(t)
	for _, c := range []struct{ target, body, want string }{
		{"/web/_search", `{"query":{"match_all":{}},"sort":[{"at":"desc"}],"size":2}`, "43"},
		{"/web/_search", `{"query":{"match_all":{}},"sort":[{"at":{"order":"asc"}}],"from":1,"size":2}`, "23"},
		{"/web/_search?sort=status:asc", "", "4231"},
		{"/web,app/_search?size=1&sort=message", `{"query":{"query_string":{"query":"level:error","default_operator":"AND"}}}`, "5"},
		{"/_search", `{"query":{"query_string":{"query":"failed 17","default_operator":"AND"}}}`, "1"},
		{"/_search", `{"query":{"match":{"message":"page"}}}`, "3"},
		{"/_search", `{"query":{"match":{"status":{"query":404}}}}`, "3"},
		{"/_search", `{"query":{"term":{"level":{"value":"warn"}}}}`, "4"},
		{"/_search", `{"query":{"ids":{"values":["6"]}}}`, "6"},
		{"/_search", `{"query":{"exists":{"field":"http.status"}},"sort":"http.status"}`, "65"},
		{"/w*/_search?q=level:info", "", "2"},
	} {
		var got answer
		body := must(t, s, "POST", c.target, c.body)
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		ids := got.ids()
		if !strings.Contains(c.target+c.body, "sort") {
			ids = sorted(ids)
		}
		// "message" is a text: it is sorted by nothing, and any order is right.
		if ids != c.want && !strings.Contains(c.target, "sort=message") {
			t.Errorf("%s %s: %s, want %s", c.target, c.body, ids, c.want)
		}
	}
}

func TestOtherRequests(t *testing.T) {
	s := logs(t)
	for _, c := range []struct {
		method, target, body string
		status               int
		contains             string
	}{
		{"GET", "/", "", 200, `"number":"7.17.28"`},
		{"GET", "/?filter_path=version.number", "", 200, `{"version":{"number":"7.17.28"}}`},
		{"HEAD", "/", "", 200, ""},
		{"GET", "/_count", "", 200, `"count":6`},
		{"GET", "/web/_count", "", 200, `"count":4`},
		{"GET", "/web/_count?q=level:error", "", 200, `"count":2`},
		{"POST", "/web/_count", `{"query":{"query_string":{"query":"match_all"}}}`, 200, `"count":0`},
		{"GET", "/none/_count", "", 404, "index_not_found_exception"},
		{"GET", "/none*/_count", "", 200, `"count":0`},
		{"POST", "/web/_refresh", "", 200, `"failed":0`},
		{"HEAD", "/web", "", 200, ""},
		{"HEAD", "/none", "", 404, ""},
		{"PUT", "/web", "", 400, "resource_already_exists_exception"},
		{"PUT", "/Web", "", 400, "invalid_index_name_exception"},
		{"PUT", "/bad", `{"mappings":{"properties":{"a":{"type":"colour"}}}}`, 400, "No handler for type [colour]"},
		{"HEAD", "/bad", "", 404, ""},
		{"GET", "/_cluster/health", "", 200, `"status":"green"`},
		{"GET", "/_cat/indices?v", "", 200, "health status index"},
		{"GET", "/_cat/indices/web?format=json", "", 200, `"docs.count":"4"`},
		{"GET", "/web/_doc/1", "", 200, `"found":true`},
		{"GET", "/web/_doc/none", "", 404, `"found":false`},
		{"POST", "/_mget", `{"docs":[{"_index":"web","_id":"1"},{"_index":"app","_id":"6"},{"_index":"no","_id":"1"}]}`, 200, `"message":"fine"`},
		{"POST", "/web/_mget", `{"ids":["1","x"]}`, 200, `"found":false`},
		{"GET", "/web/_mapping", "", 200, `"keyword"`},
		{"GET", "/_nodes", "", 400, "no handler found"},
		{"DELETE", "/web", "", 200, `"acknowledged":true`},
		{"GET", "/_count", "", 200, `"count":2`},
	} {
		code, body := call(t, s, c.method, c.target, c.body)
		if code != c.status || !strings.Contains(body, c.contains) {
			t.Errorf("%s %s: %d %s; want %d %s", c.method, c.target, code, body, c.status, c.contains)
		}
	}
}

func TestSourceIsKeptByteForByte(t *testing.T) {
	s := newServer(t, Options{})
	source := `{"id":9007199254740993,"price":1.10,"m":"a\u2028b"}`
	must(t, s, "POST", "/i/_bulk", "{\"create\":{\"_id\":\"a/b\"}}\n"+source+"\n")
	for id, got := range s.Documents("i") {
		if id != "a/b" || string(got) != source {
			t.Errorf("%s: %s", id, got)
		}
	}
	if body := must(t, s, "GET", "/i/_doc/a%2Fb", ""); !strings.Contains(body, `"price":1.10`) {
		t.Errorf("got %s", body)
	}
}

// TestOldDocumentsAreOnlyCounted: memory is bounded, and the count is honest.
func TestOldDocumentsAreOnlyCounted(t *testing.T) {
	s := newServer(t, Options{Keep: 100})
	for i := range 50 {
		var b strings.Builder
		for j := range 10 {
			fmt.Fprintf(&b, "{\"create\":{\"_index\":\"i%d\",\"_id\":\"%d\"}}\n{\"n\":%d}\n", i%2, i*10+j, i)
		}
		must(t, s, "POST", "/_bulk", b.String())
	}
	st := s.Stats()
	if st.Documents != 500 || st.Searchable > 100 || st.Searchable < 90 {
		t.Errorf("stats %+v", st)
	}
	if body := must(t, s, "GET", "/_count", ""); !strings.Contains(body, `"count":500`) {
		t.Errorf("count: %s", body)
	}
	var got answer
	if err := json.Unmarshal([]byte(must(t, s, "GET", "/_search?q=n:>=0&size=200", "")), &got); err != nil {
		t.Fatal(err)
	}
	if int64(got.Hits.Total.Value) != st.Searchable || len(got.Hits.Hits) != got.Hits.Total.Value {
		t.Errorf("%d documents found, %d searchable", got.Hits.Total.Value, st.Searchable)
	}
	if code, _ := call(t, s, "GET", "/i1/_doc/499", ""); code != 200 {
		t.Error("the newest document is not there")
	}
	if code, _ := call(t, s, "GET", "/i0/_doc/0", ""); code != 404 {
		t.Error("the oldest document is still there")
	}
}

func TestOverwrittenDocumentsAreFoundOnce(t *testing.T) {
	s := newServer(t, Options{Keep: 40}) // generations of two
	for i := range 20 {
		must(t, s, "POST", "/i/_bulk", fmt.Sprintf("{\"index\":{\"_id\":\"%d\"}}\n{\"n\":%d,\"all\":1}\n", i%4, i))
	}
	must(t, s, "POST", "/i/_bulk", "{\"delete\":{\"_id\":\"3\"}}\n")
	var got answer
	if err := json.Unmarshal([]byte(must(t, s, "GET", "/i/_search?q=all:1&sort=n", "")), &got); err != nil {
		t.Fatal(err)
	}
	if got.ids() != "012" || got.Hits.Total.Value != 3 {
		t.Errorf("found %s (%d)", got.ids(), got.Hits.Total.Value)
	}
	if body := must(t, s, "GET", "/i/_count", ""); !strings.Contains(body, `"count":3`) {
		t.Errorf("count: %s", body)
	}
}

// FuzzQueryString: any text is a query or a refusal, and never a crash or a
// fault of the library.
func FuzzQueryString(f *testing.F) {
	for _, q := range []string{`a:b AND (c OR "d e") -f`, "n:[1 TO *}", "n:>=2^3", `\:*?`, "at:2026-01", "_exists_:n", "+ - !"} {
		f.Add(q)
	}
	s := New(Options{})
	f.Cleanup(s.Close)
	f.Fuzz(func(t *testing.T, q string) {
		s.mu.Lock()
		if s.indices["i"] == nil {
			e := s.putIndexLocked("i", nil, json.RawMessage(`{"properties":{"n":{"type":"long"},"at":{"type":"date"},"m":{"type":"text"},"k":{"type":"keyword"}}}`))
			if e != nil {
				t.Fatal(e)
			}
			_, err := s.storeLocked(s.indices["i"], "1", []byte("{}"), []indexed{{"m", typeText, "some words"}, {"n", typeLong, sortable(1)}}, 1)
			if err != nil {
				t.Fatal(err)
			}
		}
		s.mu.Unlock()
		ten := 10
		if _, _, _, e := s.find([]string{"i"}, &searchRequest{q: q, Size: &ten}); e != nil && e.Status != 400 {
			t.Errorf("%q: %v", q, e)
		}
	})
}

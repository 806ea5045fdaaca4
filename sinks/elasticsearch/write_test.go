package elasticsearch

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"penstock/configs/value"
	"penstock/pipeline"
	"penstock/sinks/elasticsearch/estest"
)

func TestWireForm(t *testing.T) {
	server := estest.New(t)
	s := newSink(t, testConfig(server.URL+"/prefix/"))
	b := threeDocuments(t, s)
	out, err := s.store(t.Context(), s.nodes.all[0], b)
	if err != nil || len(out.Items) != 0 || out.Wire != int64(len(b.body)) {
		t.Fatalf("got %+v, %v", out, err)
	}
	r := server.Requests()[0]
	if r.Method != "POST" || r.Path != "/prefix/idx/_bulk" || r.Query != bulkQuery {
		t.Errorf("got %s %s?%s", r.Method, r.Path, r.Query)
	}
	for key, want := range map[string]string{
		"Content-Type": "application/x-ndjson", "Accept": "application/json", "User-Agent": "penstock/1.2.3",
		"Content-Encoding": "", "Authorization": "", "Content-Length": fmt.Sprint(len(b.body)),
	} {
		if got := strings.Join(r.Header.Values(key), "|"); got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
	if string(r.Wire) != string(b.body) {
		t.Errorf("got body\n%s", r.Wire)
	}
	if got := s.Nodes(); len(got) != 1 || got[0] != server.URL+"/prefix" {
		t.Errorf("nodes %v", got)
	}
}

func TestIndexIsEscapedInThePath(t *testing.T) {
	server := estest.New(t)
	s := newSink(t, testConfig(server.URL+"/a%2Fb"))
	b := threeDocuments(t, s)
	b.destination = "100%é+x"
	if _, err := s.store(t.Context(), s.nodes.all[0], b); err != nil {
		t.Fatal(err)
	}
	if got := server.Requests()[0].Path; got != "/a/b/100%é+x/_bulk" {
		t.Errorf("got %q", got)
	}
}

func TestGzip(t *testing.T) {
	server := estest.New(t)
	c := testConfig(server.URL)
	c.Compression = CompressionGzip
	s := newSink(t, c)
	for range 3 { // the second and third reuse a compressor
		b := bulkOf(t, s, `{"m":"`+strings.Repeat("a", 100_000)+`"}`, `{"m":"caf`+"\xc3\xa9"+`"}`)
		out, err := s.store(t.Context(), s.nodes.all[0], b)
		if err != nil {
			t.Fatal(err)
		}
		requests := server.Requests()
		r := requests[len(requests)-1]
		if r.Header.Get("Content-Encoding") != "gzip" || string(r.Body) != string(b.body) || out.Wire != int64(len(r.Wire)) || out.Wire > 2000 {
			t.Errorf("%d bytes on the wire of %d, counted %d", len(r.Wire), len(b.body), out.Wire)
		}
	}
}

func TestAnEmptyBatchSendsNothing(t *testing.T) {
	server := estest.New(t)
	s := newSink(t, testConfig(server.URL))
	if out, err := s.Write(t.Context(), 0, &pipeline.Batch{Destination: "idx"}); err != nil || len(out.Items) != 0 {
		t.Errorf("got %v, %v", out, err)
	}
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestRedeliveryIsDuplicate(t *testing.T) {
	server := estest.New(t)
	s := newSink(t, testConfig(server.URL))
	for _, want := range []string{"", "0:duplicate 1:duplicate 2:duplicate"} {
		out, err := s.store(t.Context(), s.nodes.all[0], threeDocuments(t, s))
		if got := verdicts(out.Items); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if got := server.Indices(); got["idx"] != 3 {
		t.Errorf("got %v", got)
	}
}

func TestAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		reply *estest.Reply
		class pipeline.Class
		text  string
	}{
		"HTML":       {&estest.Reply{Body: "<html>ok</html>", Header: http.Header{"Content-Type": {"text/html"}}}, pipeline.Unknown, "proves nothing"},
		"empty":      {&estest.Reply{Empty: true}, pipeline.Unknown, "ends early"},
		"no content": {&estest.Reply{Status: 204, Empty: true}, pipeline.Unknown, "ends early"},
		"401":        {estest.Failure(401, "security_exception", "no"), pipeline.Unauthorized, "api_key"},
		"413":        {&estest.Reply{Status: 413, Empty: true}, pipeline.TooLarge, ""},
		"429":        {&estest.Reply{Status: 429, Header: http.Header{"Retry-After": {"2"}}, Empty: true}, pipeline.Busy, ""},
		"redirect":   {&estest.Reply{Status: 307, Header: http.Header{"Location": {"http://u:s3cr@other/x"}}, Empty: true}, pipeline.Misconfigured, "http://other/x"},
		"dropped":    {&estest.Reply{Drop: true}, pipeline.Unavailable, "EOF"},
		"status 999": {&estest.Reply{Status: 999, Body: "x"}, pipeline.Unavailable, "999"},
	} {
		t.Run(name, func(t *testing.T) {
			server := estest.New(t, test.reply)
			s := newSink(t, testConfig(server.URL))
			b := threeDocuments(t, s)
			_, err := s.store(t.Context(), s.nodes.all[0], b)
			e := requestError(t, err)
			if e.Class != test.class || !strings.Contains(e.Error(), test.text) || !strings.Contains(e.Error(), server.URL) || strings.Contains(e.Error(), "s3cr") {
				t.Errorf("got %v, want %v with %q", e, test.class, test.text)
			}
			// The client must not hold it against its only node: the next request leaves.
			if _, err := s.store(t.Context(), s.nodes.all[0], b); err != nil {
				t.Errorf("the next request: %v", err)
			}
			if n := len(server.Requests()); n != 2 {
				t.Errorf("%d requests, want 2", n)
			}
		})
	}
}

func TestAnswerOverTheLimit(t *testing.T) {
	server := estest.New(t, &estest.Reply{Body: strings.Repeat(" ", 100<<10) + good}, &estest.Reply{Status: 500, Body: strings.Repeat("x", 1<<20)})
	c := testConfig(server.URL)
	c.MaxResponse = 64 * value.KiB
	s := newSink(t, c)
	_, err := s.store(t.Context(), s.nodes.all[0], threeDocuments(t, s))
	if e := requestError(t, err); e.Class != pipeline.Unknown || !errors.Is(e, errTooLong) {
		t.Errorf("got %v", e)
	}
	_, err = s.store(t.Context(), s.nodes.all[0], threeDocuments(t, s))
	if e := requestError(t, err); e.Class != pipeline.Unavailable || e.Reason.Status != 500 {
		t.Errorf("got %v", e)
	}
}

func TestRequestTimeoutCoversTheAnswer(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	slow := &slowAnswer{stop: stop}
	for name, handler := range map[string]http.Handler{"silent": http.HandlerFunc(slow.silent), "half": http.HandlerFunc(slow.half)} {
		t.Run(name, func(t *testing.T) {
			server := newHTTPServer(t, handler)
			c := testConfig(server)
			c.RequestTimeout = 150 * time.Millisecond
			s := newSink(t, c)
			_, err := s.store(t.Context(), s.nodes.all[0], threeDocuments(t, s))
			if e := requestError(t, err); e.Class != pipeline.Unavailable || !strings.Contains(e.Error(), "request_timeout, 150ms") {
				t.Errorf("got %v", e)
			}
		})
	}
}

func TestWriteHeedsItsContext(t *testing.T) {
	arrived := make(chan struct{})
	server := estest.New(t)
	server.Hook(func(*estest.Request) *estest.Reply {
		close(arrived)
		return &estest.Reply{Wait: make(chan struct{})}
	})
	s := newSink(t, testConfig(server.URL))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	if _, err := s.store(ctx, s.nodes.all[0], threeDocuments(t, s)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	if !s.Usable(0) {
		t.Error("a node is not to blame for our stopping")
	}
}

func TestTLS(t *testing.T) {
	server := estest.NewTLS(t)
	server.Config.ErrorLog = nil
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	write := func(change func(*Config)) error {
		c := testConfig(server.URL)
		change(&c)
		s := newSink(t, c)
		_, err := s.store(t.Context(), s.nodes.all[0], threeDocuments(t, s))
		return err
	}
	if err := write(func(c *Config) { c.CA = ca }); err != nil {
		t.Errorf("with its authority: %v", err)
	}
	if err := write(func(c *Config) { c.InsecureSkipVerify = true }); err != nil {
		t.Errorf("without a check: %v", err)
	}
	e := requestError(t, write(func(*Config) {}))
	if e.Class != pipeline.Unavailable || !strings.Contains(e.Error(), "PEM file in ca") {
		t.Errorf("unknown authority: %v", e)
	}
	e = requestError(t, write(func(c *Config) { c.URLs = NewURLs("http" + strings.TrimPrefix(server.URL, "https")) }))
	if e.Class != pipeline.Misconfigured || !strings.Contains(e.Error(), "write https://") {
		t.Errorf("http to https: %v", e)
	}
}

func TestHTTPSToAnHTTPServer(t *testing.T) {
	server := estest.New(t)
	s := newSink(t, testConfig("https"+strings.TrimPrefix(server.URL, "http")))
	_, err := s.store(t.Context(), s.nodes.all[0], threeDocuments(t, s))
	if e := requestError(t, err); !strings.Contains(e.Error(), "write http:// in urls") {
		t.Errorf("got %v", e)
	}
}

func TestBadCAFileIsNamed(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{empty, empty + ".missing"} {
		c := testConfig("https://es")
		c.CA = path
		if _, err := New(c, Options{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

func TestServersMayBeDownAtStart(t *testing.T) {
	s := newSink(t, testConfig("http://127.0.0.1:1"))
	_, err := s.store(t.Context(), s.nodes.all[0], threeDocuments(t, s))
	if e := requestError(t, err); e.Class != pipeline.Unavailable || !strings.Contains(e.Error(), "refused") {
		t.Errorf("got %v", e)
	}
}

// Ten thousand refusals with long reasons are read, cut and kept apart from the
// texts that say all the same.
func TestManyRefusals(t *testing.T) {
	const n = 10_000
	server := estest.New(t,
		&estest.Reply{Item: func(int, estest.Doc) estest.Item {
			return estest.Item{Status: 400, Type: "mapper_parsing_exception", Reason: strings.Repeat("r", 2048)}
		}},
		&estest.Reply{Item: func(place int, _ estest.Doc) estest.Item {
			return estest.Item{Status: 429, Type: "es_rejected_execution_exception", Reason: fmt.Sprint("rejected execution of ", place)}
		}})
	s := newSink(t, testConfig(server.URL))
	documents := make([]string, n)
	for i := range documents {
		documents[i] = `{"a":1}`
	}
	b := bulkOf(t, s, documents...)
	for _, want := range []pipeline.Verdict{pipeline.Rejected, pipeline.Throttled} {
		out, err := s.store(t.Context(), s.nodes.all[0], b)
		if err != nil || len(out.Items) != n {
			t.Fatalf("%d items, %v", len(out.Items), err)
		}
		texts := 0
		for i, item := range out.Items {
			if i > 0 && want == pipeline.Rejected {
				texts += len(item.Reason.Text)
			}
			if item.Doc != i || item.Verdict != want || len(item.Reason.Text) > pipeline.MaxReasonText || item.Reason.Text == "" {
				t.Fatalf("item %d is %d %v with %d bytes of text", i, item.Doc, item.Verdict, len(item.Reason.Text))
			}
		}
		if most := manyTexts + pipeline.MaxReasonText + n*briefText; texts > most {
			t.Errorf("the reasons take %d bytes, want %d at most", texts, most)
		}
	}
}

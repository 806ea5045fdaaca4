package elasticsearch

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"penstock/pipeline"
)

func TestClassify(t *testing.T) {
	for name, test := range map[string]struct {
		status     int
		header     string
		body       string
		compressed bool
		class      pipeline.Class
		text       string
	}{
		"401":              {status: 401, body: `{"error":{"type":"security_exception","reason":"unable to authenticate user [u]"}}`, class: pipeline.Unauthorized, text: "unable to authenticate user [u]; check username and password"},
		"403":              {status: 403, body: `{"error":{"type":"security_exception","reason":"action [indices:data/write/bulk] is unauthorized"}}`, class: pipeline.Unauthorized, text: "create_doc"},
		"403 block":        {status: 403, body: `{"error":{"type":"cluster_block_exception","reason":"blocked"}}`, class: pipeline.Unavailable, text: "blocked"},
		"503 block":        {status: 503, body: `{"error":{"type":"cluster_block_exception","reason":"no master"}}`, class: pipeline.Unavailable, text: "no master"},
		"413":              {status: 413, class: pipeline.TooLarge},
		"429":              {status: 429, class: pipeline.Busy},
		"429 retry":        {status: 429, header: "Retry-After: 7", class: pipeline.Busy},
		"503":              {status: 503, class: pipeline.Unavailable},
		"503 retry":        {status: 503, header: "Retry-After: 7", class: pipeline.Busy},
		"500":              {status: 500, class: pipeline.Unavailable},
		"502 page":         {status: 502, header: "Content-Type: text/html", body: `<html>secret document</html>`, class: pipeline.Unavailable, text: "not JSON"},
		"408":              {status: 408, class: pipeline.Unavailable},
		"400":              {status: 400, body: `{"error":{"type":"action_request_validation_exception","reason":"Validation Failed: 1: id [x] is too long;"},"status":400}`, class: pipeline.Refused, text: "id [x] is too long"},
		"400 gzip":         {status: 400, compressed: true, body: `{"error":{"type":"illegal_argument_exception","reason":"The bulk request must be terminated by a newline [\\n]"}}`, class: pipeline.Refused, text: "compression: none"},
		"400 parser":       {status: 400, body: `{"error":{"type":"x_content_parse_exception","reason":"Unrecognized token 'secret'"}}`, class: pipeline.Refused},
		"400 path":         {status: 400, body: `{"error":"no handler found for uri [/x/idx/_bulk] and method [POST]"}`, class: pipeline.Misconfigured, text: "check the path in urls"},
		"400 TLS":          {status: 400, body: "Client sent an HTTP request to an HTTPS server.", class: pipeline.Misconfigured, text: "https://"},
		"422":              {status: 422, class: pipeline.Refused},
		"400 text":         {status: 400, body: `{"error":"secret"}`, class: pipeline.Refused},
		"404":              {status: 404, class: pipeline.Misconfigured, text: "check host, port and path"},
		"405":              {status: 405, class: pipeline.Misconfigured, text: "check host, port and path"},
		"406":              {status: 406, class: pipeline.Misconfigured, text: "application/x-ndjson"},
		"415":              {status: 415, class: pipeline.Misconfigured, text: "application/x-ndjson"},
		"redirect":         {status: 302, header: "Location: https://user:secret@login.example/x?token=secret#secret", class: pipeline.Misconfigured, text: "https://login.example/x"},
		"redirect nowhere": {status: 301, class: pipeline.Misconfigured, text: "redirects"},
		"418":              {status: 418, class: pipeline.Misconfigured},
	} {
		t.Run(name, func(t *testing.T) {
			header := http.Header{"Content-Type": {"application/json"}}
			if key, value, ok := strings.Cut(test.header, ": "); ok {
				header.Set(key, value)
			}
			e := refusal{node: "http://es", status: test.status, header: header, body: []byte(test.body), compressed: test.compressed, description: "to store documents"}.classify()
			if e.Class != test.class || e.Reason.Status != test.status || !strings.Contains(e.Reason.Text, test.text) || !strings.HasPrefix(e.Reason.Text, "http://es refused to store documents") {
				t.Errorf("got %v, want %v with %q", e, test.class, test.text)
			}
			if strings.Contains(e.Error(), "secret") {
				t.Errorf("the text quotes what it must not: %v", e)
			}
			if want := time.Duration(strings.Count(test.header, "Retry-After")) * 7 * time.Second; e.RetryAfter != want {
				t.Errorf("retry after %s, want %s", e.RetryAfter, want)
			}
		})
	}
}

func TestRefusalTextsAreShort(t *testing.T) {
	body := `{"error":{"type":"security_exception","reason":"` + strings.Repeat("é", 2000) + `"}}`
	e := refusal{node: "http://es", status: 401, header: http.Header{}, body: []byte(body)}.classify()
	if n := len(e.Reason.Text); n > pipeline.MaxReasonText || !strings.Contains(e.Reason.Text, "check username") {
		t.Errorf("%d bytes, want the remedy within %d: %s", n, pipeline.MaxReasonText, e.Reason.Text)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"":                              0,
		"3":                             3 * time.Second,
		" 3 ":                           3 * time.Second,
		"-3":                            0,
		"99999999999999999":             time.Hour,
		"soon":                          0,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute,
		"Fri, 02 Jan 2026 03:00:00 GMT": 0,
		"Sat, 03 Jan 2026 03:00:00 GMT": time.Hour,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

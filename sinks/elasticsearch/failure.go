package elasticsearch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"penstock/pipeline"
)

// maxErrorBytes is how much is read of an answer that is not 2xx.
const maxErrorBytes = 64 << 10

// maxRetryAfter bounds what a server can ask for.
const maxRetryAfter = time.Hour

// refusal is an answer that is not 2xx.
type refusal struct {
	node        string
	status      int
	header      http.Header
	body        []byte // its beginning
	compressed  bool   // the request's body was
	description string // what was asked for, e.g. "writing documents"
}

// classify says what a whole request's refusal means. It is the one place that
// does, for documents and for the creation of indices.
func (f refusal) classify() *pipeline.RequestError {
	kind, reason := serverError(f.body)
	e := &pipeline.RequestError{Reason: pipeline.Reason{Status: f.status, Type: kind}}
	remedy := ""
	switch s := f.status; {
	case kind == typeClusterBlock:
		// 403 too: nobody's credentials are wrong when the cluster has no master.
		e.Class = pipeline.Unavailable
	case s == 401:
		e.Class, remedy = pipeline.Unauthorized, "check username and password, or api_key, and start again with the new ones"
	case s == 403:
		e.Class, remedy = pipeline.Unauthorized, "give the user or key the right to write these indices (create_doc, or index for op: index; auto_configure to create them)"
	case s == 413:
		e.Class = pipeline.TooLarge
	case s == 429:
		e.Class = pipeline.Busy
	case s == 503 && f.header.Get("Retry-After") != "":
		e.Class = pipeline.Busy
	case s == 408 || s == 425 || s >= 500:
		e.Class = pipeline.Unavailable
	case s == 400 && wantsTLS(f.body):
		e.Class, remedy = pipeline.Misconfigured, "it wants TLS: write https:// in urls"
	case s == 400 && strings.HasPrefix(reason, "no handler found for uri"):
		e.Class, remedy = pipeline.Misconfigured, "there is no bulk API at this path: check the path in urls"
	case s == 400 || s == 422:
		e.Class = pipeline.Refused
		if f.compressed {
			remedy = "if every request fails so, something on the way garbles compressed bodies: write compression: none"
		}
	default:
		e.Class, remedy = pipeline.Misconfigured, f.misconfigured()
	}
	if e.Class == pipeline.Busy || e.Class == pipeline.Unavailable {
		e.RetryAfter = retryAfter(f.header.Get("Retry-After"), time.Now())
	}
	text := f.node + " refused " + f.description
	switch {
	case len(f.body) == 0: // nothing to say
	case reason == "" && !isJSON(f.header):
		text += ", with an answer that is not JSON" // a proxy's page, perhaps
	case reason != "" && (f.status != 400 && f.status != 422 && f.status != 500 || quotesNoDocument(kind)):
		text += ": " + strings.Join(strings.Fields(reason), " ")
	}
	if remedy != "" {
		text = cut(text, pipeline.MaxReasonText-len(remedy)-2) + "; " + remedy
	}
	e.Reason.Text = cut(text, pipeline.MaxReasonText)
	return e
}

// misconfigured gives the remedy for what no document can be the cause of.
func (f refusal) misconfigured() string {
	switch s := f.status; {
	case s >= 300 && s < 400:
		if to := location(f.header.Get("Location")); to != "" {
			return "it redirects to " + to + ": write the address of the server itself in urls"
		}
		return "it redirects: write the address of the server itself in urls"
	case s == 404 || s == 405:
		return "there is no bulk API at this address: check host, port and path in urls"
	case s == 406 || s == 415:
		return "it does not take application/x-ndjson: check that urls leads to Elasticsearch or OpenSearch, and that nothing on the way alters Content-Type"
	}
	return "check that urls leads to Elasticsearch or OpenSearch, and what stands before it"
}

// location gives the address of a redirect without what may be secret in it.
func location(s string) string {
	u, err := url.Parse(s)
	if err != nil || s == "" {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return cut(u.String(), 256)
}

// serverError reads {"error":{"type":..,"reason":..}} and {"error":".."}.
func serverError(body []byte) (kind, reason string) {
	var answer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return "", ""
	}
	k, text, _ := explain(answer.Error)
	if k != nil {
		kind = cut(unquote(k), maxTypeText)
	}
	return kind, reasonText(text, pipeline.MaxReasonText)
}

// quotesNoDocument tells whether errors of this type quote ids, names and limits
// at most. Those of parsers quote what they could not parse.
func quotesNoDocument(kind string) bool {
	switch kind {
	case "action_request_validation_exception", "illegal_argument_exception", "invalid_index_name_exception",
		"validation_exception", "resource_already_exists_exception", "settings_exception":
		return true
	}
	return false
}

// wantsTLS tells whether a plain request met a port for TLS (as Go, nginx and
// Jetty say it; Elasticsearch itself hangs up).
func wantsTLS(body []byte) bool {
	return bytes.Contains(body, []byte("HTTP request to an HTTPS server")) || bytes.Contains(body, []byte("sent to HTTPS port"))
}

func isJSON(h http.Header) bool { return strings.Contains(h.Get("Content-Type"), "json") }

// retryAfter reads seconds or an HTTP date, 0 if there is neither.
func retryAfter(s string, now time.Time) time.Duration {
	var d time.Duration
	if seconds, err := strconv.Atoi(strings.TrimSpace(s)); err == nil {
		d = maxRetryAfter
		if seconds < int(maxRetryAfter/time.Second) {
			d = time.Duration(seconds) * time.Second
		}
	} else if at, err := http.ParseTime(s); err == nil {
		d = at.Sub(now)
	}
	return min(max(d, 0), maxRetryAfter)
}

// unreachable is the error of a request that got no answer.
func unreachable(node, remedy string, err error) *pipeline.RequestError {
	text := "sending to " + node
	if remedy != "" {
		text += " (" + remedy + ")"
	}
	return &pipeline.RequestError{Class: pipeline.Unavailable, Reason: pipeline.Reason{Text: text}, Err: err}
}

// unproven is the error of an answer that proves nothing.
func unproven(node string, status int, err error) *pipeline.RequestError {
	return &pipeline.RequestError{
		Class:  pipeline.Unknown,
		Reason: pipeline.Reason{Status: status, Type: "bulk_response_invalid", Text: fmt.Sprintf("the answer of %s proves nothing", node)},
		Err:    err,
	}
}

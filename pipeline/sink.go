package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Sink stores documents. It classifies what the server says; retrying, waiting
// and giving up are the pipeline's business.
type Sink interface {
	// Route names the destination (an index) of a record. It is called by one
	// goroutine, once for each record, and must not allocate for a destination
	// that it returned lately. An error that is a *DocumentError sends the record
	// to the dead letters.
	Route(r *Record) (string, error)
	// Append encodes one document at the end of b.Body. It is called by one
	// goroutine and must not allocate. doc is the decoded document: append it by
	// doc.AppendTo. On a *DocumentError the pipeline takes back what was appended.
	Append(b *Batch, r *Record, doc Document, destination string) error
	// Nodes are the addresses that the sink can send to, without credentials;
	// the limiter works per node. Fixed for the life of the sink.
	Nodes() []string
	// Usable tells whether node (an index into Nodes) is worth sending to now.
	Usable(node int) bool
	// Write sends the batch once, to that node, and never retries. Many
	// goroutines write, each its own batch. When it returns, nothing reads
	// b.Body any more. An error means that nothing is known to be stored: a
	// *RequestError with what is known of the cause, or ctx's error.
	Write(ctx context.Context, node int, b *Batch) (Outcome, error)
	// Close releases connections. No Write is running.
	Close(ctx context.Context) error
}

// Verdict is what became of one document.
type Verdict uint8

// The verdicts, in the order in which they are counted.
const (
	// Stored: the sink has it.
	Stored Verdict = iota
	// Duplicate: the sink had it already, under our own id.
	Duplicate
	// Rejected: this document is bad; another try is refused again.
	Rejected
	// Throttled: the sink is too busy for it now (429, 503). The limiter slows down.
	Throttled
	// Blocked: its destination takes nothing now (missing, closed, read-only,
	// disk full, no permission). Held until that changes.
	Blocked
)

var verdictNames = [...]string{"stored", "duplicate", "rejected", "throttled", "blocked"}

// String gives the verdict's name as used in metrics and logs.
func (v Verdict) String() string { return verdictNames[v] }

// Outcome is the sink's answer to one request.
type Outcome struct {
	// Items has one entry for each document that was not newly stored, in
	// ascending order of Doc. Documents that are not listed are stored.
	Items []Item
	// Wire is the size of the request's body as sent, in bytes (after compression).
	Wire int64
}

// Item is the verdict on one document that was not newly stored.
type Item struct {
	// Doc is the document's position in the batch as it was sent.
	Doc int
	// Verdict is never Stored.
	Verdict Verdict
	// Reason says what the sink said.
	Reason Reason
}

// Reason is a sink's or decoder's explanation of a failure, short enough to be
// logged and put in a header: Text is at most [MaxReasonText] bytes.
type Reason struct {
	// Status is the HTTP status of the item or the request, 0 if there was none.
	Status int
	// Type is the machine-readable error type, e.g. mapper_parsing_exception.
	Type string
	// Text is for people. It may quote the document, so it is not logged.
	Text string
}

// MaxReasonText bounds Reason.Text, in bytes.
const MaxReasonText = 1024

// Class sorts the failures of whole requests.
type Class uint8

// The classes of request failures.
const (
	// Unknown: the answer proves nothing (unreadable, cut off, wrong count).
	Unknown Class = iota
	// Unavailable: no connection, time-out, 5xx.
	Unavailable
	// Busy: the server asks for less (429, 503 with Retry-After).
	Busy
	// Unauthorized: credentials refused (401, 403).
	Unauthorized
	// TooLarge: the request is over the server's limit (413).
	TooLarge
	// Refused: the server refuses the request as it is (400); one document may
	// be the cause, or all of them.
	Refused
	// Misconfigured: no document can be the cause (404 on the URL, 405, 406, 415, 3xx).
	Misconfigured
)

var classNames = [...]string{"unknown", "unavailable", "busy", "unauthorized", "too_large", "refused", "misconfigured"}

// String gives the class's name as used in metrics and logs.
func (c Class) String() string { return classNames[c] }

// RequestError says why a whole request failed. Nothing of it is known to be stored.
type RequestError struct {
	Class Class
	// Reason may quote nothing of the documents; Text is safe to log and holds
	// no secret, and says what to do where that is known.
	Reason Reason
	// RetryAfter is the server's own wish, 0 if it had none.
	RetryAfter time.Duration
	// Err is the cause, if there is one.
	Err error
}

// Error describes the failure in one line.
func (e *RequestError) Error() string {
	s := e.Class.String()
	if e.Reason.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Reason.Status)
	}
	if e.Reason.Type != "" {
		s += " " + e.Reason.Type
	}
	if e.Reason.Text != "" {
		s += ": " + e.Reason.Text
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the cause.
func (e *RequestError) Unwrap() error { return e.Err }

// DocumentError says that one record can never be stored as it is, found
// before anything was sent.
type DocumentError struct {
	Reason Reason
}

// Error gives type and text.
func (e *DocumentError) Error() string { return e.Reason.Type + ": " + e.Reason.Text }

// ErrDone is returned by a Source that has reached its configured end.
var ErrDone = errors.New("source reached its configured end")

package search

import (
	"context"
	"hash/maphash"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// Fault is how the server misbehaves. Fields combine: a delay comes first,
// then what answers the whole request, then what happens to single documents.
type Fault struct {
	// Delay is added before each answer. A request whose client goes is dropped.
	Delay time.Duration
	// Cut closes the connection without an answer; nothing was done.
	Cut bool
	// CutAfter does what was asked, then closes the connection without an
	// answer: the client cannot know.
	CutAfter bool
	// Status answers every request with this status and Type and Reason; 0 does not.
	Status int
	// RetryAfter is sent with Status, in whole seconds; 0 sends none.
	RetryAfter time.Duration

	// ItemStatus refuses documents of bulk requests one by one with this
	// status, Type and Reason; 0 does not.
	ItemStatus int
	// ItemShare is the share of the documents that ItemStatus refuses; 0 is all.
	// The choice is a new one at each try.
	ItemShare float64
	// Indices are those whose documents ItemStatus refuses; empty is all.
	Indices []string

	// Type and Reason of the refusals.
	Type, Reason string
}

// SetFault makes the server misbehave from the next request on; nil ends it.
func (s *Server) SetFault(f *Fault) { s.faults.active.Store(f) }

type faults struct {
	active atomic.Pointer[Fault]
}

func (f *faults) current() *Fault { return f.active.Load() }

// before plays what comes before a request is looked at, and tells whether
// that was the answer.
func (f *Fault) before(w http.ResponseWriter, r *http.Request) bool {
	if f.Delay > 0 && wait(r.Context(), f.Delay) != nil {
		return true
	}
	if f.Cut {
		cut(w)
		return true
	}
	if f.Status == 0 {
		return false
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter.Seconds())))
	}
	writeError(w, f.refusal(f.Status))
	return true
}

func (f *Fault) refusal(status int) *apiError {
	return &apiError{Status: status, Type: f.Type, Reason: f.Reason}
}

// item gives the refusal of the n-th document of a request for index x, if
// there is one. seed differs from request to request.
func (f *Fault) item(seed maphash.Seed, n int, x string) *apiError {
	if f == nil || f.ItemStatus == 0 || len(f.Indices) > 0 && !slices.Contains(f.Indices, x) {
		return nil
	}
	if f.ItemShare > 0 {
		h := maphash.Comparable(seed, n)
		if float64(h>>11)/(1<<53) >= f.ItemShare {
			return nil
		}
	}
	return f.refusal(f.ItemStatus)
}

// cut ends the connection with a reset where there is one to reset.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http's own way to drop a connection
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// discard takes an answer that nobody is to see.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

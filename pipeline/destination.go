package pipeline

import (
	"sync"
	"sync/atomic"
	"time"
)

// destination is one place in the sink (an index), judged on its own.
type destination struct {
	name string
	gate *gate
	// troubled is set while its documents come back: then it has a lane of its
	// own, so that the others do not wait for it.
	troubled atomic.Bool
	// inFlight is the encoded bytes of its documents in the own lane's batches
	// that are being delivered, batches how many these are.
	inFlight atomic.Int64
	batches  atomic.Int64

	mu sync.Mutex
	// stored is when a document was last stored (or found stored) here.
	stored time.Time
	// refused counts, by error type, the documents refused since then.
	refused map[string]int

	lane *lane // owned by the loop
}

// mostTypes bounds the error types that are told apart.
const mostTypes = 32

// noteStored tells that documents were stored; refusals before it are not alike any more.
func (d *destination) noteStored(now time.Time) {
	d.mu.Lock()
	d.stored = now
	clear(d.refused)
	d.mu.Unlock()
}

// alike adds n refusals of one type from a request that stored nothing here,
// and tells whether they look systematic: from `from` documents on with none
// stored, unless something was stored since `since`, when this batch was first refused.
func (d *destination) alike(kind string, n, from int, since time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stored.After(since) {
		return false
	}
	if _, known := d.refused[kind]; !known && len(d.refused) >= mostTypes {
		kind = ""
	}
	d.refused[kind] += n
	return d.refused[kind] >= from
}

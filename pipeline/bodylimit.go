package pipeline

import (
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// bodyLimit is the most bytes of one request: what is set, or less where the
// sink has said 413. The server's limit may be raised, so now and then a
// larger request is tried again.
type bodyLimit struct {
	set     int64
	now     atomic.Int64
	changed atomic.Int64 // Unix nanoseconds
}

// relearnAfter is how long a learned limit stands before twice as much is
// tried: the price is one 413 in that time.
const relearnAfter = 10 * time.Minute

func (l *bodyLimit) init(set int64) { l.set = set; l.now.Store(set) }

func (l *bodyLimit) load() int64 { return l.now.Load() }

// learnLimit remembers that requests must be smaller than was tried.
func (p *Pipeline) learnLimit(size int) {
	l := &p.bodyLimit
	for old := l.load(); int64(size) < old; old = l.load() {
		if l.now.CompareAndSwap(old, int64(max(size, 1))) {
			l.changed.Store(time.Now().UnixNano())
			p.limited.Warn("sink says 413: smaller requests from now on; lower batch.bytes or raise the server's limit", zap.Int("bytes", size))
			return
		}
	}
}

// taken tells that a request of that size was taken.
func (l *bodyLimit) taken(size int, at time.Time) {
	limit := l.load()
	if limit < l.set && int64(size)*2 >= limit && at.UnixNano()-l.changed.Load() > int64(relearnAfter) {
		l.changed.Store(at.UnixNano())
		l.now.CompareAndSwap(limit, min(l.set, 2*limit))
	}
}

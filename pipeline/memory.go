package pipeline

import "sync"

// memory is the limit on the bytes of everything that is in flight. One
// goroutine acquires; any may release.
type memory struct {
	limit int64
	// released gets a token when bytes come back.
	released chan struct{}

	mu   sync.Mutex
	used int64
	peak int64
}

func newMemory(limit int64) *memory {
	return &memory{limit: limit, released: make(chan struct{}, 1)}
}

// tryAcquire takes n bytes if they fit. What is larger than the whole limit
// passes alone: when nothing else is in flight.
func (m *memory) tryAcquire(n int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used > 0 && m.used+n > m.limit {
		return false
	}
	m.used += n
	m.peak = max(m.peak, m.used)
	return true
}

// release gives n bytes back.
func (m *memory) release(n int64) {
	m.mu.Lock()
	m.used -= n
	m.mu.Unlock()
	select {
	case m.released <- struct{}{}:
	default:
	}
}

func (m *memory) inUse() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

package elasticsearch

import (
	"errors"
	"io"
	"sync"
)

var errBodyClosed = errors.New("request body read after it was closed")

// requestBody gives net/http the bytes of a request and tells when it is done
// with them. net/http may answer a request while another of its goroutines still
// reads the body (an early 413 does this), even after the response is closed;
// only Close says that the bytes can be reused, and only once no read is under way.
type requestBody struct {
	data []byte
	done func() // called once, when nothing reads data any more

	mu      sync.Mutex
	at      int
	reading bool
	closed  bool
	told    bool
}

// Read implements io.Reader.
func (b *requestBody) Read(p []byte) (int, error) {
	data, err := b.begin(len(p))
	if err != nil {
		return 0, err
	}
	n := copy(p, data)
	b.end(n)
	return n, nil
}

// begin hands out at most limit bytes until end is called.
func (b *requestBody) begin(limit int) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return nil, errBodyClosed
	case b.at == len(b.data):
		return nil, io.EOF
	}
	b.reading = true
	return b.data[b.at:min(len(b.data), b.at+limit)], nil
}

// end gives back what begin handed out, of which n bytes were used.
func (b *requestBody) end(n int) {
	b.mu.Lock()
	b.at += n
	b.reading = false
	b.tellLocked()
	b.mu.Unlock()
}

// Close implements io.Closer.
func (b *requestBody) Close() error {
	b.mu.Lock()
	b.closed = true
	b.tellLocked()
	b.mu.Unlock()
	return nil
}

func (b *requestBody) tellLocked() {
	if b.closed && !b.reading && !b.told {
		b.told = true
		b.done()
	}
}

package nullsink

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/klauspost/compress/gzip"
)

// bulk takes one _bulk request. The body is read whole before the answer, as a
// search server does; only then does net/http notice a client that goes away.
func (s *Server) bulk(w http.ResponseWriter, r *http.Request) {
	body := s.bodies.Get().(*buffer)
	defer s.bodies.Put(body)
	wire, err := s.readBody(body, r)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"type":"parse_exception","reason":%q},"status":400}`, err.Error())
		return
	}
	documents, op := count(body.b)
	s.read(wire, int64(len(body.b)))
	if !s.wait(r.Context()) {
		panic(http.ErrAbortHandler) // net/http's way to end a request without an answer
	}
	answer := s.answers.Get().(*buffer)
	defer s.answers.Put(answer)
	answer.b = appendAnswer(answer.b[:0], shapeOf(r.URL.Query().Get("filter_path")), documents, op)
	if _, err := w.Write(answer.b); err == nil {
		s.answered(documents)
	}
}

// readBody reads a request's body into b, decompressed, and gives the bytes that
// came over the wire.
func (s *Server) readBody(b *buffer, r *http.Request) (int64, error) {
	wire := &counter{r: r.Body}
	b.b = b.b[:0]
	switch e := r.Header.Get("Content-Encoding"); e {
	case "", "identity":
		if n := r.ContentLength; n > 0 && n < 1<<30 {
			// One more, so that the end is seen without growing.
			b.b = slices.Grow(b.b, int(n)+1)
		}
		var err error
		b.b, err = readAll(b.b, wire)
		return wire.n, err
	case "gzip":
		z := s.unzip.Get().(*gzip.Reader)
		defer s.unzip.Put(z)
		if err := z.Reset(bufio.NewReaderSize(wire, 64<<10)); err != nil {
			return wire.n, fmt.Errorf("reading the gzip header: %w", err)
		}
		var err error
		b.b, err = readAll(b.b, z)
		return wire.n, err
	default:
		return 0, fmt.Errorf("Content-Encoding %q is not understood; send gzip or none", e)
	}
}

// readAll appends all of r to b, keeping b's room, which io.ReadAll would not.
func readAll(b []byte, r io.Reader) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = slices.Grow(b, 64<<10)
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, fmt.Errorf("reading the body: %w", err)
		}
	}
}

// counter counts what is read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

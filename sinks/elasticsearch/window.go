package elasticsearch

import (
	"encoding/json"
	"errors"
	"io"
)

// What is wrong with an answer. Each means that nothing is known of any document.
var (
	errCutOff   = errors.New("the answer ends early")
	errTooLong  = errors.New("the answer is longer than max_response")
	errNotJSON  = errors.New("the answer is not JSON as the bulk API writes it")
	errTrailing = errors.New("something follows the answer")
)

// ioError is a failed read of the answer: the connection's fault, not the answer's.
type ioError struct{ err error }

func (e *ioError) Error() string { return "reading the answer: " + e.err.Error() }
func (e *ioError) Unwrap() error { return e.err }

const windowSize = 64 << 10

// window shows a stream of JSON value by value, holding no more than it must.
type window struct {
	src       io.Reader
	buf       []byte
	pos, end  int
	remaining int64 // bytes that may still be read
	eof       bool
}

// fill reads until the window is full or the source ends, so that a value that
// grows the window is looked at again only each time it doubles. It fails once
// the source has ended, at the limit, or with an *ioError.
func (w *window) fill() error {
	if w.eof {
		return errCutOff
	}
	if w.remaining <= 0 {
		return errTooLong
	}
	if w.pos > 0 {
		w.end = copy(w.buf, w.buf[w.pos:w.end])
		w.pos = 0
	}
	if w.end == len(w.buf) {
		w.buf = append(w.buf, make([]byte, max(windowSize, len(w.buf)))...)
	}
	full := len(w.buf)
	if int64(full-w.end) > w.remaining {
		full = w.end + int(w.remaining)
	}
	for empty := 0; w.end < full; {
		n, err := w.src.Read(w.buf[w.end:full])
		w.end += n
		w.remaining -= int64(n)
		switch {
		case err == io.EOF:
			w.eof = true
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF): // shorter than its Content-Length
			return errCutOff
		case err != nil:
			return &ioError{err}
		case n > 0:
			empty = 0
		default:
			if empty++; empty == 100 {
				return &ioError{io.ErrNoProgress}
			}
		}
	}
	return nil
}

// peek gives the next byte that is not white space, without taking it.
func (w *window) peek() (byte, error) {
	for {
		for w.pos < w.end {
			if c := w.buf[w.pos]; !isSpace(c) {
				return c, nil
			}
			w.pos++
		}
		if err := w.fill(); err != nil {
			return 0, err
		}
	}
}

// take takes the next byte that is not white space, which must be c.
func (w *window) take(c byte) error {
	got, err := w.peek()
	if err != nil {
		return err
	}
	if got != c {
		return errNotJSON
	}
	w.pos++
	return nil
}

// value takes the next JSON value and checks it. The bytes are valid until the
// next call.
func (w *window) value() ([]byte, error) {
	if _, err := w.peek(); err != nil {
		return nil, err
	}
	for {
		if n := valueLen(w.buf[w.pos:w.end]); n > 0 {
			v := w.buf[w.pos : w.pos+n]
			if !json.Valid(v) {
				return nil, errNotJSON
			}
			w.pos += n
			return v, nil
		}
		if err := w.fill(); err != nil {
			return nil, err
		}
	}
}

// atEnd fails unless only white space is left.
func (w *window) atEnd() error {
	switch _, err := w.peek(); err {
	case nil:
		return errTrailing
	case errCutOff:
		return nil // here this is the proper end
	default:
		return err
	}
}

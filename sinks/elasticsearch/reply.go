package elasticsearch

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"penstock/pipeline"
)

// reply reads the answer to a bulk request and proves what it says: every
// document must have its item, each item a status, and nothing may follow. The
// order is the only link between items and documents: names and ids in an
// answer are those of backing indices.
type reply struct {
	window
	stored []byte // what an item of a stored document looks like, with its comma

	items []pipeline.Item
	types map[string]string // error types seen, one string for each
	texts int               // bytes of the reasons' texts so far
}

// replies keeps windows for reuse.
type replies struct{ pool sync.Pool }

// mostWindow is the largest window that is kept.
const mostWindow = 1 << 20

// read reads the answer to a request of so many documents, at most limit
// bytes of it. An *ioError is the connection's; any other error means that the
// answer proves nothing.
func (rs *replies) read(src io.Reader, op string, documents int, limit int64) ([]pipeline.Item, error) {
	r, _ := rs.pool.Get().(*reply)
	if r == nil {
		r = &reply{window: window{buf: make([]byte, windowSize)}}
	}
	r.window = window{src: src, buf: r.buf, remaining: limit}
	r.stored = storedCreate
	if op == OpIndex {
		r.stored = storedIndex
	}
	err := r.answer(documents)
	items := r.items
	r.items, r.types, r.texts, r.src = nil, nil, 0, nil
	if cap(r.buf) <= mostWindow {
		rs.pool.Put(r)
	}
	if err != nil {
		return nil, err
	}
	return items, nil
}

// What servers answer for a stored document when only its status is asked for.
var (
	storedCreate = []byte(`{"create":{"status":201}},`)
	storedIndex  = []byte(`{"index":{"status":201}},`)
)

// answer reads the outer object. Its flag "errors" is not looked at: the items
// say what there is to know.
func (r *reply) answer(documents int) error {
	if err := r.take('{'); err != nil {
		return err
	}
	seen := false
	c, err := r.peek()
	if err != nil {
		return err
	}
	if c == '}' {
		r.pos++
	}
	for c != '}' {
		key, err := r.key()
		switch {
		case err != nil:
			return err
		case key != "items":
			_, err = r.value()
		case seen:
			err = errNotJSON
		default:
			seen = true
			err = r.array(documents)
		}
		if err != nil {
			return err
		}
		if c, err = r.peek(); err != nil {
			return err
		}
		if c != ',' && c != '}' {
			return errNotJSON
		}
		r.pos++
	}
	if !seen {
		return fmt.Errorf("the answer has no items, for %d documents", documents)
	}
	return r.atEnd()
}

// key takes a key and its colon.
func (r *reply) key() (string, error) {
	if c, err := r.peek(); err != nil {
		return "", err
	} else if c != '"' {
		return "", errNotJSON
	}
	v, err := r.value()
	if err != nil {
		return "", err
	}
	return unquote(v), r.take(':')
}

// array reads the items.
func (r *reply) array(documents int) error {
	if err := r.take('['); err != nil {
		return err
	}
	n := 0
	if c, err := r.peek(); err != nil {
		return err
	} else if c != ']' {
		for {
			n += r.skipStored()
			v, err := r.value()
			if err != nil {
				return err
			}
			if n >= documents {
				return fmt.Errorf("the answer has more items than the %d documents", documents)
			}
			if err := r.item(n, v); err != nil {
				return err
			}
			n++
			if c, err = r.peek(); err != nil {
				return err
			} else if c != ',' {
				break
			}
			r.pos++
		}
	}
	if n != documents {
		return fmt.Errorf("the answer has %d items for %d documents", n, documents)
	}
	return r.take(']')
}

// skipStored passes the run of stored items that the window begins with, and
// counts them. After each there is a comma, so that an item must follow.
func (r *reply) skipStored() int {
	b, n := r.buf[r.pos:r.end], 0
	for bytes.HasPrefix(b, r.stored) {
		b = b[len(r.stored):]
		n++
	}
	r.pos = r.end - len(b)
	return n
}

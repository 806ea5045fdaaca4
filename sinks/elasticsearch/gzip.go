package elasticsearch

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// compressors keeps compressors, each with its output buffer, for reuse.
type compressors struct {
	level int
	pool  sync.Pool
}

type compressor struct {
	out bytes.Buffer
	w   *gzip.Writer
}

// mostCompressed is the largest output buffer that is kept, in bytes.
const mostCompressed = 8 << 20

// compress gives a compressor that holds the compressed form of b in its out,
// until it is given back by release.
func (cs *compressors) compress(b []byte) (*compressor, error) {
	c, _ := cs.pool.Get().(*compressor)
	if c == nil {
		w, err := gzip.NewWriterLevel(nil, cs.level)
		if err != nil {
			return nil, fmt.Errorf("making a compressor: %w", err)
		}
		c = &compressor{w: w}
	}
	c.out.Reset()
	c.w.Reset(&c.out)
	if _, err := c.w.Write(b); err != nil {
		return nil, fmt.Errorf("compressing the request: %w", err)
	}
	if err := c.w.Close(); err != nil {
		return nil, fmt.Errorf("compressing the request: %w", err)
	}
	return c, nil
}

func (cs *compressors) release(c *compressor) {
	if c.out.Cap() <= mostCompressed {
		cs.pool.Put(c)
	}
}

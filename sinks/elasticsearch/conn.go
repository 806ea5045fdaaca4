package elasticsearch

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
)

// conn is a connection to a node that sends request bodies its own way.
type conn struct {
	net.Conn
	reset atomic.Bool // by the node; what it sent before can still be read
}

// Write implements io.Writer. On a connection that was reset it fails having
// sent nothing, so that net/http takes another one for the next request.
func (c *conn) Write(p []byte) (int, error) {
	if c.reset.Load() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(p)
}

// ReadFrom is what net/http sends the rest of a request by, once the headers
// have left. A requestBody is written from where it lies, in one call rather
// than in pieces of 32 KiB copied to a buffer first.
//
// If the node resets the connection meanwhile, the rest counts as sent. This is
// how a server answers a body that it finds too large: it writes 413, closes,
// and resets what still comes. With an error here net/http would drop the answer
// that lies ready to be read, and the batch would be sent again, as large as
// before, for ever. What there is to read, or the reset, is found by its reader.
func (c *conn) ReadFrom(r io.Reader) (int64, error) {
	limited, ok := r.(*io.LimitedReader)
	if !ok {
		return io.Copy(writerOnly{c.Conn}, r)
	}
	body, ok := limited.R.(*requestBody)
	if !ok {
		return io.Copy(writerOnly{c.Conn}, r)
	}
	data, err := body.begin(int(limited.N))
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return 0, err
	}
	n, err := c.Write(data)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		c.reset.Store(true)
		n, err = len(data), nil
	}
	body.end(n)
	limited.N -= int64(n)
	return int64(n), err
}

// writerOnly hides ReadFrom from io.Copy.
type writerOnly struct{ io.Writer }

// dialer makes connections to the nodes.
type dialer struct {
	net net.Dialer
	tls *tls.Config
}

func (d *dialer) plain(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.net.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// secure does the handshake itself, so that a conn is outermost here too.
func (d *dialer) secure(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.net.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := d.tls.Clone()
	if config.ServerName == "" {
		if config.ServerName, _, err = net.SplitHostPort(address); err != nil {
			config.ServerName = address
		}
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	t := tls.Client(c, config)
	if err := t.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return &conn{Conn: t}, nil
}

package main

import (
	"io"
	"net"
	"sync"
	"testing"

	"penstock/sinks/elasticsearch"
)

// front stands between one member and the search server, so that the member can
// be cut off without the others.
type front struct {
	url string

	listener net.Listener
	wire     *wire
	work     sync.WaitGroup
}

// newFront listens for one member.
func (w *world) newFront() *front {
	w.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}
	f := &front{url: "http://" + l.Addr().String(), listener: l, wire: newWire()}
	f.work.Go(func() { f.serve(w.search.Listener.Addr().String()) })
	w.Cleanup(func() {
		l.Close()
		f.wire.cut()
		f.work.Wait()
	})
	return f
}

func (f *front) serve(target string) {
	for {
		in, err := f.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", target)
		if err != nil {
			in.Close()
			continue
		}
		if f.wire.add(in) != nil || f.wire.add(out) != nil {
			in.Close()
			out.Close()
			continue
		}
		for _, c := range [][2]net.Conn{{in, out}, {out, in}} {
			f.work.Go(func() {
				_, _ = io.Copy(c[1], c[0])
				c[0].Close()
				c[1].Close()
			})
		}
	}
}

// startBehind starts a member whose way to the search server can be cut.
func (w *world) startBehind(name string, changes ...func(*Config)) *member {
	w.Helper()
	f := w.newFront()
	m := w.start(name, append(changes, func(c *Config) { c.Sink.Elasticsearch.URLs = elasticsearch.NewURLs(f.url) })...)
	m.search = f.wire
	return m
}

// A member that was killed has done nothing since: what it had stored without
// committing is read again by the next, and stored nothing twice.
func TestKill(t *testing.T) {
	w := newWorld(t, 2)
	for range 20 {
		w.send(0, docs(50)...)
		w.send(1, docs(50)...)
	}
	a := w.startBehind("a", grace(minGrace), func(c *Config) { c.Batch.Documents = 20 })
	w.eventually("some are stored", func() bool { return w.witness.count() > 100 })
	a.kill()
	w.consistent()
	w.start("b")
	w.finish()
	w.same("documents", w.search.Indices(), map[string]int{index: 2000})
}

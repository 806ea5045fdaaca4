package elasticsearch

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"penstock/pipeline"
	"penstock/sinks/elasticsearch/estest"
)

// TestEarlyAnswersAndReuse writes into each body as soon as Write has returned,
// while the server answers 413 before it has read it. The race detector sees
// whether anything still read it.
func TestEarlyAnswersAndReuse(t *testing.T) {
	for _, tls := range []bool{false, true} {
		for _, compression := range []string{CompressionNone, CompressionGzip} {
			t.Run(fmt.Sprintf("tls=%t %s", tls, compression), func(t *testing.T) {
				start := estest.New
				if tls {
					start = estest.NewTLS
				}
				server := start(t)
				server.Early(func(r *http.Request) *estest.Reply {
					if r.ContentLength > 1<<20 {
						return &estest.Reply{Status: http.StatusRequestEntityTooLarge, Empty: true}
					}
					return nil
				})
				c := testConfig(server.URL)
				c.Compression, c.InsecureSkipVerify = compression, tls
				s := newSink(t, c)
				var writers sync.WaitGroup
				for range 2 {
					writers.Go(func() {
						body, next := noise(3<<20), noise(3<<20)
						for range 4 {
							_, err := s.store(t.Context(), s.nodes.all[0], bulk{destination: "idx", body: body, documents: 1})
							if e := requestError(t, err); e.Class != pipeline.TooLarge {
								t.Errorf("got %v, want too_large", e)
							}
							copy(body, next)
						}
					})
				}
				writers.Wait()
			})
		}
	}
}

// noise is bytes that gzip makes no smaller.
func noise(n int) []byte {
	b, x := make([]byte, n), uint64(88172645463325252)
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	return b
}

// earlyServer answers once the headers are there, and then does with the
// connection what after says.
func earlyServer(t *testing.T, answer string, after func(net.Conn)) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer c.Close()
				_, _ = io.ReadFull(c, make([]byte, 1024))
				_, _ = io.WriteString(c, answer)
				after(c)
			})
		}
	})
	t.Cleanup(func() { listener.Close(); served.Wait() })
	return "http://" + listener.Addr().String()
}

// TestAnswerBeforeAReset is what a server does that finds a body too large: it
// answers and resets the connection, so that what still comes fails. The answer
// has to be heard all the same.
func TestAnswerBeforeAReset(t *testing.T) {
	// Closing with bytes unread sends a reset.
	s := newSink(t, testConfig(earlyServer(t, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\n{}", func(net.Conn) {})))
	body := bytes.Repeat([]byte("x"), 16<<20)
	for range 30 {
		_, err := s.store(t.Context(), s.nodes.all[0], bulk{destination: "idx", body: body, documents: 1})
		if e := requestError(t, err); e.Class != pipeline.TooLarge {
			t.Fatalf("got %v, want too_large", e)
		}
	}
}

// TestAnswerWhileTheBodyIsSent has a server that answers, with more than we care
// to read, while it still takes the body: the answer is closed and net/http goes
// on sending from the body for a moment.
func TestAnswerWhileTheBodyIsSent(t *testing.T) {
	answer := "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n<html>" + strings.Repeat("x", 100_000)
	var wrong atomic.Int64
	s := newSink(t, testConfig(earlyServer(t, answer, func(c net.Conn) {
		b := make([]byte, 4096)
		for {
			n, err := c.Read(b)
			if bytes.IndexByte(b[:n], 'y') >= 0 {
				wrong.Add(1)
			}
			if err != nil {
				return
			}
		}
	})))
	body, first, next := make([]byte, 8<<20), bytes.Repeat([]byte("x"), 8<<20), bytes.Repeat([]byte("y"), 8<<20)
	for range 5 {
		copy(body, first)
		_, err := s.store(t.Context(), s.nodes.all[0], bulk{destination: "idx", body: body, documents: 1})
		if e := requestError(t, err); e.Class != pipeline.Unknown {
			t.Errorf("got %v, want unknown", e)
		}
		copy(body, next)
	}
	s.transport.CloseIdleConnections()
	if n := wrong.Load(); n > 0 {
		t.Errorf("the server got bytes of the body's next use, in %d reads", n)
	}
}

func TestRequestBodyTellsOnceItIsClosedAndNotRead(t *testing.T) {
	told := 0
	b := &requestBody{data: []byte("abcdef"), done: func() { told++ }}
	part, err := b.begin(4)
	if err != nil || string(part) != "abcd" {
		t.Fatal(string(part), err)
	}
	_ = b.Close()
	if told != 0 {
		t.Error("told while it was read")
	}
	b.end(4)
	_ = b.Close()
	if told != 1 {
		t.Errorf("told %d times", told)
	}
	if _, err := b.Read(make([]byte, 1)); err == nil {
		t.Error("it can be read after it was closed")
	}
	if all, err := io.ReadAll(&requestBody{data: []byte("abc"), done: func() {}}); err != nil || string(all) != "abc" {
		t.Error(string(all), err)
	}
}

func BenchmarkWrite(b *testing.B) {
	const n = 10_000
	answer := itemsOf(strings.TrimSuffix(strings.Repeat(`{"create":{"status":201}},`, n), ","))
	url := newHTTPServer(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, answer)
	}))
	for _, compression := range []string{CompressionNone, CompressionGzip} {
		b.Run(compression, func(b *testing.B) {
			c := testConfig(url)
			c.Compression = compression
			s := newSink(b, c)
			docs := make([]string, n)
			for i := range docs {
				docs[i] = fmt.Sprintf(`{"n":%d,"m":%q}`, i, noise(64))
			}
			request := bulkOf(b, s, docs...)
			b.SetBytes(int64(len(request.body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.store(b.Context(), s.nodes.all[0], request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package elasticsearch

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"penstock/pipeline"
	"penstock/sinks/elasticsearch/estest"
)

// watchLog gives each message that is logged.
func watchLog() (*zap.Logger, <-chan string) {
	messages := make(chan string, 1000)
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(io.Discard), zap.DebugLevel)
	return zap.New(core, zap.Hooks(func(e zapcore.Entry) error { messages <- e.Message; return nil })), messages
}

func TestADeadNodeIsLeftAloneAndComesBack(t *testing.T) {
	alive := estest.New(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	log, messages := watchLog()
	s := newSink(t, testConfig(alive.URL, "http://"+address), log)
	b := threeDocuments(t, s)

	_, err = s.Write(t.Context(), 1, &pipeline.Batch{})
	if err != nil || !s.Usable(1) {
		t.Fatal("an empty batch must send nothing")
	}
	if _, err := s.store(t.Context(), s.nodes.all[1], b); err == nil {
		t.Fatal("no error from a dead node")
	}
	if s.Usable(1) || !s.Usable(0) {
		t.Errorf("usable: %t %t, want true false", s.Usable(0), s.Usable(1))
	}
	wait(t, messages, "node still cannot be reached")

	if listener, err = net.Listen("tcp", address); err != nil {
		t.Skip("the port was taken meanwhile:", err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" || r.Method != "GET" {
			t.Errorf("probed by %s %s", r.Method, r.URL.Path)
		}
		w.WriteHeader(http.StatusUnauthorized) // is alive
	})}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	wait(t, messages, "node answers again")
	if !s.Usable(1) {
		t.Error("the node is back and not usable")
	}
}

func wait(t *testing.T, messages <-chan string, want string) {
	t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		select {
		case m := <-messages:
			if m == want {
				return
			}
		case <-timeout:
			t.Fatalf("%q was not logged", want)
		}
	}
}

func TestPausesDoubleUntilARequestIsAnswered(t *testing.T) {
	ns, err := newNodes(Config{URLs: NewURLs("http://es"), Eject: EjectConfig{Min: time.Second, Max: time.Minute}}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	ns.cancel() // no probes here
	n := ns.all[0]
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		ns.failed(n, errors.New("x"))
		ns.failed(n, errors.New("of a request that was under way"))
		if got := ns.pause(n.failures); got != want*time.Second || n.failures != i+1 {
			t.Errorf("failure %d: got %s after %d failures, want %s", i, got, n.failures, want*time.Second)
		}
		n.usable.Store(true) // as a probe does
	}
	ns.answered(n)
	ns.failed(n, errors.New("x"))
	if got := ns.pause(n.failures); got != time.Second {
		t.Errorf("after an answer: %s", got)
	}
}

func TestRefusalsEjectNoNode(t *testing.T) {
	server := estest.New(t, estest.Failure(503, "x", "y"), estest.Failure(429, "x", "y"), &estest.Reply{Body: "<html>"})
	s := newSink(t, testConfig(server.URL))
	for range 3 {
		if _, err := s.store(t.Context(), s.nodes.all[0], threeDocuments(t, s)); err == nil {
			t.Error("no error")
		}
		if !s.Usable(0) {
			t.Error("a node that answers is not usable")
		}
	}
}

func TestCloseEndsProbes(t *testing.T) {
	c := testConfig("http://127.0.0.1:1", "http://127.0.0.1:2")
	c.Eject = EjectConfig{Min: time.Hour, Max: time.Hour}
	s := newSink(t, c)
	for i := range 2 {
		if _, err := s.store(t.Context(), s.nodes.all[i], threeDocuments(t, s)); err == nil {
			t.Error("no error")
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if s.Usable(0) || s.Usable(1) || !strings.HasPrefix(s.Nodes()[0], "http://") {
		t.Error("dead nodes are usable")
	}
}

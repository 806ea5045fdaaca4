package servers

import (
	"context"
	"io"
	"testing"
	"time"
)

// logTail is how much of a server's log is shown when its test has failed, in bytes.
const logTail = 8 << 10

// start gives the test a server of that kind that answers, and takes it away when
// the test is over.
func start(t testing.TB, kind Kind, from spec) *Server {
	t.Helper()
	image := need(t, kind)
	s, err := launch(t.Context(), kind, image, from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The test's context is over by now.
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if t.Failed() {
			t.Logf("the end of %s's log:\n%s", kind, s.log(ctx))
		}
		if err := s.remove(ctx); err != nil {
			t.Error(err)
		}
	})
	if err := s.waitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// log gives the end of the server's own log.
func (s *Server) log(ctx context.Context) []byte {
	r, err := s.container.Logs(ctx)
	if err != nil {
		return []byte(err.Error())
	}
	defer r.Close()
	all, err := io.ReadAll(r)
	if err != nil {
		all = append(all, err.Error()...)
	}
	return all[max(0, len(all)-logTail):]
}

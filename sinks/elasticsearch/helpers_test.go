package elasticsearch

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// newHTTPServer gives the address of a server that ends with the test.
func newHTTPServer(t testing.TB, h http.Handler) string {
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// slowAnswer never finishes an answer, until stop is closed.
type slowAnswer struct{ stop chan struct{} }

func (a *slowAnswer) silent(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	a.wait(r)
}

func (a *slowAnswer) half(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	_, _ = io.WriteString(w, good[:20])
	_ = http.NewResponseController(w).Flush()
	a.wait(r)
}

func (a *slowAnswer) wait(r *http.Request) {
	select {
	case <-a.stop:
	case <-r.Context().Done():
	}
}

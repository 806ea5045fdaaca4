package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"penstock/pipeline"
)

// Pipeline is what the pages are about.
type Pipeline interface {
	Status() pipeline.Status
	Alive(within time.Duration) bool
	UnreadyAfter() time.Duration
}

// Options are what a Server is made of besides its Config.
type Options struct {
	Pipeline Pipeline
	Gatherer prometheus.Gatherer
	// Version is the build's.
	Version string
	Started time.Time
}

// deadlock is how long the pipeline's loop may stand still before /livez says
// so. The loop goes round every second; a rebalance may stop it for some seconds.
const deadlock = 60 * time.Second

// Server serves the pages.
type Server struct {
	options  Options
	server   *http.Server
	listener net.Listener
	done     chan error
}

// Start listens and serves until Close.
func Start(c Config, o Options) (*Server, error) {
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, fmt.Errorf("http.listen: %w: choose a free address, or set it to \"\" to serve nothing", err)
	}
	s := &Server{options: o, listener: l, done: make(chan error, 1)}
	s.server = &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
	}
	go func() { s.done <- s.server.Serve(l) }()
	return s, nil
}

// Addr is the address that is listened on.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close stops serving.
func (s *Server) Close(ctx context.Context) error {
	err := s.server.Shutdown(ctx)
	if err != nil {
		_ = s.server.Close()
	}
	if serr := <-s.done; !errors.Is(serr, http.ErrServerClosed) {
		err = errors.Join(err, serr)
	}
	return err
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", s.livez)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.HandleFunc("GET /status", s.status)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.options.Gatherer, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "penstock %s\n\n/livez    restart me if this is not 200\n/readyz   a hold lasts if this is not 200\n/status   partitions, lag, ledger (JSON)\n/metrics  Prometheus\n", s.options.Version)
	})
	return http.MaxBytesHandler(mux, 4<<10)
}

func (s *Server) livez(w http.ResponseWriter, _ *http.Request) {
	if !s.options.Pipeline.Alive(deadlock) {
		http.Error(w, fmt.Sprintf("the pipeline's loop has stood still for %s: restart", deadlock), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	reasons := s.options.Pipeline.Status().Unready(s.options.Pipeline.UnreadyAfter())
	if len(reasons) > 0 {
		http.Error(w, strings.Join(reasons, "\n"), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

func (s *Server) status(w http.ResponseWriter, _ *http.Request) {
	st := s.options.Pipeline.Status()
	reasons := st.Unready(s.options.Pipeline.UnreadyAfter())
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(struct {
		Version string   `json:"version"`
		Uptime  float64  `json:"uptime_seconds"`
		Ready   bool     `json:"ready"`
		Reasons []string `json:"unready,omitempty"`
		pipeline.Status
	}{s.options.Version, time.Since(s.options.Started).Seconds(), len(reasons) == 0, reasons, st})
}

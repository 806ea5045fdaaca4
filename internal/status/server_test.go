package status

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"penstock/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type fakePipeline struct {
	status pipeline.Status
	dead   atomic.Bool
}

func (f *fakePipeline) Status() pipeline.Status     { return f.status }
func (f *fakePipeline) Alive(time.Duration) bool    { return !f.dead.Load() }
func (f *fakePipeline) UnreadyAfter() time.Duration { return 30 * time.Second }
func (f *fakePipeline) source(s pipeline.State, heldFor float64) {
	f.status.Source = &pipeline.Fault{State: s, Reason: "no broker answers", HeldFor: heldFor}
}

func serve(t *testing.T, f *fakePipeline) func(method, path string) (int, string) {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "penstock_test_total", Help: "x"}))
	s := &Server{options: Options{Pipeline: f, Gatherer: registry, Version: "v1", Started: time.Now()}}
	h := s.handler()
	return func(method, path string) (int, string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w.Code, w.Body.String()
	}
}

func TestProbes(t *testing.T) {
	f := &fakePipeline{}
	get := serve(t, f)
	for _, path := range []string{"/livez", "/readyz", "/status", "/metrics", "/"} {
		if code, body := get("GET", path); code != 200 || body == "" {
			t.Errorf("GET %s is %d %q, want 200 with a body", path, code, body)
		}
	}
	f.source(pipeline.StateHeldSource, 10)
	if code, _ := get("GET", "/readyz"); code != 200 {
		t.Errorf("unready after 10 s of a hold: %d; the setting is 30 s", code)
	}
	f.source(pipeline.StateHeldSource, 31)
	if code, body := get("GET", "/readyz"); code != 503 || !strings.Contains(body, "no broker answers") {
		t.Errorf("after 31 s of a hold /readyz is %d %q, want 503 with the reason", code, body)
	}
	if code, _ := get("GET", "/livez"); code != 200 {
		t.Errorf("a hold makes /livez %d: that would restart the pod", code)
	}
	f.dead.Store(true)
	if code, body := get("GET", "/livez"); code != 503 || body == "" {
		t.Errorf("a deadlocked loop makes /livez %d %q, want 503", code, body)
	}
}

func TestStatusIsJSON(t *testing.T) {
	f := &fakePipeline{status: pipeline.Status{
		Partitions: []pipeline.PartitionStatus{{Topic: "t", Partition: 3, State: pipeline.StateHeldSink, Reason: "down", LagRecords: 5, Watermark: 7, Counts: pipeline.Counts{Fetched: 2, InFlight: 2}}},
	}}
	f.source(pipeline.StateHeldSource, 31)
	_, body := serve(t, f)("GET", "/status")
	var got struct {
		Version    string
		Ready      bool
		Unready    []string
		Partitions []struct {
			Topic      string
			Partition  int
			State      string
			Reason     string
			LagRecords int `json:"lag_records"`
			Watermark  int
			Ledger     pipeline.Counts
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if got.Version != "v1" || got.Ready || len(got.Unready) != 1 {
		t.Errorf("version %q, ready %v, reasons %q", got.Version, got.Ready, got.Unready)
	}
	p := got.Partitions[0]
	if p.Topic != "t" || p.Partition != 3 || p.State != "held:sink" || p.Reason != "down" || p.LagRecords != 5 || p.Watermark != 7 || p.Ledger.InFlight != 2 {
		t.Errorf("partition is %+v", p)
	}
}

func TestNothingCanBeChanged(t *testing.T) {
	do := serve(t, &fakePipeline{})
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
		for _, path := range []string{"/status", "/metrics", "/livez"} {
			if code, _ := do(method, path); code != http.StatusMethodNotAllowed && code != http.StatusNotFound && path != "/metrics" {
				t.Errorf("%s %s is %d", method, path, code)
			}
		}
	}
	if code, _ := do("GET", "/config"); code != 404 {
		t.Errorf("GET /config is %d, want 404", code)
	}
}

func TestStartAndClose(t *testing.T) {
	f := &fakePipeline{}
	s, err := Start(Config{Listen: "127.0.0.1:0"}, Options{Pipeline: f, Gatherer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + s.Addr() + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("/livez is %d", resp.StatusCode)
	}
	if _, err := Start(Config{Listen: s.Addr()}, Options{Pipeline: f, Gatherer: prometheus.NewRegistry()}); err == nil || !strings.Contains(err.Error(), "http.listen") {
		t.Errorf("a taken address gives %v, want an error that names http.listen", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestConfigValidate(t *testing.T) {
	for listen, ok := range map[string]bool{"": true, ":8080": true, "127.0.0.1:0": true, "[::1]:80": true, "8080": false, "localhost": false} {
		if err := (Config{Listen: listen}).Validate(); (err == nil) != ok {
			t.Errorf("listen %q gives %v", listen, err)
		}
	}
}

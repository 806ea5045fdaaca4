package integration

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"penstock/pipeline"
)

// web asks the pages of one process.
type web struct {
	address string
	client  *http.Client
}

func newWeb() *web {
	return &web{client: &http.Client{Transport: &http.Transport{}, Timeout: 10 * time.Second}}
}

func (w *web) close() { w.client.CloseIdleConnections() }

func (w *web) get(ctx context.Context, path string) (code int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.address+path, nil)
	if err != nil {
		return 0, nil, err
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// status reads /status.
func (p *process) status() (pipeline.Status, error) {
	code, body, err := p.web.get(p.t.Context(), "/status")
	if err != nil {
		return pipeline.Status{}, err
	}
	if code != http.StatusOK {
		return pipeline.Status{}, fmt.Errorf("/status: HTTP %d: %s", code, body)
	}
	var s pipeline.Status
	if err := json.Unmarshal(body, &s); err != nil {
		return s, err
	}
	p.seen = s
	return s, nil
}

// readMetrics reads /metrics: values by name with labels.
func (p *process) readMetrics() (map[string]float64, error) {
	code, body, err := p.web.get(p.t.Context(), "/metrics")
	if err != nil {
		return nil, err
	}
	if code != http.StatusOK {
		return nil, fmt.Errorf("/metrics: HTTP %d: %s", code, body)
	}
	m := map[string]float64{}
	for s := bufio.NewScanner(bytes.NewReader(body)); s.Scan(); {
		line := s.Text()
		space := strings.LastIndexByte(line, ' ')
		if space < 0 || line[0] == '#' {
			continue
		}
		name, text := line[:space], line[space+1:]
		if m[name], err = strconv.ParseFloat(text, 64); err != nil {
			return nil, fmt.Errorf("/metrics: %q: %w", line, err)
		}
	}
	p.metrics = m
	return m, nil
}

// metric is one value of /metrics, 0 if there is none of that name and labels.
func (p *process) metric(name string) float64 {
	p.t.Helper()
	m, err := p.readMetrics()
	if err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
	return m[name]
}

// ready asks /readyz, and gives the reasons if the answer is no.
func (p *process) ready() (ok bool, reasons string) {
	p.t.Helper()
	code, body, err := p.web.get(p.t.Context(), "/readyz")
	if err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
	return code == http.StatusOK, string(body)
}

// states lists what the partitions are doing, and how often each.
func states(s pipeline.Status) map[pipeline.State]int {
	all := map[pipeline.State]int{}
	for _, p := range s.Partitions {
		all[p.State]++
	}
	return all
}

// awaitState waits until some partition is in that state.
func (p *process) awaitState(want pipeline.State) pipeline.PartitionStatus {
	p.t.Helper()
	var found pipeline.PartitionStatus
	eventually(p.t, fmt.Sprintf("%s to be %s", p.name, want), func() error {
		if p.over() {
			return fmt.Errorf("%w: it ended: %v", errStopped, p.err)
		}
		s, err := p.status()
		if err != nil {
			return err
		}
		for _, q := range s.Partitions {
			if q.State == want {
				found = q
				return nil
			}
		}
		return fmt.Errorf("its partitions are %v", states(s))
	})
	return found
}

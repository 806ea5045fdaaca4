package servers

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"
)

// SearchOptions are what a test may want to be different. The zero value will do.
type SearchOptions struct {
	// Settings are the node's own (indices.memory.index_buffer_size), over those
	// that a single small node needs.
	Settings map[string]string
	// Heap of the JVM, "512m" by default.
	Heap string
}

// Search is a single Elasticsearch or OpenSearch node without security.
type Search struct{ *Server }

// URL is where it is asked, without a slash at the end.
func (s *Search) URL() string { return "http://" + s.Address() }

// StartSearch starts a node of that kind, one of [SearchKinds], for the test.
func StartSearch(t testing.TB, kind Kind, o SearchOptions) *Search {
	t.Helper()
	if !slices.Contains(SearchKinds, kind) {
		t.Fatalf("%s is no search server: use one of %v", kind, SearchKinds)
	}
	return &Search{start(t, kind, spec{
		port:  func(int) int { return 9200 },
		env:   func(int) map[string]string { return o.env(kind) },
		ready: searchReady,
	})}
}

// env is what the official images are configured with; those built here take the same.
func (o SearchOptions) env(kind Kind) map[string]string {
	env := map[string]string{
		"discovery.type": "single-node",
		"cluster.name":   "penstock-it",
		// How full this machine's disk is says nothing about Penstock.
		"cluster.routing.allocation.disk.threshold_enabled": "false",
	}
	switch kind {
	case Elasticsearch7, Elasticsearch9:
		env["ES_JAVA_OPTS"] = heap(o.Heap)
		env["xpack.security.enabled"] = "false"
		env["xpack.ml.enabled"] = "false"
		env["ingest.geoip.downloader.enabled"] = "false"
	default:
		env["OPENSEARCH_JAVA_OPTS"] = heap(o.Heap)
		env["DISABLE_SECURITY_PLUGIN"] = "true"
		env["DISABLE_INSTALL_DEMO_CONFIG"] = "true"
	}
	maps.Copy(env, o.Settings)
	return env
}

// ask is a client that keeps no connection: the server may be gone the next moment.
var ask = &http.Client{
	Timeout:   5 * time.Second,
	Transport: &http.Transport{DisableKeepAlives: true},
}

// searchReady asks for the cluster's health: every primary shard must be there.
func searchReady(ctx context.Context, address string) error {
	url := "http://" + address + "/_cluster/health?wait_for_status=yellow&timeout=2s"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := ask.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	// 408 says that the status was not reached in time.
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: HTTP %d", url, resp.StatusCode)
	}
	return nil
}

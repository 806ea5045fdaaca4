package integration

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"penstock/integration/servers"
)

// A search server takes a bulk request, and still has what it took at the same
// address after a stop and after a kill.
func TestSearchKeepsDataAndPort(t *testing.T) {
	for _, kind := range servers.SearchKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := servers.StartSearch(t, kind, servers.SearchOptions{})
			t.Logf("%s at %s", s.Image, s.URL())

			var info struct{ Version struct{ Number string } }
			call(t, http.MethodGet, s.URL(), "", &info)
			major := map[servers.Kind]string{
				servers.Elasticsearch7: "7.", servers.Elasticsearch9: "9.",
				servers.OpenSearch2: "2.", servers.OpenSearch3: "3.",
			}[kind]
			if !strings.HasPrefix(info.Version.Number, major) {
				t.Errorf("version %q, want one that starts with %q", info.Version.Number, major)
			}

			var bulk struct {
				Items []map[string]struct{ Status int }
			}
			call(t, http.MethodPost, s.URL()+"/smoke/_bulk",
				`{"create":{"_id":"a"}}`+"\n"+`{"message":"one"}`+"\n"+`{"create":{"_id":"a"}}`+"\n"+`{"message":"two"}`+"\n", &bulk)
			if len(bulk.Items) != 2 || bulk.Items[0]["create"].Status != http.StatusCreated || bulk.Items[1]["create"].Status != http.StatusConflict {
				t.Fatalf("want the first stored and its twin refused, got %+v", bulk.Items)
			}

			check := func(after string) {
				t.Helper()
				var doc struct {
					Source struct{ Message string } `json:"_source"`
				}
				call(t, http.MethodGet, s.URL()+"/smoke/_doc/a", "", &doc)
				if doc.Source.Message != "one" {
					t.Errorf("after %s the document says %q", after, doc.Source.Message)
				}
			}
			url := s.URL()
			began := time.Now()
			if err := s.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Logf("restart took %v", time.Since(began).Round(time.Millisecond))
			check("restart")
			if err := s.Kill(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			check("kill")
			if s.URL() != url {
				t.Errorf("it moved from %s to %s", url, s.URL())
			}
		})
	}
}

// call sends one request and decodes the answer into answer.
func call(t *testing.T, method, url, body string, answer any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	req.Close = true // the server is about to be restarted
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode >= 300 {
		t.Fatalf("%s %s: HTTP %d: %s", method, url, resp.StatusCode, raw)
	}
	if err := json.Unmarshal(raw, answer); err != nil {
		t.Fatalf("%s %s: %v: %s", method, url, err, raw)
	}
}

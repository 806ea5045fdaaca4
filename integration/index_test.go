package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"penstock/integration/servers"
)

// search is a search server as a test sees it from outside.
type search struct {
	*servers.Search
	t      testing.TB
	client *http.Client
}

// newSearch starts a search server for the test.
func newSearch(t *testing.T, kind servers.Kind, o servers.SearchOptions) *search {
	t.Helper()
	s := &search{Search: servers.StartSearch(t, kind, o), t: t}
	s.client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{}}
	t.Cleanup(s.client.CloseIdleConnections)
	return s
}

// ask sends one request, and gives an error unless the answer is 2xx.
func (s *search) ask(method, path, body string, answer any) error {
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.URL()+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: HTTP %d: %s", method, path, resp.StatusCode, raw)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(raw, answer)
}

// must is ask for what cannot fail.
func (s *search) must(method, path, body string, answer any) {
	s.t.Helper()
	if err := s.ask(method, path, body, answer); err != nil {
		s.t.Fatal(err)
	}
}

// count counts the documents of an index that match the query, those of a
// moment ago included.
func (s *search) count(index, query string) (int64, error) {
	if err := s.ask(http.MethodPost, "/"+url.PathEscape(index)+"/_refresh", "", nil); err != nil {
		return 0, err
	}
	var answer struct{ Count int64 }
	err := s.ask(http.MethodPost, "/"+url.PathEscape(index)+"/_count", `{"query":`+query+`}`, &answer)
	return answer.Count, err
}

// hit is one stored document.
type hit struct {
	Index  string          `json:"_index"`
	ID     string          `json:"_id"`
	Source json.RawMessage `json:"_source"`
}

// page is how many documents are read at once.
const page = 5000

// each gives every document of an index to see, page by page.
func (s *search) each(index string, see func(hit)) {
	s.t.Helper()
	s.must(http.MethodPost, "/"+url.PathEscape(index)+"/_refresh", "", nil)
	var answer struct {
		ScrollID string `json:"_scroll_id"`
		Hits     struct{ Hits []hit }
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Minute)
	defer cancel()
	s.must(http.MethodPost, "/"+url.PathEscape(index)+"/_search?scroll=2m", fmt.Sprintf(`{"size":%d,"sort":["_doc"]}`, page), &answer)
	for len(answer.Hits.Hits) > 0 {
		if ctx.Err() != nil {
			s.t.Fatalf("reading %s took too long", index)
		}
		for _, h := range answer.Hits.Hits {
			see(h)
		}
		id := answer.ScrollID
		answer.Hits.Hits = nil
		s.must(http.MethodPost, "/_search/scroll", fmt.Sprintf(`{"scroll":"2m","scroll_id":%q}`, id), &answer)
	}
	s.must(http.MethodDelete, "/_search/scroll", fmt.Sprintf(`{"scroll_id":[%q]}`, answer.ScrollID), nil)
}

// documents gives all documents of an index: sources by id.
func (s *search) documents(index string) map[string]string {
	s.t.Helper()
	all := map[string]string{}
	s.each(index, func(h hit) { all[h.ID] = string(h.Source) })
	return all
}

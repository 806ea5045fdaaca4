package estest

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func post(t *testing.T, s *Server, body string) (status int, answer string) {
	t.Helper()
	res, err := s.Client().Post(s.URL+"/idx/_bulk?filter_path=items", "application/x-ndjson", strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestServerStoresAndFollowsItsScript(t *testing.T) {
	const one = "{\"create\":{\"_id\":\"1\"}}\n{\"a\":1}\n{\"index\":{\"_index\":\"other\",\"_id\":\"1\"}}\n{\"a\":2}\n"
	s := New(t, nil, nil, Items(Item{Status: 429, Type: "t", Reason: "r"}), Failure(401, "security_exception", "no"), &Reply{Drop: true})
	for _, want := range []struct {
		status int
		answer string
	}{
		{200, `{"errors":false,"items":[{"create":{"status":201}},{"index":{"status":201}}]}`},
		{200, `{"errors":true,"items":[{"create":{"status":409,"error":{"type":"version_conflict_engine_exception","reason":"[1]: version conflict, document already exists (current version [1])"}}},{"index":{"status":200}}]}`},
		{200, `{"errors":true,"items":[{"create":{"status":429,"error":{"type":"t","reason":"r"}}},{"index":{"status":200}}]}`},
		{401, `{"error":{"reason":"no","type":"security_exception"},"status":401}`},
	} {
		if status, answer := post(t, s, one); status != want.status || answer != want.answer {
			t.Errorf("got %d %s, want %d %s", status, answer, want.status, want.answer)
		}
	}
	if status, _ := post(t, s, one); status != 0 {
		t.Errorf("got %d from a dropped connection", status)
	}
	if got := s.Documents("other"); len(got) != 1 || got["1"] != `{"a":2}` {
		t.Errorf("stored %v", got)
	}
	if got := s.Requests(); len(got) != 5 || len(got[0].Docs) != 2 || got[0].Docs[1] != (Doc{"index", "other", "1", `{"a":2}`}) {
		t.Errorf("requests %+v", got)
	}
}

func TestServerRefusesBrokenBodies(t *testing.T) {
	s := New(t)
	for _, body := range []string{"", "{}\n", "{\"create\":{}}\n{}", "{\"create\":{}}\n{}\n\n", "x\n{}\n"} {
		if status, answer := post(t, s, body); status != http.StatusBadRequest {
			t.Errorf("%q: got %d %s", body, status, answer)
		}
	}
}

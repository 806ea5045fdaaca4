package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// maxAnswer bounds what is read of an answer of the embedded server, in bytes.
const maxAnswer = 1 << 20

// fetch sends a request to the embedded search server as any client would, and
// decodes the answer into v unless that is nil.
func (e *embedded) fetch(req *http.Request, v any) error {
	resp, err := e.web.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %s", req.Method, req.URL.Path, resp.Status, body)
	}
	if v == nil {
		return nil
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("decoding the answer: %w", err)
	}
	return nil
}

package floor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// filter keeps of the answer what the bare loop would look at: nothing, if all
// is well.
const filter = "filter_path=errors,items.*.error"

// post sends bodies until there are no more. A status that is not 2xx ends the
// loop: otherwise it would measure how fast a server refuses.
func (l *loop) post(ctx context.Context) error {
	target := l.options.URL + "/" + url.PathEscape(l.options.Index) + "/_bulk?" + filter
	for body := range l.full {
		if ctx.Err() != nil {
			continue // what is left when the loop ends
		}
		if err := l.send(ctx, target, body); err != nil {
			return err
		}
		select {
		case l.free <- body[:0]:
		default:
		}
	}
	return nil
}

func (l *loop) send(ctx context.Context, target string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("making the _bulk request: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	res, err := l.http.Do(req)
	if err != nil {
		return fmt.Errorf("sending the _bulk request: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 500))
		return fmt.Errorf("the search server answers %s to _bulk: %s", res.Status, text)
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return fmt.Errorf("reading the answer to _bulk: %w", err)
	}
	return nil
}

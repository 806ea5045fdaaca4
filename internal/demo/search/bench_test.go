package search

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkBulk stores log lines, a thousand a request, and makes them searchable.
func BenchmarkBulk(b *testing.B) {
	s := New(Options{})
	defer s.Close()
	const perRequest = 1000
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		var body strings.Builder
		for range perRequest {
			n++
			fmt.Fprintf(&body, `{"create":{"_index":"logs","_id":"AbCdEfGhIjKlMnOp-%d"}}`+"\n"+`{"@timestamp":"2026-01-02T10:%02d:%02d.%03dZ","level":"info","service":"web","host":"web-%02d","status":%d,"latency_ms":%d,"message":"GET /api/orders/%d answered"}`+"\n",
				n, n/60000%60, n/1000%60, n%1000, n%8, 200+n%3, n%700, n)
		}
		b.SetBytes(int64(body.Len()))
		r := httptest.NewRequest("POST", "/_bulk", strings.NewReader(body.String()))
		r.Header.Set("Content-Type", "application/x-ndjson")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != 200 {
			b.Fatal(w.Body)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "docs/s")
}

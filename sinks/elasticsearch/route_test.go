package elasticsearch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"penstock/pipeline"
)

func testRouter(t testing.TB, c Config, log *zap.Logger) *router {
	t.Helper()
	tmpl, err := parseTemplate(c.Index)
	if err != nil {
		t.Fatal(err)
	}
	return newRouter(c, tmpl, log)
}

func TestRouteFollowsTheRecordsTime(t *testing.T) {
	c := DefaultConfig()
	c.Index = "l-{time:yyyy.MM.dd}"
	r := testRouter(t, c, zap.NewNop())
	for _, test := range []struct{ at, want string }{
		{"2026-01-02T00:00:00Z", "l-2026.01.02"},
		{"2026-01-02T23:59:59Z", "l-2026.01.02"},
		{"2026-01-03T00:00:00Z", "l-2026.01.03"},
		{"2026-01-01T23:59:59Z", "l-2026.01.01"},
		{"1970-01-01T00:00:00Z", "l-1970.01.01"},
		{"2026-01-02T12:00:00Z", "l-2026.01.02"},
	} {
		at, _ := time.Parse(time.RFC3339, test.at)
		if got, err := r.route(&pipeline.Record{Origin: testOrigin, Timestamp: at}); err != nil || got != test.want {
			t.Errorf("%s: got %q, %v, want %q", test.at, got, err, test.want)
		}
	}
	for _, at := range []time.Time{{}, time.Unix(-1, 0), time.UnixMilli(1767312000000000)} {
		if got, err := r.route(&pipeline.Record{Origin: testOrigin, Timestamp: at}); err == nil {
			t.Errorf("%v: got %q, want a refusal", at, got)
		}
	}
}

func TestRouteByHour(t *testing.T) {
	c := DefaultConfig()
	c.Index = "l-{time:yyyy}-{time:HH}"
	r := testRouter(t, c, zap.NewNop())
	for hour := range 30 {
		at := time.Date(2026, 1, 2, hour, 59, 59, 0, time.UTC)
		if got, _ := r.route(&pipeline.Record{Origin: testOrigin, Timestamp: at}); got != fmt.Sprintf("l-2026-%02d", hour%24) {
			t.Errorf("hour %d: got %s", hour, got)
		}
	}
}

func TestWindow(t *testing.T) {
	now := time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC)
	c := DefaultConfig()
	c.Index, c.Oldest, c.Newest = "l-{time:yyyy.MM.dd}", 48*time.Hour, time.Hour
	for age, want := range map[time.Duration]string{
		0:              "l-2026.01.10",
		48 * time.Hour: "l-2026.01.08",
		49 * time.Hour: "",
		-time.Hour:     "l-2026.01.10",
		-2 * time.Hour: "",
	} {
		r := testRouter(t, c, zap.NewNop())
		r.now = func() time.Time { return now }
		rec := &pipeline.Record{Origin: testOrigin, Timestamp: now.Add(-age)}
		got, err := r.route(rec)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("age %s: got %q, %v, want %q", age, got, err, want)
		}
		if r.fallback = "late"; want == "" {
			if got, err := r.route(rec); got != "late" || err != nil {
				t.Errorf("age %s with a fallback: got %q, %v", age, got, err)
			}
		}
	}
}

func TestADayThatIsCachedLeavesTheWindow(t *testing.T) {
	at := time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC)
	now := at
	c := DefaultConfig()
	c.Index, c.Oldest = "l-{time:yyyy.MM.dd}", time.Hour
	r := testRouter(t, c, zap.NewNop())
	r.now = func() time.Time { return now }
	rec := &pipeline.Record{Origin: testOrigin, Timestamp: at}
	if _, err := r.route(rec); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Hour)
	if got, err := r.route(rec); err == nil {
		t.Errorf("got %q two hours later", got)
	}
}

func TestMaxIndices(t *testing.T) {
	now := time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC)
	c := DefaultConfig()
	c.Index, c.MaxIndices = "l-{header:h}", 2
	r := testRouter(t, c, zap.NewNop())
	r.now = func() time.Time { return now }
	route := func(h string) string {
		got, err := r.route(&pipeline.Record{Origin: testOrigin, Headers: []pipeline.Header{{Key: "h", Value: []byte(h)}}})
		if err != nil {
			return "!" + err.(*pipeline.DocumentError).Reason.Type
		}
		return got
	}
	for _, test := range []struct{ header, want string }{{"a", "l-a"}, {"b", "l-b"}, {"c", "!too_many_indices"}, {"a", "l-a"}} {
		if got := route(test.header); got != test.want {
			t.Errorf("%s: got %s, want %s", test.header, got, test.want)
		}
	}
	r.fallback = "rest"
	if got := route("c"); got != "rest" {
		t.Errorf("with a fallback: got %s", got)
	}
	// b is used all the time, a is not, so in a while c takes the place of a.
	for minute := 0; ; minute++ {
		now = now.Add(time.Minute)
		route("b")
		if route("c") == "l-c" {
			break
		}
		if minute > 10 {
			t.Fatal("an idle index makes no room")
		}
	}
	if _, ok := r.names["l-b"]; !ok || len(r.names) != 2 {
		t.Errorf("an index in use was forgotten: %v", r.names)
	}
}

func TestTwoTopicsInOneIndexAreWarnedOfOnce(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	r := testRouter(t, DefaultConfig(), zap.New(core))
	upper, lower := &pipeline.Origin{Topic: "Orders.EU"}, &pipeline.Origin{Topic: "orders.eu"}
	for range 3 {
		for _, o := range []*pipeline.Origin{upper, lower, {Topic: "orders.eu"}} {
			if got, _ := r.route(&pipeline.Record{Origin: o}); got != "logs-orders.eu" {
				t.Errorf("got %s", got)
			}
		}
	}
	if logs.Len() != 1 || !strings.Contains(fmt.Sprint(logs.All()[0].ContextMap()), "Orders.EU") {
		t.Errorf("got %v, want one warning that names both topics", logs.All())
	}
}

func TestRefusalsAreShortAndNameTheSetting(t *testing.T) {
	c := DefaultConfig()
	c.Index = "l-{header:h}"
	r := testRouter(t, c, zap.NewNop())
	_, err := r.route(&pipeline.Record{Origin: testOrigin})
	if text := err.Error(); !strings.Contains(text, "{header:h}") || !strings.Contains(text, "fallback_index") {
		t.Errorf("got %s", text)
	}
}

func TestRoutingAllocatesNothing(t *testing.T) {
	for _, index := range []string{"logs", "logs-{topic}-{time:yyyy.MM.dd}", "l-{header:h}", "l-{field:a.b}-{time:HH}"} {
		c := DefaultConfig()
		c.Index = index
		r := testRouter(t, c, zap.NewNop())
		rec := record(1)
		rec.Value, rec.Headers = []byte(`{"a":{"b":"x"}}`), []pipeline.Header{{Key: "h", Value: []byte("X")}}
		if n := testing.AllocsPerRun(100, func() {
			if _, err := r.route(rec); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", index, n)
		}
	}
}

func BenchmarkRoute(b *testing.B) {
	for _, index := range []string{"logs-{topic}-{time:yyyy.MM.dd}", "l-{header:h}", "l-{field:a.b}"} {
		b.Run(index, func(b *testing.B) {
			c := DefaultConfig()
			c.Index = index
			r := testRouter(b, c, zap.NewNop())
			rec := record(1)
			rec.Value, rec.Headers = []byte(`{"z":"0123456789","a":{"b":"x"}}`), []pipeline.Header{{Key: "h", Value: []byte("X")}}
			b.ReportAllocs()
			for b.Loop() {
				_, _ = r.route(rec)
			}
		})
	}
}

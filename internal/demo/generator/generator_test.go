package generator

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var services = []Service{{Name: "web", Topic: "logs-web", Weight: 3}, {Name: "payments", Topic: "logs-payments", Weight: 1}}

func TestSameSeedSameRecords(t *testing.T) {
	opts := Options{Seed: 7, Services: services, BadShare: 0.1}
	a, b := New(opts), New(opts)
	opts.Seed = 8
	other := New(opts)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	differs := false
	for i := range 2000 {
		now = now.Add(time.Millisecond)
		x, y, z := a.Next(now), b.Next(now), other.Next(now)
		if x.Topic != y.Topic || x.Bad != y.Bad || !bytes.Equal(x.Key, y.Key) || !bytes.Equal(x.Value, y.Value) {
			t.Fatalf("record %d differs:\n%s\n%s", i, x.Value, y.Value)
		}
		differs = differs || !bytes.Equal(x.Value, z.Value)
	}
	if !differs {
		t.Error("another seed makes the same records")
	}
}

// TestRecordsAreWhatTheySay: good ones can be stored, bad ones cannot, and
// there are about as many of each as was asked for.
func TestRecordsAreWhatTheySay(t *testing.T) {
	g := New(Options{Seed: 1, Services: services, BadShare: 0.01})
	const n = 10_000
	kinds, topics := map[Bad]int{}, map[string]int{}
	for range n {
		r := g.Next(time.Now())
		kinds[r.Bad]++
		topics[r.Topic]++
		var doc struct {
			Timestamp time.Time `json:"@timestamp"`
			Level     string    `json:"level"`
			Service   string    `json:"service"`
			Latency   any       `json:"latency_ms"`
		}
		ok := utf8.Valid(r.Value) && json.Unmarshal(r.Value, &doc) == nil
		_, number := doc.Latency.(float64)
		switch {
		case (r.Bad != Undecodable) != ok:
			t.Fatalf("kind %d: %q", r.Bad, r.Value)
		case ok && (doc.Level == "" || doc.Service == "" || doc.Timestamp.IsZero()):
			t.Fatalf("fields are missing: %s", r.Value)
		case ok && number != (r.Bad == Good):
			t.Fatalf("kind %d: %s", r.Bad, r.Value)
		}
	}
	// 100 expected of both kinds together, 50 of each; the standard deviation is 10.
	if bad := kinds[Undecodable] + kinds[Unmappable]; bad < 50 || bad > 150 || kinds[Undecodable] < 15 || kinds[Unmappable] < 15 {
		t.Errorf("kinds %v", kinds)
	}
	if share := float64(topics["logs-web"]) / n; share < 0.7 || share > 0.8 {
		t.Errorf("topics %v", topics)
	}
}

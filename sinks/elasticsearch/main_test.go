package elasticsearch

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"go.uber.org/goleak"
	"go.uber.org/zap"

	"penstock/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testConfig sends plain bodies to these addresses.
func testConfig(urls ...string) Config {
	c := DefaultConfig()
	c.URLs = NewURLs(urls...)
	c.Compression = CompressionNone
	c.Eject = EjectConfig{Min: 10 * time.Millisecond, Max: 40 * time.Millisecond}
	return c
}

// newSink makes a sink that is closed with the test.
func newSink(t testing.TB, c Config, loggers ...*zap.Logger) *Sink {
	t.Helper()
	o := Options{Version: "1.2.3"}
	if len(loggers) > 0 {
		o.Logger = loggers[0]
	}
	s, err := New(c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}

// document makes a document without a pipeline: only its decoder can otherwise.
func document(t testing.TB, json string) pipeline.Document {
	var d pipeline.Document
	*(*[]byte)(unsafe.Pointer(&d)) = []byte(json)
	if string(d.AppendTo(nil)) != json {
		t.Fatal("pipeline.Document is laid out in another way now")
	}
	return d
}

var testOrigin = &pipeline.Origin{Topic: "Logs.A", TopicID: "AAAAAAAAQACAAAAAAAAAAQ", Partition: 7}

func record(offset int64) *pipeline.Record {
	return &pipeline.Record{Origin: testOrigin, Offset: offset, LeaderEpoch: 3, Timestamp: time.UnixMilli(1767312000000)} // 2026-01-02T00:00:00Z
}

// bulkOf encodes documents of offsets 0, 1, ... for the destination idx.
func bulkOf(t testing.TB, s *Sink, documents ...string) bulk {
	t.Helper()
	b := &pipeline.Batch{Destination: "idx"}
	for i, d := range documents {
		if err := s.Append(b, record(int64(i)), document(t, d), "idx"); err != nil {
			t.Fatal(err)
		}
	}
	return bulk{destination: "idx", body: b.Body, documents: len(documents)}
}

func threeDocuments(t testing.TB, s *Sink) bulk {
	return bulkOf(t, s, `{"n":0}`, `{"n":1}`, `{"n":2}`)
}

// requestError gives err as what it must be.
func requestError(t testing.TB, err error) *pipeline.RequestError {
	t.Helper()
	e, ok := err.(*pipeline.RequestError)
	if !ok {
		t.Fatalf("got %T (%v), want a *pipeline.RequestError", err, err)
	}
	return e
}

// verdicts writes items as "1:throttled 2:rejected".
func verdicts(items []pipeline.Item) string {
	var all []string
	for _, i := range items {
		all = append(all, fmt.Sprintf("%d:%s", i.Doc, i.Verdict))
	}
	return strings.Join(all, " ")
}

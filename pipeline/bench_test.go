package pipeline

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

// nullSink encodes as a real sink does and takes everything at once.
type nullSink struct{ fakeSink }

func (s *nullSink) Route(*Record) (string, error) { return "logs", nil }

func (s *nullSink) Append(b *Batch, r *Record, doc Document, _ string) error {
	b.Body = append(b.Body, `{"create":{"_id":"`...)
	b.Body = append(b.Body, r.TopicID...)
	b.Body = append(b.Body, "\"}}\n"...)
	b.Body = append(doc.AppendTo(b.Body), '\n')
	return nil
}

func (s *nullSink) Write(context.Context, int, *Batch) (Outcome, error) {
	return Outcome{Wire: 1}, nil
}

func benchmarkPipeline() *Pipeline {
	c := DefaultConfig()
	return New(Options{Config: c, Sink: &nullSink{}, Logger: zap.NewNop(), Registry: prometheus.NewRegistry()})
}

func benchmarkChunk(a *Assignment, documents, size int) Chunk {
	c := Chunk{Assignment: a, Next: int64(documents)}
	list := make(listRecords, documents)
	value := []byte(`{"m":"` + strings.Repeat("a", size-8) + `"}`)
	for i := range list {
		list[i] = Record{Origin: a.Origin(), Offset: int64(i), Value: value, Timestamp: time.Now()}
		c.Values += int64(size)
	}
	c.Records, c.Bytes = list, c.Values
	return c
}

// BenchmarkDispatch is everything between fetch and send and the verdicts, for
// one document: decode, route, encode, batch, settle. It must not allocate per
// document: allocations are per chunk and per request.
func BenchmarkDispatch(b *testing.B) {
	for _, size := range []int{215, 438} {
		b.Run(fmt.Sprintf("document=%dB", size), func(b *testing.B) {
			p := benchmarkPipeline()
			a := p.Assign(Origin{Topic: "t", TopicID: "0123456789012345678901"}, 0)
			const documents = 5000
			c := benchmarkChunk(a, documents, size)
			now := time.Now()
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for n := 0; n < b.N; n += documents {
				dispatchOnce(p, c, now)
			}
			p.flushAll(closedDrain)
			p.work.Wait()
		})
	}
}

func dispatchOnce(p *Pipeline, c Chunk, now time.Time) {
	c.Assignment.fetched(c.Records.Len(), now)
	h := &heldChunk{Chunk: c}
	h.refs.Store(1)
	p.dispatch(&cursor{heldChunk: h}, now)
}

// The same as a test: far less than one allocation per document.
func TestNoAllocationPerDocument(t *testing.T) {
	if raceEnabled {
		t.Log("not measured with the race detector, which allocates itself")
		return
	}
	p := benchmarkPipeline()
	a := p.Assign(Origin{Topic: "t", TopicID: "0123456789012345678901"}, 0)
	const documents = 5000
	c := benchmarkChunk(a, documents, 215)
	now := time.Now()
	perChunk := testing.AllocsPerRun(50, func() { dispatchOnce(p, c, now) })
	p.flushAll(closedDrain)
	p.work.Wait()
	if perDocument := perChunk / documents; perDocument > 0.01 {
		t.Errorf("%.4f allocations per document (%.0f per chunk of %d), want none per document", perDocument, perChunk, documents)
	}
}

package main

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/configs/value"
	"penstock/pipeline"
	"penstock/sinks/elasticsearch/estest"
)

// steady waits until f has given the same for as long as d.
func (w *world) steady(what string, d time.Duration, f func() int64) int64 {
	w.Helper()
	last, since := f(), time.Now()
	w.eventually(what, func() bool {
		if now := f(); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) >= d
	})
	return last
}

// The sink never answers: memory fills to its limit and no further, fetching
// stops, the group keeps its member, and all is delivered afterwards.
func TestStuckSinkIsBoundedInMemory(t *testing.T) {
	w := newLonelyWorld(t, 8)
	release := make(chan struct{})
	w.search.Hook(func(*estest.Request) *estest.Reply { return &estest.Reply{Wait: release} })
	const each, size = 350, 16 << 10 // 45 MB in all
	for p := range int32(8) {
		for sent := 0; sent < each; sent += 50 {
			values := make([]string, 50)
			for i := range values {
				values[i] = fmt.Sprintf(`{"p":%d,"n":%d,"m":"%s"}`, p, sent+i, strings.Repeat("x", size))
			}
			w.send(p, values...)
		}
	}
	var over, seen atomic.Int64
	m := w.start("a", func(c *Config) {
		c.Memory.Limit = 32 * value.MiB
		c.Sink.Elasticsearch.Compression = "none"
	})
	sample := func() {
		s := m.status().Memory
		seen.Store(max(seen.Load(), s.Records))
		if s.Records > s.RecordsLimit {
			over.Store(s.Records)
		}
	}
	w.eventually("memory is full", func() bool {
		sample()
		return m.states()[0] == pipeline.StatePausedMemory
	})
	generation := w.kafka.GroupInfo(group).Epoch
	fetched := w.steady("fetching has stopped", 4*time.Second, func() int64 { // longer than the session
		sample()
		return m.status().Ledger.Fetched
	})
	if fetched == 8*each {
		t.Error("all was fetched: the test shows nothing")
	}
	w.same("generation", w.kafka.GroupInfo(group).Epoch, generation)
	for p := range int32(8) {
		if at := w.committed(p); at > 0 {
			t.Errorf("partition %d committed at %d", p, at)
		}
	}
	if code, body := m.get("/readyz"); code != 200 {
		t.Errorf("memory alone makes it unready: %s", body)
	}
	close(release)
	w.eventually("all is stored", func() bool {
		sample()
		return w.witness.count() == 8*each
	})
	w.finish()
	if n := over.Load(); n != 0 {
		t.Errorf("%d bytes were reserved, the limit is %d", n, m.status().Memory.RecordsLimit)
	}
	if seen.Load() < m.status().Memory.RecordsLimit/2 {
		t.Errorf("only %d bytes were ever in use", seen.Load())
	}
	w.same("in use at the end", m.status().Memory.Records, 0)
}

// A record larger than the whole limit passes alone.
func TestRecordLargerThanTheLimitPassesAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a record of 33 MiB")
	}
	w := newLonelyWorld(t, 1, kfake.BrokerConfigs(map[string]string{"message.max.bytes": "67108864"}))
	huge := w.newClient(kgo.ProducerBatchMaxBytes(64<<20), kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	w.client = huge
	w.send(0, docs(3)...)
	w.send(0, `{"m":"`+strings.Repeat("x", 33<<20)+`"}`)
	w.send(0, docs(3)...)
	m := w.start("a", func(c *Config) {
		c.Memory.Limit = 32 * value.MiB
		c.Sink.Elasticsearch.Compression = "none"
	})
	w.finish()
	w.same("in use at the end", m.status().Memory.Records, 0)
}

package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/pipeline"
	"penstock/sources/kafka"
)

// The committed offset is below the log's start: what is gone is named, and the
// rest is read.
func TestTrimmedLogIsReadFromItsStart(t *testing.T) {
	w := newWorld(t, 1)
	w.send(0, docs(120)...)
	w.commitAs(map[int32]int64{0: 5})
	if err := w.kafka.DeleteRecords(logs, 0, 100); err != nil {
		t.Fatal(err)
	}
	m := w.start("a")
	w.awaitEnd()
	w.same("lost", m.metric("penstock_source_records_lost_total"), "95")
	w.same("documents", w.search.Indices(), map[string]int{index: 20})
	w.finish()
}

// The committed offset is beyond the log's end, as after a topic was re-created:
// it is read from its start, and the commit follows.
func TestOffsetBeyondTheEndStartsAtTheBeginning(t *testing.T) {
	w := newWorld(t, 1)
	w.commitAs(map[int32]int64{0: 50})
	w.send(0, docs(10)...)
	w.start("a")
	w.finish()
	w.same("documents", w.search.Indices(), map[string]int{index: 10})
	// The topic grows beyond the old offset: nothing between may be missed.
	w.send(0, docs(45)...)
	w.start("b")
	w.awaitEnd()
	w.stopAll()
	w.conserve()
	w.same("documents", w.search.Indices(), map[string]int{index: 55})
}

// A topic is re-created while it is read: that is never met with silence.
func TestTopicRecreatedWhileRunning(t *testing.T) {
	w := newWorld(t, 1)
	w.send(0, docs(20)...)
	m := w.start("a")
	w.awaitEnd()
	if err := w.kafka.DeleteTopic(logs); err != nil {
		t.Fatal(err)
	}
	if err := w.kafka.CreateTopic(logs, 1, nil); err != nil {
		t.Fatal(err)
	}
	w.witness.learnTopics()
	fresh := w.newClient(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for i := range 5 {
		if err := fresh.ProduceSync(ctx, &kgo.Record{Topic: logs, Value: fmt.Appendf(nil, `{"again":%d}`, i)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	w.eventually("it is read anew, or the hold is seen", func() bool {
		code, _ := m.get("/readyz")
		return code == 503 || w.search.Indices()[index] == 25
	})
	_ = m.stop()
	w.start("b")
	w.eventually("all of the new topic is stored", func() bool { return w.search.Indices()[index] == 25 })
	w.awaitEnd()
	w.stopAll()
}

// "latest" is for a group that has never read the topic: partitions that come
// later are read from their start.
func TestNewPartitionsAreReadFromTheirStart(t *testing.T) {
	w := newWorld(t, 2)
	m := w.start("a", func(c *Config) {
		c.Source.Kafka.Start = kafka.StartLatest
		c.Source.Kafka.MetadataMaxAge = time.Second
	})
	w.eventually("the group knows the topic", func() bool { return w.committed(0) == 0 && w.committed(1) == 0 })
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if r, err := w.admin.CreatePartitions(ctx, 2, logs); err != nil || r.Error() != nil {
		t.Fatal(err, r.Error())
	}
	client := w.newClient(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	for i := range 5 {
		if err := client.ProduceSync(ctx, &kgo.Record{Topic: logs, Partition: 3, Value: fmt.Appendf(nil, `{"n":%d}`, i)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	if m.owns() > 2 {
		t.Log("the partitions were found before the records were written")
	}
	w.awaitCommitted(3, 5)
	w.finish()
}

// "latest" holds once: a restart goes on where the group was, also where nothing
// was read yet.
func TestLatestHoldsOnce(t *testing.T) {
	w := newWorld(t, 1)
	w.begin = 5
	w.send(0, docs(5)...)
	latest := func(c *Config) { c.Source.Kafka.Start = kafka.StartLatest }
	first := w.start("a", latest)
	w.awaitCommitted(0, 5)
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	w.send(0, docs(3)...)
	w.start("b", latest)
	w.finish()
	w.same("documents", w.search.Indices(), map[string]int{index: 3})
}

// timed are n records, a minute apart.
func timed(n int) []*kgo.Record {
	all := make([]*kgo.Record, n)
	for i := range all {
		all[i] = &kgo.Record{Topic: logs, Value: fmt.Appendf(nil, `{"n":%d}`, i), Timestamp: time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC)}
	}
	return all
}

func TestStartAtATime(t *testing.T) {
	w := newWorld(t, 1)
	w.begin = 6
	for _, r := range timed(10) {
		w.sendRecords(r)
	}
	w.start("a", func(c *Config) { c.Source.Kafka.Start = "2026-01-01T00:06:00Z" })
	w.finish()
	w.same("documents", w.search.Indices(), map[string]int{index: 4})
}

func TestStopAtATime(t *testing.T) {
	w := newWorld(t, 2)
	for _, r := range timed(10) {
		w.sendRecords(r)
	}
	m := w.start("a", func(c *Config) { c.Source.Kafka.Stop = "2026-01-01T00:06:00Z" })
	w.same("exit code", exitCode(m.wait()), exitDone)
	w.same("committed", w.committed(0), 6)
	w.same("documents", w.search.Indices(), map[string]int{index: 6})
	w.consistent()
}

// The end is where it was at the start of the process: what comes later is left.
func TestStopAtLag0(t *testing.T) {
	w := newWorld(t, 3)
	w.send(0, docs(100)...)
	w.send(1, docs(10)...)
	m := w.start("a", func(c *Config) { c.Source.Kafka.Stop = kafka.StopLag0 })
	w.same("exit code", exitCode(m.wait()), exitDone)
	w.committedAt([]int64{100, 10, 0})
	w.conserve()
}

// committedAt checks the committed offsets; none counts as 0.
func (w *world) committedAt(want []int64) {
	w.Helper()
	for p, end := range want {
		w.same(fmt.Sprintf("committed of partition %d", p), max(0, w.committed(int32(p))), end)
	}
}

// Several members, more than there are partitions: each ends when all is done.
func TestStopAtLag0InAGroup(t *testing.T) {
	w := newWorld(t, 2)
	w.send(0, docs(500)...)
	w.send(1, docs(500)...)
	stop := func(c *Config) {
		c.Source.Kafka.Stop = kafka.StopLag0
	}
	members := []*member{w.start("a", stop), w.start("b", stop), w.start("c", stop)}
	for _, m := range members {
		w.same("exit code of "+m.name, exitCode(m.wait()), exitDone)
	}
	w.committedAt([]int64{500, 500})
	w.conserve()
}

// Transactions leave markers, and what was aborted is not read: neither keeps
// the end from being reached or committed.
func TestTransactions(t *testing.T) {
	for _, stop := range []string{"", kafka.StopLag0} {
		t.Run("stop "+stop, func(t *testing.T) {
			w := newWorld(t, 1)
			c := w.newClient(kgo.TransactionalID("t"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			n := 0
			transaction := func(how kgo.TransactionEndTry) {
				t.Helper()
				if err := c.BeginTransaction(); err != nil {
					t.Fatal(err)
				}
				for range 3 {
					n++
					if err := c.ProduceSync(ctx, &kgo.Record{Topic: logs, Value: fmt.Appendf(nil, `{"n":%d,"committed":%t}`, n, bool(how))}).FirstErr(); err != nil {
						t.Fatal(err)
					}
				}
				if err := c.EndTransaction(ctx, how); err != nil {
					t.Fatal(err)
				}
			}
			transaction(kgo.TryCommit)
			transaction(kgo.TryAbort)
			transaction(kgo.TryCommit)
			transaction(kgo.TryAbort)
			m := w.start("a", func(c *Config) { c.Source.Kafka.Stop = stop })
			if stop == "" {
				w.awaitEnd()
				w.stopAll()
			} else {
				w.same("exit code", exitCode(m.wait()), exitDone)
			}
			w.same("committed", w.committed(0), 16)
			w.conserve()
			w.same("ledger", m.status().Ledger, pipeline.Counts{Fetched: 10, Stored: 6, Skipped: 4})
		})
	}
}

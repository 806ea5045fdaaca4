package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"penstock/configs/value"
	"penstock/pipeline"
	"penstock/sinks/deadletter"
)

// produces counts the requests that write to the dead-letter topic.
func (w *world) produces() *kfake.FaultHandle {
	return w.kafka.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: dead, Count: -1, Observe: true})
}

// The dead-letter topic refuses for a while: nothing is committed before it has
// acknowledged, and then there is one letter.
func TestLettersAreAcknowledgedBeforeTheCommit(t *testing.T) {
	w := newWorld(t, 1)
	refusals := w.kafka.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: dead, Err: kerr.NotEnoughReplicas, Count: 3})
	w.send(0, `{"n":0}`, "text", `{"n":2}`)
	w.start("a")
	w.finish() // looks at what was committed before the letter was there
	w.same("refusals", refusals.Hits(), 3)
	w.same("dead letters", w.deadOffsets(0), []int64{1})
}

// The dead-letter topic refuses for good: that is seen, other partitions flow,
// and the letter is kept until it is taken.
func TestRefusedLettersHold(t *testing.T) {
	w := newWorld(t, 2)
	fault := w.kafka.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: dead, Err: kerr.TopicAuthorizationFailed, Count: -1})
	w.send(0, `{"n":0}`, "text", `{"n":2}`)
	m := w.start("a")
	m.awaitState(0, pipeline.StateHeldDeadLetter)
	for i := range 5 {
		w.send(1, docs(10)...)
		w.awaitCommitted(1, int64(10*(i+1)))
	}
	w.eventually("the good ones of the held partition are stored", func() bool { return w.witness.isStored(0, 0) && w.witness.isStored(0, 2) })
	w.eventually("it is unready", func() bool {
		code, body := m.get("/readyz")
		return code == 503 && strings.Contains(body, "allow Write")
	})
	if at := w.committed(0); at > 1 {
		t.Errorf("committed %d", at)
	}
	fault.Remove()
	w.finish()
	w.same("dead letters", w.deadOffsets(0), []int64{1})
}

// noise is a text that does not compress.
func noise(n int) string {
	b := make([]byte, n*3/4)
	_, _ = rand.Read(b)
	return base64.StdEncoding.EncodeToString(b)
}

// A letter is larger than its topic takes, since its headers came on top: it is
// held by name, never skipped, and holds up no smaller ones.
func TestLetterTooLargeForItsTopicHolds(t *testing.T) {
	w := newWorld(t, 2)
	w.client = w.newClient(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchMaxBytes(1<<20))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	most := func(bytes string) {
		t.Helper()
		if _, err := w.admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "max.message.bytes", Value: &bytes}}, dead); err != nil {
			t.Fatal(err)
		}
	}
	most("1000012")
	small := noise(400_000) // three of them make too large a batch
	w.send(0, noise(1_000_000))
	w.send(1, small)
	w.send(1, small)
	w.send(1, small)
	m := w.start("a")
	m.awaitState(0, pipeline.StateHeldDeadLetter)
	w.awaitCommitted(1, 3)
	m.awaitState(0, pipeline.StateHeldDeadLetter)
	if p := m.status().Partitions[0]; !strings.Contains(p.Reason, "max.message.bytes") {
		t.Errorf("the reason does not name the remedy: %s", p.Reason)
	}
	if at := w.committed(0); at > 0 {
		t.Errorf("committed %d", at)
	}
	most("1048588")
	w.finish()
	w.same("dead letters", w.deadOffsets(0), []int64{0})
}

// A dead-letter topic that would be read is refused at start.
func TestDeadLetterTopicIsNotRead(t *testing.T) {
	w := newWorld(t, 1)
	_, err := w.tryStart("a", func(c *Config) {
		c.Source.Kafka.Topics, c.Source.Kafka.TopicPattern = nil, "logs-.*"
		c.DeadLetter.Topic = "logs-dlq"
	})
	var p *value.Problem
	if !errors.As(err, &p) || p.Key != "dead_letter.topic" {
		t.Errorf("started with %v", err)
	}
}

// A missing dead-letter topic stops the start, or is made if that is asked for.
func TestDeadLetterTopicMustExist(t *testing.T) {
	w := newWorld(t, 1)
	if err := w.kafka.DeleteTopic(dead); err != nil {
		t.Fatal(err)
	}
	_, err := w.tryStart("a")
	if !errors.Is(err, deadletter.ErrMissing) || exitCode(err) != exitUsage {
		t.Errorf("started with %v", err)
	}
	w.send(0, "text")
	w.start("b", func(c *Config) { c.DeadLetter.Create = true })
	w.finish()
	w.same("dead letters", w.deadOffsets(0), []int64{0})
}

// Keys, values and headers are kept byte for byte, nulls and repetitions too.
func TestLettersKeepTheRecord(t *testing.T) {
	w := newWorld(t, 1)
	when := time.Date(2020, 2, 3, 4, 5, 6, 789e6, time.UTC)
	headers := []kgo.RecordHeader{{Key: "h", Value: []byte("1")}, {Key: "null"}, {Key: "h", Value: []byte{0xff}}, {Key: "empty", Value: []byte{}}}
	w.sendRecords(
		&kgo.Record{Topic: logs, Value: []byte("\x00\xff{"), Headers: headers, Timestamp: when},
		&kgo.Record{Topic: logs, Key: []byte{}, Value: []byte("x")},
	)
	w.start("a")
	w.finish()
	letters := w.letters()
	if len(letters) != 2 {
		t.Fatalf("%d letters", len(letters))
	}
	r := letters[0].record
	w.same("key is null", r.Key == nil, true)
	w.same("value", r.Value, []byte("\x00\xff{"))
	w.same("timestamp", r.Timestamp.UTC(), when)
	for i, h := range headers {
		got := r.Headers[i]
		if got.Key != h.Key || string(got.Value) != string(h.Value) || (got.Value == nil) != (h.Value == nil) {
			t.Errorf("header %d: %q", i, got)
		}
	}
	w.same("empty key is null", letters[1].record.Key == nil, false)
}

// Many letters are confirmed together, not one by one.
func TestLettersAreWrittenTogether(t *testing.T) {
	w := newWorld(t, 1)
	values := make([]string, 500)
	for i := range values {
		values[i] = fmt.Sprintf("text %d", i)
	}
	requests := w.produces()
	w.send(0, values...)
	w.start("a")
	w.finish()
	w.same("dead letters", len(w.deadOffsets(0)), 500)
	if n := requests.Hits(); n > 10 {
		t.Errorf("%d requests for 500 letters", n)
	}
}

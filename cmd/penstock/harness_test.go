package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/configs/value"
	"penstock/pipeline"
	"penstock/sinks/elasticsearch"
	"penstock/sinks/elasticsearch/estest"
)

// The names in every world.
const (
	logs  = "logs"
	dead  = "dead"
	group = "g"
	index = "logs-logs" // where documents of the topic logs go
)

// patience is how long a test waits for something that must happen. It is long:
// it only passes where something is broken.
const patience = 2 * time.Minute

// world is what a component test plays in: a Kafka cluster and a search server
// in this process, the service between them, and a witness of what they see.
type world struct {
	testing.TB
	kafka   *kfake.Cluster
	search  *estest.Server
	client  *kgo.Client
	admin   *kadm.Client
	witness *witness
	members []*member
	// document gives what must be stored for a value.
	document func(value []byte) string
	// begin is the first offset of each partition that is to be read.
	begin int64
}

// newWorld makes a world with the topic logs of so many partitions, and the
// topic dead. It lets the test run beside others.
func newWorld(t *testing.T, partitions int32, options ...kfake.Opt) *world {
	t.Helper()
	t.Parallel()
	return newLonelyWorld(t, partitions, options...)
}

// newLonelyWorld is newWorld for a test that runs by itself.
func newLonelyWorld(t testing.TB, partitions int32, options ...kfake.Opt) *world {
	t.Helper()
	options = append([]kfake.Opt{
		kfake.NumBrokers(1), kfake.GroupMinSessionTimeout(time.Second),
		kfake.SeedTopics(partitions, logs), kfake.SeedTopics(1, dead),
	}, options...)
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	w := &world{TB: t, kafka: cluster, search: estest.New(t), document: passedThrough}
	w.client = w.newClient(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
	w.admin = kadm.NewClient(w.client)
	w.witness = newWitness(w)
	t.Cleanup(w.abandon)
	return w
}

func (w *world) newClient(options ...kgo.Opt) *kgo.Client {
	w.Helper()
	c, err := kgo.NewClient(append(options, kgo.SeedBrokers(w.kafka.ListenAddrs()...))...)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(c.Close)
	return c
}

// passedThrough is what is stored for a JSON value: the same, but that line feeds
// are tabs and what stands before the object is gone.
func passedThrough(value []byte) string {
	s := string(value)
	if !strings.HasPrefix(s, "{") {
		s = strings.TrimSpace(strings.TrimPrefix(s, "\ufeff"))
	}
	return strings.ReplaceAll(s, "\n", "\t")
}

// config is a configuration with short waits.
func (w *world) config(name string) Config {
	c := DefaultConfig()
	k := &c.Source.Kafka
	k.Brokers, k.Topics, k.Group, k.ClientID = w.kafka.ListenAddrs(), []string{logs}, group, name
	k.FetchMaxWait, k.MetadataMaxAge = 50*time.Millisecond, 200*time.Millisecond
	k.RebalanceTimeout = 10 * time.Second
	s := &c.Sink.Elasticsearch
	s.URLs = elasticsearch.NewURLs(w.search.URL)
	s.Eject.Min, s.Eject.Max = 10*time.Millisecond, 100*time.Millisecond
	c.DeadLetter.Topic = dead
	c.Batch.Age = 20 * time.Millisecond
	c.Memory.Limit = 256 * value.MiB
	c.Delivery.Backoff = pipeline.BackoffConfig{Min: 10 * time.Millisecond, Max: 50 * time.Millisecond}
	c.Delivery.CommitInterval = 10 * time.Millisecond
	c.Delivery.ShutdownGrace = 10 * time.Second
	c.Delivery.RevokeTimeout = 500 * time.Millisecond
	c.Delivery.UnreadyAfter = time.Second
	c.HTTP.Listen = "127.0.0.1:0"
	return c
}

// send produces values to a partition of logs, in order and as one batch, and
// gives the offset of the first.
func (w *world) send(partition int32, values ...string) int64 {
	w.Helper()
	records := make([]*kgo.Record, len(values))
	for i, v := range values {
		records[i] = &kgo.Record{Topic: logs, Partition: partition, Value: []byte(v)}
	}
	return w.sendRecords(records...)
}

func (w *world) sendRecords(records ...*kgo.Record) int64 {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := w.client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		w.Fatalf("producing: %v", err)
	}
	return records[0].Offset
}

// docs makes n small documents that differ.
func docs(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"n":%d}`, i)
	}
	return all
}

// eventually waits until a condition holds.
func (w *world) eventually(what string, holds func() bool) {
	w.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for i := 1; !holds(); i++ {
		if i%40 == 0 {
			w.reap()
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			if holds() {
				return
			}
			w.describe()
			w.Fatalf("waited in vain: %s", what)
		}
	}
}

// committed is the group's offset for a partition of logs, -1 for none.
func (w *world) committed(partition int32) int64 {
	if g := w.kafka.GroupInfo(group); g != nil {
		if c, ok := g.Commits[logs][partition]; ok {
			return c.Offset
		}
	}
	return -1
}

// awaitCommitted waits until the group has committed that offset.
func (w *world) awaitCommitted(partition int32, offset int64) {
	w.Helper()
	w.eventually(fmt.Sprintf("partition %d committed at %d", partition, offset), func() bool { return w.committed(partition) == offset })
}

// awaitRequests waits until the search server has seen n bulk requests.
func (w *world) awaitRequests(n int) {
	w.Helper()
	w.eventually(fmt.Sprintf("%d requests", n), func() bool { return len(w.search.Requests()) >= n })
}

// commitAs makes the group's offsets by hand, as if an earlier run had.
func (w *world) commitAs(offsets map[int32]int64) {
	w.Helper()
	var o kadm.Offsets
	for p, at := range offsets {
		o.AddOffset(logs, p, at, -1)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := w.admin.CommitAllOffsets(ctx, group, o); err != nil {
		w.Fatal(err)
	}
}

// bodies gives the sources of each bulk request's documents.
func bodies(requests []estest.Request) [][]string {
	var all [][]string
	for _, r := range requests {
		if r.Method != "POST" {
			continue
		}
		var sources []string
		for _, d := range r.Docs {
			sources = append(sources, d.Source)
		}
		all = append(all, sources)
	}
	return all
}

// ids gives the ids of each bulk request's documents.
func ids(requests []estest.Request) [][]string {
	var all [][]string
	for _, r := range requests {
		var some []string
		for _, d := range r.Docs {
			some = append(some, d.ID)
		}
		all = append(all, some)
	}
	return all
}

// has tells whether one of a request's documents contains the text.
func has(r *estest.Request, text string) bool {
	return slices.ContainsFunc(r.Docs, func(d estest.Doc) bool { return strings.Contains(d.Source, text) })
}

package integration

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/integration/servers"
)

// broker is a Kafka broker as a test sees it from outside.
type broker struct {
	*servers.Kafka
	t      testing.TB
	client *kgo.Client
	admin  *kadm.Client
}

// newBroker starts a broker for the test.
func newBroker(t *testing.T, o servers.KafkaOptions) *broker {
	t.Helper()
	k := servers.StartKafka(t, o)
	b := &broker{Kafka: k, t: t}
	b.client = kafkaClient(t, k, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MetadataMinAge(100*time.Millisecond),
		// Docker takes connections for a broker that is restarting, and closes them.
		kgo.AlwaysRetryEOF())
	b.admin = kadm.NewClient(b.client)
	return b
}

// place is where a record is.
type place struct {
	topic     string
	partition int32
	offset    int64
}

// asking bounds one question to the broker.
func (b *broker) asking() (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.t.Context(), 20*time.Second)
}

// create makes topics of so many partitions.
func (b *broker) create(partitions int32, topics ...string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	made, err := b.admin.CreateTopics(ctx, partitions, -1, nil, topics...)
	if err == nil {
		err = made.Error()
	}
	if err != nil {
		b.t.Fatalf("creating the topics %v: %v", topics, err)
	}
	// The controller answers before the broker itself knows of them.
	eventually(b.t, fmt.Sprintf("the broker to know the topics %v", topics), func() error {
		known, err := b.admin.ListTopics(ctx, topics...)
		if err != nil {
			return err
		}
		for _, topic := range topics {
			if got := len(known[topic].Partitions); got != int(partitions) {
				return fmt.Errorf("%s has %d partitions: %w", topic, got, known[topic].Err)
			}
		}
		return known.Error()
	})
}

// send writes records, each to the partition that it names.
func (b *broker) send(records ...*kgo.Record) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	if err := b.client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		b.t.Fatalf("producing: %v", err)
	}
}

// offsets gives one offset for each partition of a topic.
type offsets map[int32]int64

func (o offsets) sum() (n int64) {
	for _, at := range o {
		n += at
	}
	return n
}

// reach tells what is missing for these offsets to be at least as far as others.
func (o offsets) reach(others offsets) error {
	for p, want := range others {
		if o[p] < want {
			return fmt.Errorf("partition %d is at %d of %d", p, o[p], want)
		}
	}
	return nil
}

// ends are the offsets after the last record, transaction markers included.
func (b *broker) ends(topic string) (offsets, error) {
	ctx, cancel := b.asking()
	defer cancel()
	l, err := b.admin.ListEndOffsets(ctx, topic)
	if err == nil {
		err = l.Error()
	}
	if err != nil {
		return nil, err
	}
	all := offsets{}
	l.Each(func(o kadm.ListedOffset) { all[o.Partition] = o.Offset })
	return all, nil
}

// committed are the group's offsets. A partition without one is left out.
func (b *broker) committed(group, topic string) (offsets, error) {
	ctx, cancel := b.asking()
	defer cancel()
	r, err := b.admin.FetchOffsets(ctx, group)
	if err == nil {
		err = r.Error()
	}
	if err != nil {
		return nil, err
	}
	all := offsets{}
	r.Each(func(o kadm.OffsetResponse) {
		if o.Topic == topic && o.At >= 0 {
			all[o.Partition] = o.At
		}
	})
	return all, nil
}

// awaitLag0 waits until the group has committed the end of every partition. It
// asks the broker, not Penstock.
func (b *broker) awaitLag0(limit time.Duration, group, topic string) {
	b.t.Helper()
	within(b.t, limit, "lag 0 of "+group, func() error { return b.lag(group, topic) })
}

// lag is an error unless the group has committed exactly the end of every partition.
func (b *broker) lag(group, topic string) error {
	ends, err := b.ends(topic)
	if err != nil {
		return err
	}
	committed, err := b.committed(group, topic)
	if err != nil {
		return err
	}
	return same(committed, ends)
}

// same tells how the committed offsets differ from those that are wanted. A
// partition that never had a record needs no commit.
func same(committed, want offsets) error {
	var wrong []error
	for p, end := range want {
		at, ok := committed[p]
		if (ok || end > 0) && at != end {
			wrong = append(wrong, fmt.Errorf("partition %d is committed at %d, not %d", p, at, end))
		}
	}
	return errors.Join(wrong...)
}

// read gives every record of a topic that is not a transaction marker, in the
// order of each partition.
func (b *broker) read(topic string, opts ...kgo.Opt) []*kgo.Record {
	b.t.Helper()
	ends, err := b.ends(topic)
	if err != nil {
		b.t.Fatal(err)
	}
	at := map[int32]kgo.Offset{}
	left := offsets{}
	for p, end := range ends {
		if end > 0 {
			at[p], left[p] = kgo.NewOffset().AtStart(), end
		}
	}
	if len(left) == 0 {
		return nil
	}
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(b.Brokers()...), kgo.KeepControlRecords(), kgo.AlwaysRetryEOF(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: at}),
	}, opts...)...)
	if err != nil {
		b.t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	var all []*kgo.Record
	for len(left) > 0 {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			b.t.Fatalf("reading %s to its end took too long: %v is missing", topic, left)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if !r.Attrs.IsControl() {
				all = append(all, r)
			}
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
		})
	}
	return all
}

// topicID is the broker's own name of a topic, as document ids begin with it.
func (b *broker) topicID(topic string) string {
	b.t.Helper()
	ctx, cancel := b.asking()
	defer cancel()
	topics, err := b.admin.ListTopics(ctx, topic)
	if err != nil {
		b.t.Fatal(err)
	}
	return encodeID(topics[topic].ID)
}

// Package broker is a Kafka broker inside this process, on loopback and in
// memory (twmb/franz-go's kfake), kept small by deleting what a group has
// committed.
package broker

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kfake"
)

// Topic to be created.
type Topic struct {
	Name       string
	Partitions int32
	// Retain bounds each partition, in bytes, by deleting its oldest records
	// whether they were read or not; 0 keeps all until Trim.
	Retain int64
}

// segmentBytes is small so that deleting old records frees memory soon: the
// broker frees whole segments.
const segmentBytes = 1 << 20

// Broker is a running broker.
type Broker struct {
	cluster *kfake.Cluster
	topics  []Topic
}

// Start listens on a free port of 127.0.0.1 and creates the topics.
func Start(topics []Topic) (*Broker, error) {
	c, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.ClusterID("penstock-demo"),
		// How often retention is applied; the default is an hour.
		kfake.BrokerConfigs(map[string]string{"log.cleaner.backoff.ms": "5000"}),
	)
	if err != nil {
		return nil, fmt.Errorf("starting the embedded Kafka: %w", err)
	}
	b := &Broker{cluster: c, topics: topics}
	for _, t := range topics {
		config := map[string]string{"segment.bytes": fmt.Sprint(segmentBytes)}
		if t.Retain > 0 {
			config["retention.bytes"] = fmt.Sprint(t.Retain)
		}
		if err := c.CreateTopic(t.Name, t.Partitions, config); err != nil {
			c.Close()
			return nil, fmt.Errorf("creating topic %s in the embedded Kafka: %w", t.Name, err)
		}
	}
	return b, nil
}

// Addrs are the addresses to bootstrap from.
func (b *Broker) Addrs() []string { return b.cluster.ListenAddrs() }

// Close stops the broker; what it held is gone.
func (b *Broker) Close() { b.cluster.Close() }

// End gives the number of records that a topic ever got.
func (b *Broker) End(topic string) int64 {
	var n int64
	for _, p := range b.cluster.PartitionInfos(topic) {
		n += p.HighWatermark
	}
	return n
}

// Bytes is the size of all records that are held.
func (b *Broker) Bytes() int64 {
	var n int64
	for _, t := range b.topics {
		for _, p := range b.cluster.PartitionInfos(t.Name) {
			n += p.NumBytes
		}
	}
	return n
}

// Trim deletes the records that the group has committed. Nothing that is still
// to be read is touched, as retention by size or age would.
func (b *Broker) Trim(group string) error {
	info := b.cluster.GroupInfo(group)
	if info == nil {
		return nil
	}
	for topic, partitions := range info.Commits {
		for _, p := range b.cluster.PartitionInfos(topic) {
			commit, ok := partitions[p.Partition]
			if !ok || commit.Offset <= p.LogStartOffset {
				continue
			}
			if err := b.cluster.DeleteRecords(topic, p.Partition, min(commit.Offset, p.HighWatermark)); err != nil {
				return fmt.Errorf("deleting what was read of %s/%d: %w", topic, p.Partition, err)
			}
		}
	}
	return nil
}

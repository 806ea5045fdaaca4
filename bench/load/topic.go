package load

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// ErrNoTopic is the error for a topic that does not exist.
var ErrNoTopic = errors.New("there is no such topic")

// Brokers splits a list of addresses at its commas.
func Brokers(list string) []string {
	var brokers []string
	for _, b := range strings.Split(list, ",") {
		if b = strings.TrimSpace(b); b != "" {
			brokers = append(brokers, b)
		}
	}
	return brokers
}

// Connect gives a client that answers within a time, or with an error that says
// what to do. The caller closes it.
func Connect(ctx context.Context, brokers []string, opts ...kgo.Opt) (*kgo.Client, error) {
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(brokers...)}, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("making a Kafka client for %v: %w", brokers, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := client.Ping(ctx); err != nil {
		client.Close()
		return nil, fmt.Errorf("no Kafka broker answers at %s (set -brokers host:port): %w", strings.Join(brokers, ", "), err)
	}
	return client, nil
}

// Size gives how many partitions a topic has, and how many records are between
// their starts and ends; ErrNoTopic if it does not exist.
func Size(ctx context.Context, client *kgo.Client, topic string) (partitions int, records int64, err error) {
	admin := kadm.NewClient(client)
	ends, err := admin.ListEndOffsets(ctx, topic)
	if err == nil {
		err = ends.Error()
	}
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		return 0, 0, fmt.Errorf("topic %q: %w; make it with: speed fill -topic %s", topic, ErrNoTopic, topic)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("looking up the end of topic %q: %w", topic, err)
	}
	starts, err := admin.ListStartOffsets(ctx, topic)
	if err == nil {
		err = starts.Error()
	}
	if err != nil {
		return 0, 0, fmt.Errorf("looking up the start of topic %q: %w", topic, err)
	}
	ends.Each(func(end kadm.ListedOffset) {
		partitions++
		if start, ok := starts.Lookup(end.Topic, end.Partition); ok {
			records += end.Offset - start.Offset
		}
	})
	return partitions, records, nil
}

// create makes a topic that keeps what it gets for ever, in one copy.
func create(ctx context.Context, client *kgo.Client, topic string, partitions int) error {
	keep := "-1"
	res, err := kadm.NewClient(client).CreateTopic(ctx, int32(partitions), 1, map[string]*string{"retention.ms": &keep}, topic)
	if err == nil {
		err = res.Err
	}
	if err != nil {
		return fmt.Errorf("making topic %q with %d partitions: %w", topic, partitions, err)
	}
	return nil
}

// Forget deletes consumer groups that measurements left behind. What cannot be
// deleted the broker forgets by itself, in time.
func Forget(ctx context.Context, client *kgo.Client, groups ...string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_, _ = kadm.NewClient(client).DeleteGroups(ctx, groups...)
}

// BrokerVersion guesses the Kafka version from what the brokers understand.
func BrokerVersion(ctx context.Context, client *kgo.Client) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	all, err := kadm.NewClient(client).ApiVersions(ctx)
	if err != nil {
		return "unknown"
	}
	for _, v := range all.Sorted() {
		if v.Err == nil {
			return v.VersionGuess()
		}
	}
	return "unknown"
}

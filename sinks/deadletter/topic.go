package deadletter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/pipeline"
)

// Topic writes dead letters to a Kafka topic. It implements pipeline.DeadLetters.
type Topic struct {
	config Config
	client *kgo.Client
}

// Options are what a Topic is made of besides its Config.
type Options struct {
	// Brokers and client identity, the same as the source's.
	Brokers  []string
	ClientID string
	// Client has extra options for the Kafka client, for tests.
	Client []kgo.Opt
}

// deliveryTimeout is when one try of letters counts as failed, so that the
// hold is seen; the pipeline tries again. It is a context's: the client's own
// timeout counts from the record's timestamp, which is the original's.
const deliveryTimeout = 15 * time.Second

// buffered bounds what the producer holds, in bytes.
const buffered = 16 << 20

// New makes the writer. It works while no broker can be reached.
func New(c Config, o Options) (*Topic, error) {
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(o.Brokers...),
		kgo.ClientID(o.ClientID),
		kgo.DefaultProduceTopic(c.Topic),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerBatchMaxBytes(int32(c.MaxMessageBytes)),
		kgo.MaxBufferedBytes(max(buffered, 2*int(c.MaxMessageBytes))),
		// A try that takes too long, or longer than the process, must end. The next
		// one may then write a letter twice, which its headers tell.
		kgo.AllowIdempotentProduceCancellation(),
		kgo.ProducerLinger(0),
	}, o.Client...)...)
	if err != nil {
		return nil, fmt.Errorf("making dead-letter client: %w", err)
	}
	return &Topic{config: c, client: client}, nil
}

// ErrMissing says that the dead-letter topic does not exist.
var ErrMissing = errors.New("the dead-letter topic does not exist")

// Check looks for the topic, and creates it if the configuration says so. It
// returns ErrMissing where it is known to be missing, and another error where
// nothing could be found out.
func (t *Topic) Check(ctx context.Context) error {
	admin := kadm.NewClient(t.client)
	topics, err := admin.ListTopics(ctx, t.config.Topic)
	if err != nil {
		return fmt.Errorf("looking for the dead-letter topic %s: %w", t.config.Topic, err)
	}
	d := topics[t.config.Topic]
	switch {
	case d.Err == nil && len(d.Partitions) > 0:
		return nil
	case d.Err != nil && !errors.Is(d.Err, kerr.UnknownTopicOrPartition):
		return fmt.Errorf("looking for the dead-letter topic %s: %w", t.config.Topic, d.Err)
	case !t.config.Create:
		return fmt.Errorf("dead_letter.topic: %w: create %s, or set dead_letter.create: true", ErrMissing, t.config.Topic)
	}
	r, err := admin.CreateTopic(ctx, int32(t.config.Partitions), int16(t.config.ReplicationFactor), nil, t.config.Topic)
	if err == nil {
		err = r.Err
	}
	if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
		return fmt.Errorf("creating the dead-letter topic %s: %w", t.config.Topic, err)
	}
	return nil
}

// Write implements pipeline.DeadLetters: all letters go out together.
func (t *Topic) Write(ctx context.Context, letters []pipeline.DeadLetter) []error {
	ctx, cancel := context.WithTimeout(ctx, deliveryTimeout)
	defer cancel()
	records := make([]*kgo.Record, len(letters))
	for i := range letters {
		records[i] = encode(&letters[i])
	}
	// ProduceSync gives results in the order of completion: each finds its letter by its record.
	place := make(map[*kgo.Record]int, len(records))
	for i, r := range records {
		place[r] = i
	}
	var errs []error
	for _, r := range t.client.ProduceSync(ctx, records...) {
		if r.Err == nil {
			continue
		}
		if errs == nil {
			errs = make([]error, len(letters))
		}
		errs[place[r.Record]] = t.explain(r.Err)
	}
	return errs
}

func (t *Topic) explain(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("topic %s: no acknowledgement within %s: %w", t.config.Topic, deliveryTimeout, err)
	case errors.Is(err, kerr.MessageTooLarge):
		return fmt.Errorf("a dead letter is larger than topic %s takes: raise the topic's max.message.bytes and dead_letter.max_message_bytes (now %s): %w", t.config.Topic, t.config.MaxMessageBytes, err)
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return fmt.Errorf("dead-letter topic %s does not exist: create it: %w", t.config.Topic, err)
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return fmt.Errorf("the brokers refuse writes to dead-letter topic %s: allow Write and Describe: %w", t.config.Topic, err)
	}
	return fmt.Errorf("topic %s: %w", t.config.Topic, err)
}

// Close implements pipeline.DeadLetters.
func (t *Topic) Close(context.Context) error {
	t.client.Close()
	return nil
}

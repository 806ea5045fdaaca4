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
		// A retry waits for fresh metadata, by default for 5 seconds.
		kgo.MetadataMinAge(250 * time.Millisecond),
		// A restarting broker behind a proxy closes connections at once: see sources/kafka.
		kgo.AlwaysRetryEOF(),
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

// Write implements pipeline.DeadLetters: all letters go out together. A batch
// that the broker finds too large is made of letters that may each be small
// enough, so they are tried one by one.
func (t *Topic) Write(ctx context.Context, letters []pipeline.DeadLetter) []error {
	records := make([]*kgo.Record, len(letters))
	for i := range letters {
		records[i] = encode(&letters[i])
	}
	errs := t.produce(ctx, records)
	if len(records) > 1 {
		for i, err := range errs {
			if errors.Is(err, kerr.MessageTooLarge) {
				errs[i] = nil
				if again := t.produce(ctx, []*kgo.Record{encode(&letters[i])}); again != nil {
					errs[i] = again[0]
				}
			}
		}
	}
	failed := false
	for i, err := range errs {
		if err != nil {
			failed = true
			errs[i] = t.explain(err)
		}
	}
	if !failed {
		return nil
	}
	return errs
}

// produce sends records and waits until each is acknowledged or has failed, or
// ctx ends: the client may be in a pause then, and gives its records up later.
// The result has one error a record; it is nil if there is none.
func (t *Topic) produce(ctx context.Context, records []*kgo.Record) []error {
	ctx, cancel := context.WithTimeout(ctx, deliveryTimeout)
	defer cancel()
	type result struct {
		place int
		err   error
	}
	results := make(chan result, len(records)) // so that late promises find room
	for i, r := range records {
		t.client.Produce(ctx, r, func(_ *kgo.Record, err error) { results <- result{i, err} })
	}
	var errs []error
	fail := func(place int, err error) {
		if errs == nil {
			errs = make([]error, len(records))
		}
		errs[place] = err
	}
	done := make([]bool, len(records))
	for range records {
		select {
		case r := <-results:
			done[r.place] = true
			if r.err != nil {
				fail(r.place, r.err)
			}
		case <-ctx.Done():
			for i := range done {
				if !done[i] {
					fail(i, ctx.Err())
				}
			}
			return errs
		}
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

package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Options of a fill.
type Options struct {
	Brokers     []string
	Topic       string
	Kind        Kind
	Documents   int64
	Partitions  int
	Seed        uint64
	Compression string // lz4, zstd or none
	// Out gets a progress bar if Terminal, and one line at the end.
	Out      io.Writer
	Terminal bool
}

// Validate reports every option that cannot work.
func (o Options) Validate() error {
	var errs []error
	if o.Topic == "" {
		errs = append(errs, errors.New("-topic must name the topic to fill"))
	}
	if o.Documents < 1 {
		errs = append(errs, errors.New("-documents must be at least 1"))
	}
	if o.Partitions < 1 || o.Partitions > 10_000 {
		errs = append(errs, errors.New("-partitions must be from 1 to 10000"))
	}
	if _, err := codec(o.Compression); err != nil {
		errs = append(errs, err)
	}
	if _, err := NewMaker(o.Kind, o.Seed); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func codec(name string) (kgo.CompressionCodec, error) {
	switch name {
	case "lz4":
		return kgo.Lz4Compression(), nil
	case "zstd":
		return kgo.ZstdCompression(), nil
	case "none":
		return kgo.NoCompression(), nil
	}
	return kgo.NoCompression(), fmt.Errorf("-compression must be lz4, zstd or none, not %q", name)
}

// Fill makes the topic and sends the documents to its partitions in turn. A
// topic that has as many already is left alone; one with another number of
// records is refused, since measurements of it could not be repeated.
func Fill(ctx context.Context, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	compression, err := codec(o.Compression)
	if err != nil {
		return err
	}
	client, err := Connect(ctx, o.Brokers,
		kgo.ProducerBatchCompression(compression),
		kgo.RecordPartitioner(kgo.RoundRobinPartitioner()),
		kgo.ProducerLinger(10*time.Millisecond),
		kgo.MaxBufferedBytes(64<<20),
		kgo.MaxBufferedRecords(200_000),
	)
	if err != nil {
		return err
	}
	defer client.Close()

	partitions, records, err := Size(ctx, client, o.Topic)
	switch {
	case errors.Is(err, ErrNoTopic):
		if err := create(ctx, client, o.Topic, o.Partitions); err != nil {
			return err
		}
	case err != nil:
		return err
	case partitions == o.Partitions && records == o.Documents:
		fmt.Fprintf(o.Out, "topic %s has its %d documents in %d partitions already\n", o.Topic, records, partitions)
		return nil
	default:
		return fmt.Errorf("topic %q exists, with %d records in %d partitions: choose another name, or delete it first (kafka-topics.sh --delete --topic %s)",
			o.Topic, records, partitions, o.Topic)
	}
	return send(ctx, client, o)
}

// send produces the documents and waits until all are acknowledged.
func send(ctx context.Context, client *kgo.Client, o Options) error {
	m, err := NewMaker(o.Kind, o.Seed)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	bar := newProgress(o.Out, o.Terminal, o.Documents)
	var once sync.Once
	delivered := func(_ *kgo.Record, err error) {
		if err != nil {
			once.Do(func() { cancel(fmt.Errorf("sending to topic %q: %w", o.Topic, err)) })
		}
	}
	started := time.Now()
	var bytes int64
	for i := range o.Documents {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		value := m.Next()
		bytes += int64(len(value))
		client.Produce(ctx, &kgo.Record{Topic: o.Topic, Value: value, Timestamp: time.UnixMilli(epoch + i)}, delivered)
		bar.show(i + 1)
	}
	if err := client.Flush(ctx); err != nil {
		return context.Cause(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	bar.end()
	fmt.Fprintf(o.Out, "topic %s: %d %s documents of %d bytes on average in %d partitions, %s, sent in %s\n",
		o.Topic, o.Documents, o.Kind, bytes/o.Documents, o.Partitions, o.Compression, time.Since(started).Round(100*time.Millisecond))
	return nil
}

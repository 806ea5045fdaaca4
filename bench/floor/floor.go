// Package floor is the bare loop that Penstock is compared with: fetch, append
// an action and the document, POST. It checks nothing, reads no verdicts,
// retries nothing and commits nothing: about the least that a Go program can do.
package floor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Options of the loop.
type Options struct {
	Brokers []string
	Topic   string
	Group   string
	// URL is the search server's address; user:password@ in it is sent.
	URL   string
	Index string
	// Op is the bulk action, create or index.
	Op string
	// Size is that of a request's body in bytes, Concurrency the number of
	// requests in flight.
	Size        int
	Concurrency int
	// Documents to stop after; 0 for never.
	Documents int64
}

// Validate reports every option that cannot work.
func (o Options) Validate() error {
	var errs []error
	if u, err := url.Parse(o.URL); err != nil || u.Host == "" {
		errs = append(errs, errors.New("-url must be the address of a search server, such as http://127.0.0.1:9200"))
	}
	if o.Topic == "" || o.Index == "" {
		errs = append(errs, errors.New("-topic and -index must be given"))
	}
	if o.Op != "create" && o.Op != "index" {
		errs = append(errs, errors.New("-op must be create or index"))
	}
	if o.Size < 1<<10 || o.Concurrency < 1 || o.Documents < 0 {
		errs = append(errs, errors.New("-size must be at least 1024 bytes, -concurrency at least 1, -documents 0 or more"))
	}
	return errors.Join(errs...)
}

// maxFetch and maxPartitionFetch are generous: the bare loop bounds no memory.
const (
	maxFetch          = 64 << 20
	maxPartitionFetch = 8 << 20
	// idle is how long no records come before an incomplete body is sent.
	idle = 100 * time.Millisecond
)

// Run loops until ctx ends, which is no error, or Documents have been sent.
func Run(ctx context.Context, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(o.Brokers...), kgo.ConsumeTopics(o.Topic), kgo.ConsumerGroup(o.Group), kgo.DisableAutoCommit(),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxBytes(maxFetch), kgo.FetchMaxPartitionBytes(maxPartitionFetch),
	)
	if err != nil {
		return fmt.Errorf("making a Kafka client for %v: %w", o.Brokers, err)
	}
	defer client.Close()
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l := newLoop(o)
	defer l.http.CloseIdleConnections()
	var posting sync.WaitGroup
	for range o.Concurrency {
		posting.Go(func() {
			if err := l.post(running); err != nil {
				stop(err)
			}
		})
	}
	err = l.fetch(running, client)
	close(l.full)
	posting.Wait()
	switch {
	case ctx.Err() != nil:
		return nil
	case running.Err() != nil:
		return context.Cause(running)
	}
	return err
}

// loop is one goroutine that fills bodies, and some that post them.
type loop struct {
	options Options
	http    *http.Client
	action  []byte
	full    chan []byte
	free    chan []byte
	body    []byte
	sent    int64
}

func newLoop(o Options) *loop {
	return &loop{
		options: o,
		// One connection a poster, or each request would open a new one.
		http:   &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.Concurrency}},
		action: []byte(`{"` + o.Op + `":{"_id":"` + o.Topic + `-`),
		full:   make(chan []byte, o.Concurrency),
		free:   make(chan []byte, 2*o.Concurrency+2),
	}
}

// fetch fills bodies until there are enough documents.
func (l *loop) fetch(ctx context.Context, client *kgo.Client) error {
	var failed error
	for {
		poll, cancel := context.WithTimeout(ctx, idle)
		fetches := client.PollFetches(poll)
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fetches.EachError(func(topic string, partition int32, err error) {
			if !errors.Is(err, context.DeadlineExceeded) {
				failed = fmt.Errorf("fetching partition %d of topic %q: %w", partition, topic, err)
			}
		})
		if failed != nil {
			return failed
		}
		records := 0
		for it := fetches.RecordIter(); !it.Done(); records++ {
			l.append(it.Next())
			if len(l.body) >= l.options.Size {
				if err := l.hand(ctx); err != nil {
					return err
				}
			}
			if l.sent++; l.sent == l.options.Documents {
				return l.hand(ctx)
			}
		}
		if records == 0 {
			if err := l.hand(ctx); err != nil {
				return err
			}
		}
	}
}

// append puts one document into the body.
func (l *loop) append(r *kgo.Record) {
	b := append(l.body, l.action...)
	b = strconv.AppendInt(b, int64(r.Partition), 10)
	b = append(b, '-')
	b = strconv.AppendInt(b, r.Offset, 10)
	b = append(b, "\"}}\n"...)
	b = append(b, r.Value...)
	l.body = append(b, '\n')
}

// hand gives the body to those who post, if there is anything in it.
func (l *loop) hand(ctx context.Context) error {
	if len(l.body) == 0 {
		return nil
	}
	select {
	case l.full <- l.body:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case l.body = <-l.free:
	default:
		l.body = make([]byte, 0, l.options.Size+l.options.Size/4)
	}
	return nil
}

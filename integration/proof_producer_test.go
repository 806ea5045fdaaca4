package integration

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// producer writes log lines while the proof goes on, never further ahead than
// it is allowed, so that there is work at every fault and after it.
type producer struct {
	t     testing.TB
	ended chan struct{}

	mu      sync.Mutex
	allowed int
	more    chan struct{} // closed when allowed has grown
	err     error
}

// newProducer starts to write as many of the lines as will be allowed.
func newProducer(t testing.TB, b *broker, lines *logLines, records int) *producer {
	p := &producer{t: t, ended: make(chan struct{}), more: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		<-p.ended
	})
	go func() {
		defer close(p.ended)
		p.run(ctx, b.client, lines, records)
	}()
	return p
}

func (p *producer) run(ctx context.Context, client *kgo.Client, lines *logLines, records int) {
	for n := range records {
		if !p.await(ctx, n) {
			return
		}
		r, _ := lines.line()
		planned := r.Offset
		client.Produce(ctx, r, func(r *kgo.Record, err error) {
			if err == nil && r.Offset != planned {
				err = fmt.Errorf("partition %d: the broker put a record at offset %d, which should be at %d", r.Partition, r.Offset, planned)
			}
			p.fail(err)
		})
	}
	p.fail(client.Flush(ctx))
}

// await waits until record n may be written.
func (p *producer) await(ctx context.Context, n int) bool {
	for {
		p.mu.Lock()
		allowed, failed, more := n < p.allowed, p.err != nil, p.more
		p.mu.Unlock()
		switch {
		case failed:
			return false
		case allowed:
			return true
		}
		select {
		case <-more:
		case <-ctx.Done():
			return false
		}
	}
}

func (p *producer) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

// allow lets it write up to that many lines in all.
func (p *producer) allow(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allowed = max(p.allowed, n)
	close(p.more)
	p.more = make(chan struct{})
}

// wait waits until all lines are written.
func (p *producer) wait() {
	p.t.Helper()
	within(p.t, 2*patience, "all log lines to be written", func() error {
		if err := p.failed(); err != nil {
			return err
		}
		select {
		case <-p.ended:
			return nil
		default:
			return errors.New("the producer is at work")
		}
	})
}

// failed is an error if not all lines can be written.
func (p *producer) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return fmt.Errorf("%w: writing log lines: %w", errStopped, p.err)
	}
	return nil
}

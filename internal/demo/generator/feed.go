package generator

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Feed sends a generator's records to Kafka at a steady rate.
type Feed struct {
	Generator *Generator
	// Client produces; its buffer bounds what waits for the broker.
	Client *kgo.Client
	// Rate is in records per second.
	Rate int
	// Hold tells whether to wait, because the broker holds enough; nil never.
	Hold func() bool

	counts feedCounts
}

type feedCounts struct {
	acknowledged, bad, failed atomic.Int64
	waiting                   atomic.Bool
}

// Stats are the counts of a Feed, in records.
type Stats struct {
	// Acknowledged by the broker, with the bad ones.
	Acknowledged int64
	// Bad is the part of Acknowledged that cannot be stored.
	Bad int64
	// Failed could not be produced.
	Failed int64
	// Waiting tells that Hold keeps the feed from sending.
	Waiting bool
}

// Stats may be called while the feed runs.
func (f *Feed) Stats() Stats {
	c := &f.counts
	return Stats{c.acknowledged.Load(), c.bad.Load(), c.failed.Load(), c.waiting.Load()}
}

// tick is how often records are sent; a rate is kept as an average over some
// of them, and what was missed while holding is not made up for.
const tick = 50 * time.Millisecond

// flushTime is how long the end waits for the broker's acknowledgements.
const flushTime = 5 * time.Second

// Run sends until ctx ends, then waits for the acknowledgements.
func (f *Feed) Run(ctx context.Context) error {
	// What was handed to the client is to arrive: the client would drop it with ctx.
	sendCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(flushTime, cancel) })
	defer stop()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	last, due := time.Now(), 0.0
	for {
		select {
		case <-ctx.Done():
			return f.flush(sendCtx)
		case now := <-ticker.C:
			due = min(due+now.Sub(last).Seconds()*float64(f.Rate), float64(f.Rate)/2+1)
			last = now
			hold := f.Hold != nil && f.Hold()
			f.counts.waiting.Store(hold)
			if hold {
				due = 0
			}
			for ; due >= 1 && ctx.Err() == nil; due-- {
				f.send(sendCtx, f.Generator.Next(now))
			}
		}
	}
}

func (f *Feed) send(ctx context.Context, r Record) {
	f.Client.Produce(ctx, &kgo.Record{Topic: r.Topic, Key: r.Key, Value: r.Value, Timestamp: r.Time}, func(_ *kgo.Record, err error) {
		if err != nil {
			f.counts.failed.Add(1)
			return
		}
		f.counts.acknowledged.Add(1)
		if r.Bad != Good {
			f.counts.bad.Add(1)
		}
	})
}

func (f *Feed) flush(ctx context.Context) error {
	f.counts.waiting.Store(false)
	if err := f.Client.Flush(ctx); err != nil {
		return fmt.Errorf("waiting for the broker's acknowledgements: %w", err)
	}
	return nil
}

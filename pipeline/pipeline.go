// Package pipeline moves records from a source to a sink: it gathers documents
// into requests, retries what can be retried, sets aside what cannot be stored,
// and knows for each partition how far everything is final. It knows neither
// Kafka nor HTTP.
package pipeline

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Config is what the pipeline takes of the configuration.
type Config struct {
	Decode    string
	Documents DocumentsConfig
	Batch     BatchConfig
	Memory    MemoryConfig
	Delivery  DeliveryConfig
}

// DefaultConfig has the defaults of every part.
func DefaultConfig() Config {
	return Config{
		Decode:    DecodeJSON,
		Documents: DefaultDocumentsConfig(),
		Batch:     DefaultBatchConfig(),
		Memory:    DefaultMemoryConfig(),
		Delivery:  DefaultDeliveryConfig(),
	}
}

// Options are what a pipeline is made of.
type Options struct {
	Config Config
	Sink   Sink
	// Letters keeps refused records; nil where none may be set aside: then such
	// a record holds its partition.
	Letters  DeadLetters
	Logger   *zap.Logger
	Registry prometheus.Registerer
}

// Pipeline moves records from one source to one sink. Make it by New, give it
// to the source as its Partitions, then call Run once.
type Pipeline struct {
	config         Config
	sink           Sink
	letters        DeadLetters
	log            *zap.Logger
	limited        *zap.Logger // at most one line a second per message
	metrics        *Metrics
	decoder        decoder
	backoff        backoff
	age            time.Duration
	maxDocuments   int
	systematicFrom int

	memory           *memory
	memoryLimit      int64
	destinationShare int64
	pool             *batchPool
	limiter          *limiter
	gate             *gate
	graveyard        *graveyard

	// hard ends when the grace period is over.
	hard       context.Context //nolint:containedctx // it is the pipeline's own life
	cancelHard context.CancelFunc
	work       sync.WaitGroup
	queued     atomic.Int64 // batches that wait for their turn to be sent
	bodyLimit  bodyLimit
	// everything stands for all destinations: many small ones that refuse alike
	// are no less systematic than one.
	everything *destination
	succeeded  atomic.Int64 // requests that succeeded
	probes     atomic.Int64
	beat       atomic.Int64 // when the loop last went round, Unix nanoseconds
	starved    atomic.Bool  // the loop waits for memory
	stopping   atomic.Bool
	sourceHold atomic.Pointer[Hold]

	// mu guards what the loop works on: it is held while one chunk is
	// dispatched, never over a network call.
	mu           sync.Mutex
	record       Record
	shared       lane
	touched      []*lane
	destinations map[string]*destination
	last         *destination
	pending      []*cursor

	live liveBatches
	book book
}

// The parts of the memory limit: fetch buffers get a quarter, kept and growing
// request bodies and their compressed form an eighth, records in flight with
// their encoded copies the rest.
const (
	fetchPart = 4
	sparePart = 8
)

// FetchBudget is the part of the memory limit that the source's fetch buffers
// may take, in bytes after decompression.
func (p *Pipeline) FetchBudget() int64 { return p.memoryLimit / fetchPart }

// MemoryLimit is the limit in force, in bytes.
func (p *Pipeline) MemoryLimit() int64 { return p.memoryLimit }

// New makes a pipeline. The configuration must have been validated.
func New(o Options) *Pipeline {
	c := o.Config
	limit, from := c.Memory.Effective()
	records := int64(limit) - int64(limit)/fetchPart - int64(limit)/sparePart
	// A request takes its place among others: at least four fit.
	body := min(int64(c.Batch.Bytes), int64(limit)/16)
	hard, cancel := context.WithCancel(context.Background())
	b := backoff{c.Delivery.Backoff.Min, c.Delivery.Backoff.Max}
	p := &Pipeline{
		config: c, sink: o.Sink, letters: o.Letters, log: o.Logger,
		limited: o.Logger.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
			return zapcore.NewSamplerWithOptions(core, time.Second, 1, 0)
		})),
		decoder:        decoder{text: c.Decode == DecodeText, config: c.Documents},
		backoff:        b,
		age:            c.Batch.Age,
		maxDocuments:   c.Batch.Documents,
		systematicFrom: c.Delivery.SystematicFrom,
		memory:         newMemory(records),
		memoryLimit:    int64(limit),
		pool:           newBatchPool(pooledBodies, int(body)+int(body)/4),
		limiter:        newLimiter(c.Delivery.Concurrency, len(o.Sink.Nodes())),
		gate:           newGate(b),
		hard:           hard, cancelHard: cancel,
		destinations: map[string]*destination{},
		everything:   &destination{refused: map[string]int{}},
	}
	p.destinationShare = records / 4
	p.bodyLimit.init(body)
	p.live.batches = map[*watch]struct{}{}
	p.book.partitions = map[partition]*partitionBook{}
	p.metrics = newMetrics(o.Registry, p)
	p.graveyard = newGraveyard(o.Letters, b, p.metrics, p.limited)
	p.beat.Store(time.Now().UnixNano())
	p.log.Info("memory limit", zap.Stringer("limit", limit), zap.String("from", from))
	return p
}

// pooledBodies is how many request bodies are kept for reuse: enough for one
// that fills, two on the wire and one between.
const pooledBodies = 4

// SetMemoryLimit makes the garbage collector heed the limit: it works harder
// when the process nears a quarter over it, which leaves room for the program itself.
func SetMemoryLimit(limit int64) { debug.SetMemoryLimit(limit + limit/4) }

// ErrUnfinished is returned by Run when it had to leave records undone: they
// are not committed and will be read again.
var ErrUnfinished = errors.New("stopped before everything in flight was final; what is not committed will be read again")

// ErrUncommitted is returned by Run when all that it took is final, and the last
// commit or leaving the source failed.
var ErrUncommitted = errors.New("everything in flight is final, but the source could not be closed in good order; what is not committed will be read again, and found to be stored")

// Run moves records until ctx ends or the source is done, then drains within
// the grace period, commits, and closes the source. It returns nil if nothing
// that was fetched is left undone, ErrUnfinished if something is,
// ErrUncommitted if the last commit failed, or the source's failure. It does not close sink or letters.
func (p *Pipeline) Run(ctx context.Context, source Source) error {
	defer p.cancelHard()
	buried := make(chan struct{})
	go func() {
		defer close(buried)
		p.graveyard.run(p.hard)
	}()
	committed := make(chan struct{})
	commits, stopCommits := context.WithCancel(p.hard)
	go func() {
		defer close(committed)
		p.commitLoop(commits, source)
	}()

	err := p.loop(ctx, source)
	done := errors.Is(err, ErrDone)
	if done || ctx.Err() != nil {
		err = nil
	}
	p.stopping.Store(true)
	deadline := time.Now().Add(p.config.Delivery.ShutdownGrace)
	drained := p.drain(time.Until(deadline) * 3 / 4)
	p.cancelHard()
	p.work.Wait()
	stopCommits()
	<-committed
	<-buried

	closing, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	if cerr := source.Close(closing); cerr != nil {
		p.log.Error("closing source", zap.Error(cerr))
		if err == nil && drained {
			err = ErrUncommitted
		}
	}
	p.book.endAll()
	p.logLedger()
	if err == nil && !drained {
		err = ErrUnfinished
	}
	return err
}

// drain sends what is gathered and waits until all of it is final.
func (p *Pipeline) drain(within time.Duration) bool {
	ctx, cancel := context.WithTimeout(p.hard, within)
	defer cancel()
	p.mu.Lock()
	p.dropPending(func(*Assignment) bool { return true })
	p.flushAll(closedDrain)
	p.mu.Unlock()
	for _, a := range p.book.live() {
		select {
		case <-a.rest():
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func (p *Pipeline) commitLoop(ctx context.Context, source Source) {
	t := time.NewTicker(p.config.Delivery.CommitInterval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if err := source.Commit(ctx); err != nil && ctx.Err() == nil {
				p.limited.Warn("committing offsets failed: trying again", zap.Error(err))
			}
		case <-ctx.Done():
			return
		}
	}
}

func (p *Pipeline) logLedger() {
	total := p.book.total()
	p.log.Info("ledger", zap.Int64("fetched", total.Fetched), zap.Int64("stored", total.Stored),
		zap.Int64("duplicate", total.Duplicate), zap.Int64("dead_lettered", total.DeadLettered),
		zap.Int64("skipped", total.Skipped), zap.Int64("abandoned", total.Abandoned),
		zap.Int64("in_flight", total.InFlight), zap.Bool("balanced", total.Balanced()))
}

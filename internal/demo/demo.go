// Package demo runs Penstock's main job with everything embedded: a made-up
// log stream, a Kafka broker and a search server, all in this process, in
// memory, on loopback. The pipeline itself is not embedded: who starts the
// demo gives the very one that the run command uses.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"penstock/internal/demo/view"
)

// Options of Run.
type Options struct {
	// Out is where everything is shown.
	Out io.Writer
	// Terminal tells that Out is a terminal that can redraw in place; else
	// there is one line a second and no escape code.
	Terminal bool
	// Colour allows colours at a terminal.
	Colour bool
	// Size gives the terminal's width and height in characters; nil is 80 x 24.
	Size func() (width, height int)
	// Fail makes the search server misbehave on a schedule, and 0.5 % of the
	// records bad.
	Fail bool
	// Duration after which the demo ends; 0 is when ctx ends.
	Duration time.Duration
	// Rate is how many records a second are made up; 0 is DefaultRate.
	Rate int
	// Seed of what is made up.
	Seed uint64
	// Grace is how long the end waits for everything that was sent to be
	// stored, and then for the pipeline to stop; 0 is 20 s.
	Grace time.Duration
	// Start starts the pipeline.
	Start func(ctx context.Context, t Target) (Running, error)
}

// DefaultRate is comfortable for one core, in records a second.
const DefaultRate = 2000

// Target is what the pipeline is to be pointed at.
type Target struct {
	// Brokers of the embedded Kafka.
	Brokers []string
	// SearchURL of the embedded search server.
	SearchURL string
	// Topics to read, from the start.
	Topics []string
	// Group to read them in; the demo follows its commits.
	Group string
	// Index is the template for sink.elasticsearch.index.
	Index string
	// DeadLetterTopic exists.
	DeadLetterTopic string
}

// Running is a pipeline that was started.
type Running interface {
	// Snapshot may be called at any time and returns at once.
	Snapshot() view.Snapshot
	// Done is closed when the pipeline has ended, by Stop or by itself.
	Done() <-chan struct{}
	// Stop drains, commits and leaves the group, as SIGTERM does, and gives the
	// pipeline's error; also after it has ended by itself.
	Stop(ctx context.Context) error
}

// The fixed names of the demo.
const (
	group      = "penstock-demo"
	deadLetter = "logs-dead"
	partitions = 3
)

// badShare of the records with Options.Fail.
const badShare = 0.005

// maxBacklog is how many records may wait to be stored before the generator
// waits too: a pipeline that is slower or held costs no more memory than they
// take, and can still be drained within the grace period.
const maxBacklog = 50_000

// searchable is how many documents the index keeps whole.
const searchable = 100_000

// ErrUnaccounted is Run's error when what was sent, the ledger and the index
// do not agree at the end.
var ErrUnaccounted = errors.New("the demo's records are not all accounted for")

func (o *Options) defaults() error {
	if o.Start == nil || o.Out == nil {
		return errors.New("demo: Out and Start have to be given")
	}
	if o.Rate < 0 || o.Rate > 1_000_000 {
		return fmt.Errorf("--rate %d: write records per second, from 1 to 1000000", o.Rate)
	}
	if o.Duration < 0 {
		return fmt.Errorf("--duration %s: write how long the demo is to last, such as 30s, or 0s for until Ctrl-C", o.Duration)
	}
	if o.Rate == 0 {
		o.Rate = DefaultRate
	}
	if o.Grace == 0 {
		o.Grace = 20 * time.Second
	}
	if o.Size == nil {
		o.Size = func() (int, int) { return 80, 24 }
	}
	return nil
}

// Run runs the demo until ctx or its duration ends, then drains, checks that
// everything is accounted for, and shows what was done. A ctx that ends is no
// error.
func Run(ctx context.Context, o Options) error {
	if err := o.defaults(); err != nil {
		return err
	}
	e, err := start(o)
	if err != nil {
		return err
	}
	defer e.close()
	e.banner()

	// The pipeline outlives ctx: it is drained, not cut off.
	pipelineCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	running, err := o.Start(pipelineCtx, e.target)
	if err != nil {
		return fmt.Errorf("starting the pipeline: %w", err)
	}
	e.running = running
	playErr := e.play(ctx)

	stopCtx, cancelStop := context.WithTimeout(pipelineCtx, o.Grace)
	defer cancelStop()
	stopErr := running.Stop(stopCtx)
	if err := errors.Join(playErr, stopErr); err != nil {
		return fmt.Errorf("running the demo: %w", err)
	}
	return e.report(stopCtx)
}

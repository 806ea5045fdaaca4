package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"golang.org/x/term"

	"penstock/internal/demo"
	"penstock/internal/demo/view"
	"penstock/sinks/elasticsearch"
)

func (a *app) demoCommand() *cobra.Command {
	var o demo.Options
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show the main job working with everything embedded: no Kafka, no Elasticsearch",
		Long: "In one process: a generator that makes up a log stream, an embedded Kafka broker, the very pipeline that \"run\" uses,\n" +
			"and an embedded search server, all in memory and on loopback. Ctrl-C drains, asks the index a question and prints the\n" +
			"ledger. With --fail the search server misbehaves on a schedule: watch holds, retries and dead letters.",
		Example: "  penstock demo\n  penstock demo --fail --duration 1m",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Rate == 0 {
				return &usageError{command: c.CommandPath(), err: errors.New("--rate 0: write records per second, from 1 to 1000000")}
			}
			ctx, stop := untilSignal(c.Context(), zap.NewNop())
			defer stop()
			o.Out = a.stdout
			if f, ok := a.stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
				o.Terminal, o.Colour = true, os.Getenv("NO_COLOR") == ""
				o.Size = func() (int, int) {
					w, h, err := term.GetSize(int(f.Fd()))
					if err != nil {
						return 80, 24
					}
					return w, h
				}
			}
			o.Start = startDemo
			return demo.Run(ctx, o)
		},
	}
	c.Flags().BoolVar(&o.Fail, "fail", false, "make the search server misbehave on a schedule, and 0.5 % of the records bad")
	c.Flags().DurationVar(&o.Duration, "duration", 0, "end by itself after this long, such as 30s (default: until Ctrl-C)")
	c.Flags().IntVar(&o.Rate, "rate", demo.DefaultRate, "records a second to make up")
	c.Flags().Uint64Var(&o.Seed, "seed", 1, "seed of what is made up")
	return c
}

// demoConfig is the production defaults pointed at the embedded servers, with
// waits that suit somebody who watches.
func demoConfig(t demo.Target) (Config, error) {
	c := DefaultConfig()
	c.Source.Kafka.Brokers, c.Source.Kafka.Topics, c.Source.Kafka.Group = t.Brokers, t.Topics, t.Group
	c.Sink.Elasticsearch.URLs, c.Sink.Elasticsearch.Index = elasticsearch.NewURLs(t.SearchURL), t.Index
	c.DeadLetter.Topic = t.DeadLetterTopic
	c.Delivery.Backoff.Max = 2 * time.Second
	c.Batch.Age = 250 * time.Millisecond
	c.HTTP.Listen = "127.0.0.1:0"
	return c, c.Validate()
}

// demoRun is the service while the demo watches it.
type demoRun struct {
	service *service
	cancel  context.CancelFunc
	done    chan struct{}
	err     error
}

func startDemo(ctx context.Context, t demo.Target) (demo.Running, error) {
	config, err := demoConfig(t)
	if err != nil {
		return nil, err
	}
	s, err := newService(ctx, config, zap.NewNop())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &demoRun{service: s, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		defer s.close()
		r.err = s.run(ctx)
	}()
	return r, nil
}

// Snapshot implements demo.Running.
func (r *demoRun) Snapshot() view.Snapshot {
	s := r.service.pipeline.Status()
	return view.FromStatus(s, s.Retried)
}

// Done implements demo.Running.
func (r *demoRun) Done() <-chan struct{} { return r.done }

// Stop implements demo.Running.
func (r *demoRun) Stop(ctx context.Context) error {
	r.cancel()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return fmt.Errorf("stopping the pipeline: %w", ctx.Err())
	}
}

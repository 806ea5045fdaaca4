package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"penstock/bench/load"
	"penstock/bench/procs"
)

const (
	// interval is how often a sink is asked how far it is: small beside a run that
	// is long enough to say something.
	interval = 50 * time.Millisecond
	// patience is how long nothing may arrive before a run counts as failed.
	patience = time.Minute
	// grace is how long a program may take to end.
	grace = 25 * time.Second
)

// run runs one program, as a new consumer group, until all documents have
// arrived. What it used is read at that moment, so that its shutdown is not
// measured, nor what it fetches beyond them.
func (c *comparison) run(ctx context.Context, title string, start func(group, index string) (*procs.Child, error)) (r Run, err error) {
	c.runs++
	group := fmt.Sprintf("speed-%d-%d", os.Getpid(), c.runs)
	index, err := c.sink.prepare(ctx, c.documents)
	if err != nil {
		return r, err
	}
	before, err := c.sink.used(ctx)
	if err != nil {
		return r, err
	}
	child, err := start(group, index)
	if err != nil {
		return r, err
	}
	documents, rate, err := c.wait(ctx, child)
	used, usageErr := child.Usage()
	after, sinkErr := c.sink.used(ctx)
	child.Stop(grace)
	load.Forget(context.WithoutCancel(ctx), c.client, group)
	if verifyErr := c.sink.verify(ctx, c.documents); err == nil {
		err = verifyErr
	}
	if err == nil {
		err = errors.Join(usageErr, sinkErr)
	}
	if err != nil {
		return r, err
	}
	millions := float64(documents) / 1e6
	r = Run{Rate: rate, CPU: used.CPU.Seconds() / millions, Peak: used.Peak, SinkCPU: (after - before).Seconds() / millions}
	fmt.Fprintf(c.options.Progress, "%s: %s documents/s, %.3f CPU s per million, %d MiB; the sink %.3f CPU s per million\n", title, thousands(int64(r.Rate)), r.CPU, r.Peak>>20, r.SinkCPU)
	return r, nil
}

// wait waits until all documents have arrived, and gives how many have by then,
// and their rate. It is an error if the program ends before, or stands still.
func (c *comparison) wait(ctx context.Context, child *procs.Child) (int64, float64, error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var seen int64
	since, ended := time.Now(), child.Done()
	for {
		over := false
		select {
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		case <-ended:
			// What it sent last may have arrived since the sink was asked.
			over, ended = true, nil
		case <-c.sink.reached():
		case <-ticker.C:
		}
		documents, rate, err := c.sink.arrived(ctx)
		switch {
		case err != nil:
			return 0, 0, err
		case documents >= c.documents:
			return documents, rate, nil
		case over:
			return 0, 0, child.Failure(fmt.Sprintf("ended after %d of %d documents", documents, c.documents))
		case documents > seen:
			seen, since = documents, time.Now()
		case time.Since(since) > patience:
			return 0, 0, child.Failure(fmt.Sprintf("sent nothing for %s, after %d of %d documents", patience, documents, c.documents))
		}
	}
}

package demo

import (
	"context"
	"time"

	"penstock/internal/demo/search"
)

// step is one scripted misbehaviour of the search server.
type step struct {
	what  string
	lasts time.Duration
	fault *search.Fault
	// index and block are set instead of a fault for what real servers do to
	// an index, and keep.
	index, block string
}

// calm is the time before each step.
const calm = 5 * time.Second

// script is what --fail plays, over and over.
var script = []step{
	{
		what: "rejects 3 of 10 documents, too busy (429 on items)", lasts: 4 * time.Second,
		fault: &search.Fault{
			ItemStatus: 429, ItemShare: 0.3, Type: "es_rejected_execution_exception",
			Reason: "rejected execution of primary operation: coordinating_and_primary_bytes are over the limit",
		},
	},
	{
		what: "answers 503 to everything", lasts: 4 * time.Second,
		fault: &search.Fault{Status: 503, RetryAfter: time.Second, Type: "master_not_discovered_exception", Reason: "no master"},
	},
	{
		what: "is slow (0.8 s for each answer)", lasts: 4 * time.Second,
		fault: &search.Fault{Delay: 800 * time.Millisecond},
	},
	{
		what: "has a full disk: logs-payments takes no writes (429 cluster_block_exception)", lasts: 5 * time.Second,
		index: "logs-payments", block: "read_only_allow_delete",
	},
	{
		what: "has logs-web blocked by an operator (403 cluster_block_exception)", lasts: 4 * time.Second,
		index: "logs-web", block: "write",
	},
	{
		what: "stores, then drops the connection: the answers are lost, sending again finds duplicates", lasts: 2 * time.Second,
		fault: &search.Fault{CutAfter: true},
	},
	{
		what: "cuts every connection", lasts: 4 * time.Second,
		fault: &search.Fault{Cut: true},
	},
}

// misbehave plays the script until ctx ends, then leaves the server well.
func (e *embedded) misbehave(ctx context.Context) {
	for i := 0; ; i++ {
		s := script[i%len(script)]
		if pause(ctx, calm) != nil {
			return
		}
		e.events.fault(time.Since(e.began), "the search server "+s.what)
		e.set(s, true)
		err := pause(ctx, s.lasts)
		e.set(s, false)
		e.events.mended(time.Since(e.began), "the search server is well again")
		if err != nil {
			return
		}
	}
}

func (e *embedded) set(s step, on bool) {
	switch {
	case s.block != "":
		e.search.Block(s.index, s.block, on)
	case on:
		e.search.SetFault(s.fault)
	default:
		e.search.SetFault(nil)
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

package view

import (
	"fmt"
	"strings"
)

// Line draws a frame as one line of plain words for a pipe or a file.
func Line(f Frame) string {
	var b strings.Builder
	lag, age := f.Lag()
	c := f.Ledger
	fmt.Fprintf(&b, "%s in=%.0f/s out=%.0f/s lag=%d lag_seconds=%.1f fetched=%d stored=%d duplicate=%d dead_lettered=%d skipped=%d abandoned=%d in_flight=%d",
		clock(f.Elapsed), f.In, f.Out, lag, age.Seconds(), c.Fetched, c.Stored, c.Duplicate, c.DeadLettered, c.Skipped, c.Abandoned, c.InFlight)
	if f.Retries >= 0 {
		fmt.Fprintf(&b, " retries=%d", f.Retries)
	}
	fmt.Fprintf(&b, " memory_mib=%.1f/%.0f", float64(f.MemoryUsed)/(1<<20), float64(f.MemoryLimit)/(1<<20))
	if f.Source != "" {
		fmt.Fprintf(&b, " source=%q", clean(f.Source))
	}
	if n := f.Held(); n > 0 {
		fmt.Fprintf(&b, " held=%d", n)
		for _, p := range f.Partitions {
			if p.State.Held() { // one stands for all: they are mostly alike
				fmt.Fprintf(&b, " state=%s %s: %s", p.State, name(p), clean(p.Reason))
				break
			}
		}
	}
	return b.String()
}

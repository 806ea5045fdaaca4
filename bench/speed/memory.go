package main

import (
	"context"
	"flag"
	"os"
	"time"

	"golang.org/x/term"

	"penstock/bench/load"
	"penstock/bench/memory"
	"penstock/configs/value"
)

func runMemory(ctx context.Context, flags *flag.FlagSet, args []string) error {
	o := memory.Options{Out: os.Stdout, Progress: os.Stderr, Terminal: term.IsTerminal(int(os.Stderr.Fd()))}
	brokers := brokersFlag(flags)
	flags.TextVar(&o.Limit, "limit", 256*value.MiB, "memory.limit, a `size`")
	flags.DurationVar(&o.For, "for", 30*time.Second, "how long to watch after the first request")
	flags.StringVar(&o.Topic, "topic", "", "measure this `topic` alone; without it three are made and measured")
	penstockFlags(flags, &o.Penstock, &o.Config)
	if err := parse(flags, args); err != nil {
		return err
	}
	o.Brokers = load.Brokers(*brokers)
	return memory.Measure(ctx, o)
}

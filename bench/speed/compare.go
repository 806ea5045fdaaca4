package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"penstock/bench/compare"
	"penstock/bench/load"
)

// penstockFlags say which Penstock is measured.
func penstockFlags(flags *flag.FlagSet, program, config *string) {
	flags.StringVar(program, "penstock", "bin/penstock", "`path` of the program to measure")
	flags.StringVar(config, "config", "", "`file` for it instead of the one under bench/")
}

func runCompare(ctx context.Context, flags *flag.FlagSet, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program, which the bare loop is in: %w", err)
	}
	o := compare.Options{Speed: self, Out: os.Stdout, Progress: os.Stderr}
	brokers := brokersFlag(flags)
	flags.StringVar(&o.Topic, "topic", "planes", "topic that has been filled")
	flags.Int64Var(&o.Documents, "documents", 0, "`number` to wait for in each run; 0 for all of the topic")
	flags.IntVar(&o.Pairs, "pairs", 5, "`number` of pairs of runs")
	flags.BoolVar(&o.WarmUp, "warm-up", true, "run the bare loop once before, unmeasured")
	flags.StringVar(&o.Sink, "sink", compare.Null, "null, or the `address` of a real search server")
	flags.IntVar(&o.Shards, "shards", 2, "real server: `number` of primary shards of the index")
	flags.StringVar(&o.Refresh, "refresh-interval", "30s", "real server: refresh_interval of the index")
	penstockFlags(flags, &o.Penstock, &o.Config)
	sizeFlags(flags, &o.Size, &o.Concurrency)
	if err := parse(flags, args); err != nil {
		return err
	}
	o.Brokers = load.Brokers(*brokers)
	return compare.Compare(ctx, o)
}

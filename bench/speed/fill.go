package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"golang.org/x/term"

	"penstock/bench/load"
)

func runFill(ctx context.Context, flags *flag.FlagSet, args []string) error {
	o := load.Options{Out: os.Stderr, Terminal: term.IsTerminal(int(os.Stderr.Fd()))}
	brokers := brokersFlag(flags)
	kind := flags.String("kind", string(load.Planes), fmt.Sprintf("`kind` of documents: %v", load.Kinds))
	flags.StringVar(&o.Topic, "topic", "planes", "topic to make")
	flags.Int64Var(&o.Documents, "documents", 10_000_000, "`number` of documents")
	flags.IntVar(&o.Partitions, "partitions", 4, "`number` of partitions")
	flags.Uint64Var(&o.Seed, "seed", 1, "the same seed gives the same documents")
	flags.StringVar(&o.Compression, "compression", "lz4", "lz4, zstd or none")
	if err := parse(flags, args); err != nil {
		return err
	}
	o.Brokers, o.Kind = load.Brokers(*brokers), load.Kind(*kind)
	return load.Fill(ctx, o)
}

package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"penstock/bench/floor"
	"penstock/bench/load"
)

// urlVariable sets -url where a password must not be seen among the processes.
const urlVariable = "SPEED_URL"

// sizeFlags are the bare loop's, also where compare starts it.
func sizeFlags(flags *flag.FlagSet, size, concurrency *int) {
	flags.IntVar(size, "size", 5<<20, "`bytes` of the bare loop's request bodies")
	flags.IntVar(concurrency, "concurrency", 4, "`number` of the bare loop's requests in flight")
}

func runFloor(ctx context.Context, flags *flag.FlagSet, args []string) error {
	var o floor.Options
	brokers := brokersFlag(flags)
	flags.StringVar(&o.Topic, "topic", "planes", "topic to read from its start")
	flags.StringVar(&o.Group, "group", fmt.Sprintf("speed-floor-%d", os.Getpid()), "consumer group; nothing is committed")
	flags.StringVar(&o.URL, "url", "", "`address` of the search server or null sink (or in "+urlVariable+"; default http://127.0.0.1:9299)")
	flags.StringVar(&o.Index, "index", "speed", "index to write to")
	flags.StringVar(&o.Op, "op", "create", "bulk action: create or index")
	flags.Int64Var(&o.Documents, "documents", 0, "`number` to stop after; 0 to go on until a signal")
	sizeFlags(flags, &o.Size, &o.Concurrency)
	if err := parse(flags, args); err != nil {
		return err
	}
	if o.URL == "" {
		o.URL = os.Getenv(urlVariable)
	}
	if o.URL == "" {
		o.URL = "http://127.0.0.1:9299"
	}
	o.Brokers = load.Brokers(*brokers)
	return floor.Run(ctx, o)
}

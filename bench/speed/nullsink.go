package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"penstock/bench/nullsink"
)

func runNullSink(ctx context.Context, flags *flag.FlagSet, args []string) error {
	var o nullsink.Options
	listen := flags.String("listen", "127.0.0.1:9299", "loopback `address` to listen on")
	flags.DurationVar(&o.Delay, "delay", 0, "wait before each answer, such as 20ms")
	flags.BoolVar(&o.Hang, "hang", false, "take requests and never answer")
	if err := parse(flags, args); err != nil {
		return err
	}
	s, err := nullsink.Start(*listen, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "null sink on %s; GET /stats shows the counts, POST /reset clears them, Ctrl-C ends it\n", s.URL())
	<-ctx.Done()
	if err := json.NewEncoder(os.Stdout).Encode(s.Stats()); err != nil {
		return fmt.Errorf("printing the counts: %w", err)
	}
	return s.Close()
}

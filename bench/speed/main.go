// Command speed measures Penstock: against the bare loop, and against its
// memory limit. What it prints is ready for docs/performance.md, which also says
// how to use it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// command is one subcommand.
type command struct {
	name, about string
	// run defines its flags on the set, parses the arguments and does the work.
	run func(ctx context.Context, flags *flag.FlagSet, args []string) error
}

var commands = []command{
	{"fill", "make a topic of made-up documents", runFill},
	{"nullsink", "answer _bulk requests at once, and count", runNullSink},
	{"floor", "run the bare loop: fetch, append, POST", runFloor},
	{"compare", "run the bare loop and penstock in pairs, print a table", runCompare},
	{"memory", "print penstock's peak memory with a sink that never answers", runMemory},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(execute(ctx, os.Args[1:], os.Stderr))
}

// execute runs a subcommand and gives the exit code: 2 for a wrong command
// line, 1 for work that failed.
func execute(ctx context.Context, args []string, stderr io.Writer) int {
	if len(args) > 0 {
		for _, c := range commands {
			if c.name != args[0] {
				continue
			}
			flags := flag.NewFlagSet("speed "+c.name, flag.ContinueOnError)
			flags.SetOutput(stderr)
			err := c.run(ctx, flags, args[1:])
			var wrong *usageError
			switch {
			case err == nil || errors.Is(err, flag.ErrHelp):
				return 0
			case errors.As(err, &wrong):
				return 2 // flag has printed it
			case ctx.Err() != nil && errors.Is(err, context.Canceled):
				err = errors.New("interrupted; nothing was measured")
			}
			fmt.Fprintf(stderr, "speed %s: %v\n", c.name, err)
			return 1
		}
	}
	fmt.Fprintln(stderr, "usage: speed COMMAND [FLAGS]; -h after a command lists its flags")
	for _, c := range commands {
		fmt.Fprintf(stderr, "  %-10s %s\n", c.name, c.about)
	}
	return 2
}

// usageError is a command line that cannot be read.
type usageError struct{ error }

// parse reads a subcommand's flags; it takes no other arguments.
func parse(flags *flag.FlagSet, args []string) error {
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	if err != nil {
		return &usageError{err}
	}
	if flags.NArg() > 0 {
		err := fmt.Errorf("unexpected argument %q: flags are written -name value", flags.Arg(0))
		fmt.Fprintln(flags.Output(), err)
		return &usageError{err}
	}
	return nil
}

// brokersFlag is the flag that most subcommands have.
func brokersFlag(flags *flag.FlagSet) *string {
	return flags.String("brokers", "127.0.0.1:9092", "Kafka brokers, `host:port` separated by commas")
}

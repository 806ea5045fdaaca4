package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"penstock/configs"
	"penstock/configs/value"
)

// app is what the commands share: where they write, and the environment, as
// os.Environ gives it.
type app struct {
	stdout, stderr io.Writer
	environ        []string
}

// commands are the subcommands, one file each.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.runCommand(),
		a.demoCommand(),
		a.validateCommand(),
		a.configCommand(),
		a.versionCommand(),
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "penstock",
		Short: "Move log messages from Kafka into Elasticsearch or OpenSearch, and prove that nothing was lost",
		Args:  noArgs,
		RunE:  showHelp,
		// Errors are printed by execute, which knows which of them deserve a hint.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &usageError{command: c.CommandPath(), err: err}
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(a.commands()...)
	return root
}

// execute runs one command line and gives its exit code.
func (a *app) execute(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	a.report(err)
	return exitCode(err)
}

// report tells people what went wrong: one line for each problem of a
// configuration, otherwise one line, then where to read on.
func (a *app) report(err error) {
	switch usage, config := asUsage(err), asConfig(err); {
	case err == nil:
	case config != nil:
		fmt.Fprintln(a.stderr, config)
		fmt.Fprintf(a.stderr, "penstock: problems in the configuration: %d; \"penstock config reference\" explains every key\n", len(config.Problems))
	case usage != nil:
		fmt.Fprintf(a.stderr, "penstock: %v\nRun \"%s --help\" for usage.\n", usage, usage.command)
	default:
		fmt.Fprintf(a.stderr, "penstock: %s\n", value.RedactURLs(err.Error()))
	}
}

// usageError is a command line that cannot be understood.
type usageError struct {
	command string // the command whose help explains it
	err     error
}

func (u *usageError) Error() string { return u.err.Error() }
func (u *usageError) Unwrap() error { return u.err }

func asUsage(err error) *usageError {
	u, _ := errors.AsType[*usageError](err)
	return u
}

func asConfig(err error) *configs.Error {
	c, _ := errors.AsType[*configs.Error](err)
	return c
}

// noArgs is for commands that take flags alone, and for those that only have
// subcommands: what follows them is then a command that does not exist.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unexpected argument %q", args[0])
	if c.HasAvailableSubCommands() {
		err = fmt.Errorf("unknown command %q", strings.Join([]string{c.CommandPath(), args[0]}, " "))
		// Cobra's default of 2 is set only on its own path for such errors.
		c.SuggestionsMinimumDistance = 2
		if s := c.SuggestionsFor(args[0]); len(s) > 0 {
			err = fmt.Errorf("%w; did you mean %q?", err, c.CommandPath()+" "+s[0])
		}
	}
	return &usageError{command: c.CommandPath(), err: err}
}

func showHelp(c *cobra.Command, _ []string) error { return c.Help() }

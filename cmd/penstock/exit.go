package main

import "errors"

// Exit codes. docs/operations.md explains them.
const (
	exitDone   = 0   // all that was asked for is done; a shutdown left nothing behind
	exitFailed = 1   // an unexpected error
	exitUsage  = 2   // the command line or the configuration cannot work
	exitUndone = 3   // shut down with records in flight that were not stored
	exitSignal = 128 // plus the signal's number: a second signal ended the shutdown at once
)

// exitError ends the process with a code of its own.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// exitCode is the code that stands for an error.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if asUsage(err) != nil || asConfig(err) != nil {
		return exitUsage
	}
	return exitFailed
}

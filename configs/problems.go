package configs

import (
	"errors"
	"strings"

	"penstock/configs/value"
)

// Error is all that is wrong with a configuration: at least one problem, in
// the order in which they were found. Keys are full paths.
type Error struct {
	Problems []*value.Problem
}

// Error gives one line a problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the problems.
func (e *Error) Unwrap() []error {
	errs := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		errs[i] = p
	}
	return errs
}

// problems collects in order, without twins.
type problems []*value.Problem

func (ps *problems) add(key, message string) {
	// Messages may quote what was found: no credentials, and one line each.
	message = value.RedactURLs(strings.Join(strings.FieldsFunc(message, isBreak), " "))
	for _, p := range *ps {
		if p.Key == key && p.Message == message {
			return
		}
	}
	*ps = append(*ps, &value.Problem{Key: key, Message: message})
}

// about tells whether a problem with this key was found.
func (ps problems) about(key string) bool {
	for _, p := range ps {
		if p.Key == key || strings.HasPrefix(p.Key, key+"[") {
			return true
		}
	}
	return false
}

func (ps problems) err() error {
	if len(ps) == 0 {
		return nil
	}
	return &Error{Problems: ps}
}

func isBreak(r rune) bool { return r == '\n' || r == '\r' }

// flatten takes apart what a Validate method returned.
func flatten(err error) []*value.Problem {
	if err == nil {
		return nil
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*value.Problem
		for _, e := range many.Unwrap() {
			all = append(all, flatten(e)...)
		}
		return all
	}
	if p, ok := errors.AsType[*value.Problem](err); ok {
		return []*value.Problem{p}
	}
	return []*value.Problem{{Message: err.Error()}}
}

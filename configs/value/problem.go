package value

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing wrong with a configuration: the key it is about,
// relative to the struct that was validated, and what to write instead.
type Problem struct {
	// Key is the dotted key path, e.g. "brokers" or "tls.ca".
	Key string
	// Message says what was found, what was expected and what to do.
	Message string
}

// Error gives "key: message".
func (p *Problem) Error() string { return p.Key + ": " + p.Message }

// Problems collects all that is wrong, so that it is reported at once.
type Problems []error

// Add notes one problem.
func (p *Problems) Add(key, message string) { *p = append(*p, &Problem{key, message}) }

// OneOf notes a problem unless got is one of the allowed words.
func (p *Problems) OneOf(key, got string, allowed ...string) {
	if !slices.Contains(allowed, got) {
		p.Add(key, fmt.Sprintf("%q is not known here; write one of: %s", got, strings.Join(allowed, ", ")))
	}
}

// Err joins what was collected; nil if nothing was.
func (p Problems) Err() error { return errors.Join(p...) }

package value

import (
	"fmt"
	"io"
)

// Stars is what a secret that is set prints as.
const Stars = "********"

// Secret is a setting that must not be printed: every formatting verb, JSON and
// text encoding give Stars. Reveal gives the value. Compare what Reveal gives:
// equal secrets need not be equal under ==.
type Secret struct {
	// A pointer, because fmt cannot call the methods of a Secret in an
	// unexported field: there it prints an address.
	s *string
}

// NewSecret wraps s.
func NewSecret(s string) Secret {
	if s == "" {
		return Secret{}
	}
	return Secret{&s}
}

// Reveal gives the secret itself, for use on the wire.
func (s Secret) Reveal() string {
	if s.s == nil {
		return ""
	}
	return *s.s
}

// IsZero tells whether nothing is set.
func (s Secret) IsZero() bool { return s.s == nil }

// String gives Stars, or nothing where nothing is set.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return Stars
}

// Format gives what String gives, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText gives what String gives.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes the secret as it is.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}

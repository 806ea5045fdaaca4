package value

// Stars is what a secret that is set prints as.
const Stars = "********"

// Secret is a setting that must not be printed: every formatting verb, JSON and
// text encoding give Stars. Reveal gives the value.
type Secret struct{ s string }

// NewSecret wraps s.
func NewSecret(s string) Secret { return Secret{s} }

// Reveal gives the secret itself, for use on the wire.
func (s Secret) Reveal() string { return s.s }

// IsZero tells whether nothing is set.
func (s Secret) IsZero() bool { return s.s == "" }

// String gives Stars, or nothing where nothing is set.
func (s Secret) String() string {
	if s.s == "" {
		return ""
	}
	return Stars
}

// GoString gives what String gives, so that %#v shows no secret.
func (s Secret) GoString() string { return s.String() }

// MarshalText gives what String gives.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes the secret as it is.
func (s *Secret) UnmarshalText(text []byte) error {
	s.s = string(text)
	return nil
}

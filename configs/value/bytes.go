package value

import (
	"fmt"
	"strconv"
	"strings"
)

// Bytes is a size in bytes. Text forms carry a unit: "512B", "64KiB", "5MiB",
// "2GiB", or decimal "kB", "MB", "GB". Only "0" needs none.
type Bytes int64

// The binary units.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
)

// maxBytes leaves room for sums of sizes.
const maxBytes = 1 << 62

var byteUnits = []struct {
	suffix string
	factor int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"kB", 1e3},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"B", 1},
}

// ParseBytes reads a size with its unit. Fractions are allowed ("1.5GiB").
func ParseBytes(s string) (Bytes, error) {
	s = strings.TrimSpace(s)
	if s == "0" {
		return 0, nil
	}
	for _, u := range byteUnits {
		number, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		number = strings.TrimSpace(number)
		// Whole numbers exactly; a float64 holds only 53 bits.
		if n, err := strconv.ParseInt(number, 10, 64); err == nil && n >= 0 && n <= maxBytes/u.factor {
			return Bytes(n * u.factor), nil
		}
		f, err := strconv.ParseFloat(number, 64)
		if err != nil || strings.Trim(number, "0123456789.") != "" || f*float64(u.factor) > maxBytes {
			break
		}
		return Bytes(f * float64(u.factor)), nil
	}
	return 0, fmt.Errorf("%q is not a size: write a number and a unit, such as 512KiB, 5MiB or 1GiB", s)
}

// String writes the size in the largest binary unit that divides it, so that
// ParseBytes gives the same value back.
func (b Bytes) String() string {
	for i := 3; i >= 0; i-- {
		if f := Bytes(byteUnits[i].factor); b != 0 && b%f == 0 {
			return strconv.FormatInt(int64(b/f), 10) + byteUnits[i].suffix
		}
	}
	if b == 0 {
		return "0"
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

// UnmarshalText implements encoding.TextUnmarshaler by ParseBytes.
func (b *Bytes) UnmarshalText(text []byte) error {
	v, err := ParseBytes(string(text))
	if err == nil {
		*b = v
	}
	return err
}

// MarshalText implements encoding.TextMarshaler by String.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

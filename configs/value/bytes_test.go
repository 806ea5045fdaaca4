package value_test

import (
	"strings"
	"testing"

	"penstock/configs/value"
)

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]value.Bytes{
		"0": 0, "0B": 0, "1B": 1, "512B": 512, "64KiB": 65536, "5MiB": 5242880, "2GiB": 2147483648, "1TiB": 1099511627776,
		"5kB": 5000, "5KB": 5000, "5MB": 5000000, "5GB": 5000000000, "1.5KiB": 1536, " 5 MiB ": 5242880, "1048588B": 1048588,
		"9007199254740993B": 9007199254740993, // one more than a float64 can hold
		"4194304TiB":        1 << 62,
	} {
		got, err := value.ParseBytes(text)
		if err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestParseBytesRefuses(t *testing.T) {
	for _, text := range []string{
		"", "5", "-5B", "B", "MiB", "5mb", "5M", "5 sizes", "NaNB", "InfB", "+InfB", "1e3B", "0x10B", "1_000B", "5MiB5", "4194305TiB", "1.2.3MiB", "٥MiB",
	} {
		got, err := value.ParseBytes(text)
		if err == nil {
			t.Errorf("ParseBytes(%q) = %d, want an error", text, got)
			continue
		}
		if !strings.Contains(err.Error(), "5MiB") {
			t.Errorf("ParseBytes(%q): %q does not say what to write", text, err)
		}
	}
}

func TestBytesString(t *testing.T) {
	for b, want := range map[value.Bytes]string{
		0: "0", 1: "1B", 1023: "1023B", 1024: "1KiB", 1536: "1536B", 5 * value.MiB: "5MiB", 3 * value.GiB: "3GiB", 1 << 40: "1TiB", 5000000: "5000000B",
	} {
		if got := b.String(); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", int64(b), got, want)
		}
	}
}

func FuzzParseBytes(f *testing.F) {
	for _, s := range []string{"5MiB", "1.5GiB", "0", "5", "4194304TiB", "NaNB", "9007199254740993B"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := value.ParseBytes(s)
		if err != nil {
			return
		}
		if b < 0 {
			t.Fatalf("ParseBytes(%q) = %d", s, int64(b))
		}
		again, err := value.ParseBytes(b.String())
		if err != nil || again != b {
			t.Fatalf("%q is %d, prints as %q, which reads as %d, %v", s, int64(b), b, int64(again), err)
		}
	})
}

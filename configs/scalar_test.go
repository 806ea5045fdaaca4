package configs

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func parse[T any](text string) (T, error) {
	var v T
	err := setText(reflect.ValueOf(&v).Elem(), text)
	return v, err
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "5s": 5 * time.Second, "500ms": 500 * time.Millisecond, "1h30m": 90 * time.Minute, "-1s": -time.Second} {
		if got, err := parse[time.Duration](text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"5": "write 5s,", "1.5": "write 1.5s,", "5 sec": "write 5s", "5 s": "write 5s", "2 Minutes": "write 2m", "7d": "such as 24h", "1 day": "such as 24h",
		"": "such as 500ms", "soon": "such as 500ms", "5 parsecs": "such as 500ms",
	} {
		if got, err := parse[time.Duration](text); err == nil || !strings.Contains(err.Error(), want) || got != 0 {
			t.Errorf("%q is %v, %v; want %q", text, got, err, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	check := func(text, want string, got any, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T from %q is %v, %v; want %q", got, text, got, err, want)
		}
	}
	for _, text := range []string{"", "007", "0x10", "1_000", "1e3", "1.0", " 5", "٥", "--5"} {
		got, err := parse[int](text)
		check(text, "is not a whole number: write one such as 500", got, err)
	}
	i8, err := parse[int8]("128")
	check("128", "from -128 to 127", i8, err)
	u8, err := parse[uint8]("256")
	check("256", "from 0 to 255", u8, err)
	u8, err = parse[uint8]("-1")
	check("-1", "from 0 to 255", u8, err)
	u64, err := parse[uint64]("18446744073709551616")
	check("2^64", "from 0 to 18446744073709551615", u64, err)
	i64, err := parse[int64]("9223372036854775808")
	check("2^63", "from -9223372036854775808 to 9223372036854775807", i64, err)
	for _, text := range []string{"", "NaN", "inf", "1,5", "1e999"} {
		f, err := parse[float64](text)
		check(text, "is not a number: write one such as 0.5", f, err)
	}
	if got, err := parse[int8]("-128"); err != nil || got != -128 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := parse[uint64]("+18446744073709551615"); err != nil || got != 1<<64-1 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := parse[float64]("-2.5e3"); err != nil || got != -2500 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestBooleans(t *testing.T) {
	for text, want := range map[string]bool{"true": true, "True": true, "false": false, "FALSE": false} {
		if got, err := parse[bool](text); err != nil || got != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"yes", "no", "on", "1", "0", "t", ""} {
		if got, err := parse[bool](text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

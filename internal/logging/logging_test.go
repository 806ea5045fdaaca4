package logging

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"penstock/configs/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func logTo(t *testing.T, c Config) (*zap.Logger, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	l, err := newTo(c, zapcore.AddSync(&out))
	if err != nil {
		t.Fatal(err)
	}
	return l, &out
}

func TestJSON(t *testing.T) {
	l, out := logTo(t, DefaultConfig())
	l.Debug("not this")
	l.Named("sink").Info("hello", zap.Duration("wait", 1500*time.Millisecond), zap.Any("password", value.NewSecret("s3cret")))
	var got map[string]string
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	at, err := time.Parse(time.RFC3339, got["time"])
	if err != nil || at.Location() != time.UTC || time.Since(at).Abs() > time.Minute {
		t.Errorf("time %q: %v", got["time"], err)
	}
	delete(got, "time")
	want := map[string]string{"level": "info", "logger": "sink", "message": "hello", "wait": "1.5s", "password": "********"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestConsole(t *testing.T) {
	c := DefaultConfig()
	c.Format, c.Level = FormatConsole, LevelDebug
	l, out := logTo(t, c)
	l.Debug("hello", zap.Int("n", 1), zap.Any("password", value.NewSecret("s3cret")))
	if got := out.String(); !strings.Contains(got, "DEBUG\thello\t{\"n\": 1") || strings.Contains(got, "s3cret") {
		t.Errorf("got %s", got)
	}
}

func TestLevels(t *testing.T) {
	for level, want := range map[string]int{LevelDebug: 4, LevelInfo: 3, LevelWarn: 2, LevelError: 1} {
		c := DefaultConfig()
		c.Level = level
		l, out := logTo(t, c)
		l.Debug("d")
		l.Info("i")
		l.Warn("w")
		l.Error("e")
		if got := strings.Count(out.String(), "\n"); got != want {
			t.Errorf("%s logs %d of 4 messages, want %d", level, got, want)
		}
	}
}

// stopped is a clock that stands still, so that all messages fall in one second.
type stopped struct{ zapcore.Clock }

func (stopped) Now() time.Time { return time.Unix(1_700_000_000, 0) }

func TestSampling(t *testing.T) {
	for _, c := range []struct{ first, thereafter, sent, want int }{
		{3, 10, 33, 3 + 3}, {3, 0, 33, 3}, {0, 0, 33, 33}, {0, 10, 33, 33},
	} {
		config := DefaultConfig()
		config.Sampling = SamplingConfig{c.first, c.thereafter}
		l, out := logTo(t, config)
		l = l.WithOptions(zap.WithClock(stopped{zapcore.DefaultClock}))
		for range c.sent {
			l.Warn("the same")
		}
		if got := strings.Count(out.String(), "\n"); got != c.want {
			t.Errorf("first %d, thereafter %d: %d of %d logged, want %d", c.first, c.thereafter, got, c.sent, c.want)
		}
	}
}

func TestRefuses(t *testing.T) {
	for want, change := range map[string]func(*Config){
		`level: "fatal" is not known here; write one of: debug, info, warn, error`: func(c *Config) { c.Level = "fatal" },
		`format: "text" is not known here; write one of: json, console`:            func(c *Config) { c.Format = "text" },
		"first: must be 0 (no sampling) or more":                                   func(c *Config) { c.Sampling.First = -1 },
		"thereafter: must be 0 (none beyond first) or more":                        func(c *Config) { c.Sampling.Thereafter = -1 },
	} {
		c := DefaultConfig()
		change(&c)
		if _, err := New(c); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

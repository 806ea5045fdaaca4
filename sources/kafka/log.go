package kafka

import (
	"fmt"
	"regexp"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// clientLog gives the Kafka client's log lines to zap, one level lower: what it
// calls information is of interest to its developers.
type clientLog struct{ log *zap.Logger }

// Level implements kgo.Logger.
func (l clientLog) Level() kgo.LogLevel {
	if l.log.Core().Enabled(zapcore.DebugLevel) {
		return kgo.LogLevelInfo
	}
	return kgo.LogLevelWarn
}

// Log implements kgo.Logger.
func (l clientLog) Log(level kgo.LogLevel, msg string, keyvals ...any) {
	to := zapcore.DebugLevel
	switch level {
	case kgo.LogLevelError:
		to = zapcore.WarnLevel
	case kgo.LogLevelWarn:
		to = zapcore.InfoLevel
	}
	entry := l.log.Check(to, msg)
	if entry == nil {
		return
	}
	fields := make([]zap.Field, 0, len(keyvals)/2)
	for i := 0; i+1 < len(keyvals); i += 2 {
		fields = append(fields, zap.Any(fmt.Sprint(keyvals[i]), keyvals[i+1]))
	}
	entry.Write(fields...)
}

// limited gives at most one line a second for each message.
func limited(log *zap.Logger) *zap.Logger {
	return log.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Second, 1, 0)
	}))
}

var notInVersion = regexp.MustCompile(`[^a-zA-Z0-9.-]+`)

// softwareVersion makes v acceptable to brokers, which allow few characters.
func softwareVersion(v string) string {
	if v = notInVersion.ReplaceAllString(v, "-"); v == "" || v[0] == '-' || v[0] == '.' || v[len(v)-1] == '-' || v[len(v)-1] == '.' {
		return "unknown"
	}
	return v
}

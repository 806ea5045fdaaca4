package logging

import (
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// New makes a logger that writes to standard error, so that standard output
// stays what a command prints. It starts no goroutine and buffers nothing.
func New(c Config) (*zap.Logger, error) { return newTo(c, zapcore.Lock(os.Stderr)) }

func newTo(c Config, w zapcore.WriteSyncer) (*zap.Logger, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("checking log settings: %w", err)
	}
	if err := c.Sampling.Validate(); err != nil {
		return nil, fmt.Errorf("checking log.sampling settings: %w", err)
	}
	level, err := zapcore.ParseLevel(c.Level)
	if err != nil {
		return nil, fmt.Errorf("reading log.level: %w", err)
	}
	core := zapcore.NewCore(encoder(c.Format), w, level)
	if c.Sampling.First > 0 {
		core = zapcore.NewSamplerWithOptions(core, time.Second, c.Sampling.First, c.Sampling.Thereafter)
	}
	// Errors of the logger itself go nowhere by default.
	return zap.New(core, zap.ErrorOutput(w)), nil
}

func encoder(format string) zapcore.Encoder {
	ec := zapcore.EncoderConfig{
		TimeKey: "time", LevelKey: "level", NameKey: "logger", MessageKey: "message",
		EncodeTime:     utc,
		EncodeLevel:    zapcore.LowercaseLevelEncoder,
		EncodeDuration: zapcore.StringDurationEncoder,
	}
	if format == FormatConsole {
		ec.EncodeLevel = zapcore.CapitalLevelEncoder
		return zapcore.NewConsoleEncoder(ec)
	}
	return zapcore.NewJSONEncoder(ec)
}

// utc writes times alike on every machine, to the millisecond.
func utc(t time.Time, enc zapcore.PrimitiveArrayEncoder) {
	enc.AppendString(t.UTC().Format("2006-01-02T15:04:05.000Z"))
}

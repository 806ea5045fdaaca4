// Package logging makes the logger that everything else is handed.
package logging

import "penstock/configs/value"

// Config is everything that can be set about the log.
type Config struct {
	Level    string         `yaml:"level" doc:"Least important messages that are logged: debug, info, warn or error."`
	Format   string         `yaml:"format" doc:"json for machines, console for people. Either goes to standard error."`
	Sampling SamplingConfig `yaml:"sampling" doc:"Limits on messages of the same words, counted anew each second."`
}

// SamplingConfig keeps a repeated message from filling the log.
type SamplingConfig struct {
	First      int `yaml:"first" unit:"messages" doc:"This many equal messages a second are logged; 0 logs all of them."`
	Thereafter int `yaml:"thereafter" unit:"messages" doc:"Of the equal messages beyond first, one in this many is logged; 0 logs none of them."`
}

// The words that settings take.
const (
	FormatJSON    = "json"
	FormatConsole = "console"
	LevelDebug    = "debug"
	LevelInfo     = "info"
	LevelWarn     = "warn"
	LevelError    = "error"
)

// DefaultConfig is production's.
func DefaultConfig() Config {
	return Config{Level: LevelInfo, Format: FormatJSON, Sampling: SamplingConfig{First: 10, Thereafter: 1000}}
}

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	var p value.Problems
	p.OneOf("level", c.Level, LevelDebug, LevelInfo, LevelWarn, LevelError)
	p.OneOf("format", c.Format, FormatJSON, FormatConsole)
	return p.Err()
}

// Validate reports every setting that cannot work.
func (c SamplingConfig) Validate() error {
	var p value.Problems
	if c.First < 0 {
		p.Add("first", "must be 0 (no sampling) or more")
	}
	if c.Thereafter < 0 {
		p.Add("thereafter", "must be 0 (none beyond first) or more")
	}
	return p.Err()
}

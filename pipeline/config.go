package pipeline

import (
	"time"

	"penstock/configs/value"
)

// BatchConfig says when the documents gathered for one request are sent:
// at whichever limit is reached first.
type BatchConfig struct {
	Bytes     value.Bytes   `yaml:"bytes" doc:"Size of one bulk request before compression. A larger document travels alone."`
	Documents int           `yaml:"documents" unit:"documents" doc:"Most documents in one bulk request; 0 for no limit."`
	Age       time.Duration `yaml:"age" doc:"Longest that a document waits for its request to fill while the sink has room."`
}

// DefaultBatchConfig suits log messages and clusters with default limits.
func DefaultBatchConfig() BatchConfig {
	return BatchConfig{Bytes: 5 * value.MiB, Documents: 25_000, Age: time.Second}
}

// Validate reports every setting that cannot work.
func (c BatchConfig) Validate() error {
	var p value.Problems
	if c.Bytes < value.KiB || c.Bytes > value.GiB {
		p.Add("bytes", "must be from 1KiB to 1GiB; 5MiB suits most clusters (http.max_content_length is 100MiB by default)")
	}
	if c.Documents < 0 {
		p.Add("documents", "must be 0 (no limit) or more")
	}
	if c.Age < time.Millisecond || c.Age > time.Hour {
		p.Add("age", "must be from 1ms to 1h, such as 1s")
	}
	return p.Err()
}

// MemoryConfig bounds everything that is in flight.
type MemoryConfig struct {
	Limit value.Bytes `yaml:"limit" doc:"Bytes for all that is in flight: fetch buffers, records, request bodies. 0 takes 40 % of the container's memory, or 512MiB without a container limit."`
}

// DefaultMemoryConfig derives the limit from the container.
func DefaultMemoryConfig() MemoryConfig { return MemoryConfig{} }

// Validate reports every setting that cannot work.
func (c MemoryConfig) Validate() error {
	var p value.Problems
	if c.Limit != 0 && c.Limit < 32*value.MiB {
		p.Add("limit", "must be 0 (40 % of the container's memory) or at least 32MiB")
	}
	return p.Err()
}

// DeliveryConfig says how hard to try.
type DeliveryConfig struct {
	Concurrency    ConcurrencyConfig `yaml:"concurrency"`
	Backoff        BackoffConfig     `yaml:"backoff"`
	CommitInterval time.Duration     `yaml:"commit_interval" doc:"How often watermarks are committed to the source."`
	ShutdownGrace  time.Duration     `yaml:"shutdown_grace" doc:"How long SIGTERM waits for what is in flight to be stored and committed; keep it below the pod's terminationGracePeriodSeconds."`
	RevokeTimeout  time.Duration     `yaml:"revoke_timeout" doc:"How long a rebalance waits for requests in flight of the partitions that are taken away. At most 4s, so that the callback returns within 5s."`
	UnreadyAfter   time.Duration     `yaml:"unready_after" doc:"A partition that makes no progress for this long because of a hold makes /readyz answer 503."`
	SystematicFrom int               `yaml:"systematic_from" unit:"documents" doc:"When this many documents of one destination are refused alike and none is stored, hold instead of dead-lettering."`
}

// ConcurrencyConfig bounds the requests in flight on each node of the sink.
type ConcurrencyConfig struct {
	Fixed int `yaml:"fixed" unit:"requests" doc:"Requests in flight per node, always; 0 adapts between 1 and max."`
	Max   int `yaml:"max" unit:"requests" doc:"Most requests in flight per node when adapting."`
}

// BackoffConfig spaces the tries of one request. Each wait is drawn between
// half of it and the whole (jitter).
type BackoffConfig struct {
	Min time.Duration `yaml:"min" doc:"First wait before a retry; it doubles up to max."`
	Max time.Duration `yaml:"max" doc:"Longest wait between two tries of one request."`
}

// DefaultDeliveryConfig holds for ever rather than lose anything.
func DefaultDeliveryConfig() DeliveryConfig {
	return DeliveryConfig{
		Concurrency:    ConcurrencyConfig{Max: 16},
		Backoff:        BackoffConfig{Min: 200 * time.Millisecond, Max: 30 * time.Second},
		CommitInterval: time.Second,
		ShutdownGrace:  20 * time.Second,
		RevokeTimeout:  3 * time.Second,
		UnreadyAfter:   30 * time.Second,
		SystematicFrom: 50,
	}
}

// Validate reports every setting that cannot work.
func (c ConcurrencyConfig) Validate() error {
	var p value.Problems
	if c.Fixed < 0 || c.Fixed > 1000 {
		p.Add("fixed", "must be 0 (adaptive) or from 1 to 1000 requests per node")
	}
	if c.Max < 1 || c.Max > 1000 {
		p.Add("max", "must be from 1 to 1000 requests per node")
	}
	return p.Err()
}

// Validate reports every setting that cannot work.
func (c BackoffConfig) Validate() error {
	var p value.Problems
	if c.Min < 10*time.Millisecond {
		p.Add("min", "must be at least 10ms")
	}
	if c.Max < c.Min || c.Max > 10*time.Minute {
		p.Add("max", "must be from backoff.min to 10m")
	}
	return p.Err()
}

// Validate reports every setting that cannot work.
func (c DeliveryConfig) Validate() error {
	var p value.Problems
	if c.CommitInterval < 10*time.Millisecond || c.CommitInterval > time.Minute {
		p.Add("commit_interval", "must be from 10ms to 1m")
	}
	if c.ShutdownGrace < time.Second {
		p.Add("shutdown_grace", "must be at least 1s")
	}
	if c.RevokeTimeout < 0 || c.RevokeTimeout > 4*time.Second {
		p.Add("revoke_timeout", "must be from 0s to 4s")
	}
	if c.UnreadyAfter < time.Second {
		p.Add("unready_after", "must be at least 1s")
	}
	if c.SystematicFrom < 2 {
		p.Add("systematic_from", "must be at least 2 documents; 50 is the default")
	}
	return p.Err()
}

// DocumentsConfig says what counts as a document.
type DocumentsConfig struct {
	Check       string `yaml:"check" doc:"json only: framing checks the first byte, the UTF-8 and the line feeds and leaves the rest to the server; full parses every document first."`
	InvalidUTF8 string `yaml:"invalid_utf8" doc:"Values that are not UTF-8: dead_letter, or replace each bad byte by U+FFFD."`
	Tombstones  string `yaml:"tombstones" doc:"Records with a null value: skip (counted), or dead_letter."`
	Blank       string `yaml:"blank" doc:"Values of no bytes or white space only: skip (counted), or dead_letter."`
}

// DefaultDocumentsConfig passes JSON through and alters nothing.
func DefaultDocumentsConfig() DocumentsConfig {
	return DocumentsConfig{Check: CheckFraming, InvalidUTF8: PolicyDeadLetter, Tombstones: PolicySkip, Blank: PolicySkip}
}

// The values that document settings take.
const (
	CheckFraming     = "framing"
	CheckFull        = "full"
	PolicySkip       = "skip"
	PolicyDeadLetter = "dead_letter"
	PolicyReplace    = "replace"
)

// Validate reports every setting that cannot work.
func (c DocumentsConfig) Validate() error {
	var p value.Problems
	p.OneOf("check", c.Check, CheckFraming, CheckFull)
	p.OneOf("invalid_utf8", c.InvalidUTF8, PolicyDeadLetter, PolicyReplace)
	p.OneOf("tombstones", c.Tombstones, PolicySkip, PolicyDeadLetter)
	p.OneOf("blank", c.Blank, PolicySkip, PolicyDeadLetter)
	return p.Err()
}

// The document formats of the setting "decode".
const (
	// DecodeJSON passes JSON objects through.
	DecodeJSON = "json"
	// DecodeText wraps each value as {"message": "..."}.
	DecodeText = "text"
)

// Package kafka reads records from Kafka as one member of a consumer group.
package kafka

import (
	"regexp"
	"slices"
	"time"

	"penstock/configs/value"
)

// Config is everything that can be set about the Kafka source.
type Config struct {
	Brokers          []string      `yaml:"brokers" doc:"Addresses of some brokers, host:port; the rest is discovered."`
	Topics           []string      `yaml:"topics" doc:"Topics to read. Exactly one of topics and topic_pattern is needed."`
	TopicPattern     string        `yaml:"topic_pattern" doc:"Regular expression (RE2) that the whole name of a topic must match; new topics join as they appear."`
	Group            string        `yaml:"group" doc:"Consumer group. Members of one group share the partitions."`
	InstanceID       string        `yaml:"instance_id" doc:"Static membership: a name of this member that is unique in the group and survives restarts, such as a StatefulSet pod's name. Its partitions wait for it until session_timeout."`
	ClientID         string        `yaml:"client_id" doc:"Name shown in the brokers' logs and quotas."`
	Start            string        `yaml:"start" doc:"Where to begin without a committed offset: earliest, latest, or a time in RFC 3339. Partitions that a topic gains later, and topics that appear while a member runs, begin at their start."`
	Stop             string        `yaml:"stop" doc:"Where to end: empty for never, lag0 for the end of each partition as of the start of this process, or a time in RFC 3339. The process exits with 0 when all of it is stored and committed."`
	IsolationLevel   string        `yaml:"isolation_level" doc:"read_committed leaves out aborted transactions; read_uncommitted takes everything."`
	SessionTimeout   time.Duration `yaml:"session_timeout" doc:"Silence after which the group takes this member's partitions away."`
	RebalanceTimeout time.Duration `yaml:"rebalance_timeout" doc:"How long a rebalance waits for a member to join."`
	FetchMaxWait     time.Duration `yaml:"fetch_max_wait" doc:"How long a broker waits for data before it answers an empty fetch."`
	FetchMaxBytes    value.Bytes   `yaml:"fetch_max_bytes" doc:"Most compressed bytes in one fetch. Lowered by itself where records compress so well that they would not fit the memory limit."`
	MetadataMaxAge   time.Duration `yaml:"metadata_max_age" doc:"How often new topics and partitions are looked for."`
}

// DefaultConfig is production's.
func DefaultConfig() Config {
	return Config{
		ClientID:         "penstock",
		Group:            "penstock",
		Start:            StartEarliest,
		IsolationLevel:   ReadCommitted,
		SessionTimeout:   45 * time.Second,
		RebalanceTimeout: 60 * time.Second,
		FetchMaxWait:     500 * time.Millisecond,
		FetchMaxBytes:    8 * value.MiB,
		MetadataMaxAge:   time.Minute,
	}
}

// The words that settings take.
const (
	StartEarliest   = "earliest"
	StartLatest     = "latest"
	StopLag0        = "lag0"
	ReadCommitted   = "read_committed"
	ReadUncommitted = "read_uncommitted"
)

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	var p value.Problems
	if len(c.Brokers) == 0 {
		p.Add("brokers", "is empty: name at least one broker, such as [127.0.0.1:9092]")
	}
	if slices.Contains(c.Brokers, "") {
		p.Add("brokers", "holds an empty address: write host:port")
	}
	switch {
	case len(c.Topics) == 0 && c.TopicPattern == "":
		p.Add("topics", "is empty: name the topics to read, such as [logs], or set topic_pattern")
	case len(c.Topics) > 0 && c.TopicPattern != "":
		p.Add("topic_pattern", "cannot be used together with topics: keep one of them")
	}
	if slices.Contains(c.Topics, "") {
		p.Add("topics", "holds an empty name")
	}
	if _, err := regexp.Compile(c.TopicPattern); err != nil {
		p.Add("topic_pattern", "is not a regular expression that Go (RE2) understands: "+err.Error())
	}
	if c.Group == "" {
		p.Add("group", "is empty: name the consumer group that keeps the offsets")
	}
	if c.Start != StartEarliest && c.Start != StartLatest {
		if _, err := time.Parse(time.RFC3339, c.Start); err != nil {
			p.Add("start", "must be earliest, latest, or a time such as 2026-01-31T00:00:00Z")
		}
	}
	if c.Stop != "" && c.Stop != StopLag0 {
		if _, err := time.Parse(time.RFC3339, c.Stop); err != nil {
			p.Add("stop", "must be empty, lag0, or a time such as 2026-01-31T00:00:00Z")
		}
	}
	p.OneOf("isolation_level", c.IsolationLevel, ReadCommitted, ReadUncommitted)
	if c.SessionTimeout < time.Second {
		p.Add("session_timeout", "must be at least 1s (brokers allow 6s to 30m by default)")
	}
	if c.RebalanceTimeout < 10*time.Second {
		p.Add("rebalance_timeout", "must be at least 10s: revoking takes up to 5s")
	}
	if c.FetchMaxWait < 10*time.Millisecond || c.FetchMaxWait > 30*time.Second {
		p.Add("fetch_max_wait", "must be from 10ms to 30s")
	}
	if c.FetchMaxBytes < 64*value.KiB || c.FetchMaxBytes > 512*value.MiB {
		p.Add("fetch_max_bytes", "must be from 64KiB to 512MiB")
	}
	if c.MetadataMaxAge < 100*time.Millisecond {
		p.Add("metadata_max_age", "must be at least 100ms")
	}
	return p.Err()
}

// Reads tells whether the configuration subscribes to the topic.
func (c Config) Reads(topic string) bool {
	if c.TopicPattern == "" {
		return slices.Contains(c.Topics, topic)
	}
	re, err := regexp.Compile("^(?:" + c.TopicPattern + ")$")
	return err == nil && re.MatchString(topic)
}

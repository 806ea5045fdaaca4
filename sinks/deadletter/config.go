// Package deadletter keeps records that cannot be stored in a Kafka topic.
package deadletter

import "penstock/configs/value"

// Config is everything that can be set about the dead-letter topic. The
// brokers are the source's.
type Config struct {
	Topic             string      `yaml:"topic" doc:"Topic for records that cannot be stored, with the reason in headers. Without one, such a record holds its partition."`
	MaxMessageBytes   value.Bytes `yaml:"max_message_bytes" doc:"The topic's max.message.bytes. A letter that does not fit holds its partition."`
	Create            bool        `yaml:"create" doc:"Create the topic at start if it is missing."`
	Partitions        int         `yaml:"partitions" unit:"partitions" doc:"Partitions of a topic that create makes."`
	ReplicationFactor int         `yaml:"replication_factor" unit:"copies" doc:"Copies of a topic that create makes; -1 takes the broker's default."`
}

// DefaultConfig has no topic.
func DefaultConfig() Config {
	return Config{MaxMessageBytes: 1048588, Partitions: 1, ReplicationFactor: -1}
}

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	var p value.Problems
	if c.MaxMessageBytes < value.KiB || c.MaxMessageBytes > value.GiB {
		p.Add("max_message_bytes", "must be from 1KiB to 1GiB and no more than the topic's max.message.bytes")
	}
	if c.Create && c.Topic == "" {
		p.Add("create", "needs dead_letter.topic")
	}
	if c.Partitions < 1 {
		p.Add("partitions", "must be at least 1")
	}
	if c.ReplicationFactor == 0 || c.ReplicationFactor < -1 {
		p.Add("replication_factor", "must be -1 (the broker's default) or at least 1")
	}
	return p.Err()
}

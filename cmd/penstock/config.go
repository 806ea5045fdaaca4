package main

import (
	"fmt"

	"penstock/configs/value"
	"penstock/internal/logging"
	"penstock/internal/status"
	"penstock/pipeline"
	"penstock/sinks/deadletter"
	"penstock/sinks/elasticsearch"
	"penstock/sources/kafka"
)

// Config is the whole configuration, composed of what each package owns.
type Config struct {
	Source     SourceConfig             `yaml:"source" doc:"Where records come from."`
	Sink       SinkConfig               `yaml:"sink" doc:"Where documents go."`
	DeadLetter deadletter.Config        `yaml:"dead_letter" doc:"Where records go that can never be stored."`
	Decode     string                   `yaml:"decode" doc:"What a record's value is: json, an object passed through as it is, or text, wrapped as {\"message\": ...}."`
	Documents  pipeline.DocumentsConfig `yaml:"documents" doc:"What counts as a document, and what becomes of the rest."`
	Batch      pipeline.BatchConfig     `yaml:"batch" doc:"When the documents gathered for one request are sent: at whichever limit is reached first."`
	Memory     pipeline.MemoryConfig    `yaml:"memory" doc:"Bound of everything that is in flight. When it is reached, fetching pauses."`
	Delivery   pipeline.DeliveryConfig  `yaml:"delivery" doc:"How hard to try, and how long to wait. Delivery is at least once; no setting gives that up."`
	HTTP       status.Config            `yaml:"http" doc:"What is seen of Penstock from outside."`
	Log        logging.Config           `yaml:"log" doc:"The log. It shows neither documents nor secrets."`
}

// SourceConfig has one section for each kind of source.
type SourceConfig struct {
	Kafka kafka.Config `yaml:"kafka" doc:"Topics of a Kafka cluster, read as one member of a consumer group."`
}

// SinkConfig has one section for each kind of sink.
type SinkConfig struct {
	Elasticsearch elasticsearch.Config `yaml:"elasticsearch" doc:"Elasticsearch 7 and later, or OpenSearch."`
}

// DefaultConfig lacks only what no default can know: brokers, topics and URLs.
func DefaultConfig() Config {
	return Config{
		Source:     SourceConfig{Kafka: kafka.DefaultConfig()},
		Sink:       SinkConfig{Elasticsearch: elasticsearch.DefaultConfig()},
		DeadLetter: deadletter.DefaultConfig(),
		Decode:     pipeline.DecodeJSON,
		Documents:  pipeline.DefaultDocumentsConfig(),
		Batch:      pipeline.DefaultBatchConfig(),
		Memory:     pipeline.DefaultMemoryConfig(),
		Delivery:   pipeline.DefaultDeliveryConfig(),
		HTTP:       status.DefaultConfig(),
		Log:        logging.DefaultConfig(),
	}
}

// Validate reports what only the whole can know; each section checks itself.
func (c Config) Validate() error {
	var p value.Problems
	p.OneOf("decode", c.Decode, pipeline.DecodeJSON, pipeline.DecodeText)
	if c.Decode == pipeline.DecodeText && c.Documents.Check == pipeline.CheckFull {
		p.Add("documents.check", "has no effect with decode: text: write framing, or decode: json")
	}
	if t := c.DeadLetter.Topic; t != "" && c.Source.Kafka.Reads(t) {
		p.Add("dead_letter.topic", fmt.Sprintf("%q is one of the topics that source.kafka reads, so a dead letter would come back for ever: name another", t))
	}
	return p.Err()
}

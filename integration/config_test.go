package integration

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// config is a configuration by dotted keys: "source.kafka.group".
type config map[string]any

// configFor is a configuration with the waits of a test, which reads one topic.
func configFor(brokers []string, topic, url string) config {
	return config{
		"source.kafka.brokers":          brokers,
		"source.kafka.topics":           []string{topic},
		"source.kafka.group":            topic + "-group",
		"source.kafka.session_timeout":  "10s",
		"source.kafka.fetch_max_wait":   "100ms",
		"source.kafka.metadata_max_age": "1s",
		"sink.elasticsearch.urls":       []string{url},
		"sink.elasticsearch.index":      topic,
		"sink.elasticsearch.eject.max":  "2s",
		"dead_letter.topic":             topic + "-dead",
		"batch.age":                     "100ms",
		"memory.limit":                  "128MiB",
		"delivery.backoff.max":          "2s",
		"delivery.commit_interval":      "500ms",
		"delivery.shutdown_grace":       "30s",
		"http.listen":                   "127.0.0.1:0",
		"log.sampling.first":            0,
	}
}

// with gives a copy with other values. A nil removes a key.
func (c config) with(changes config) config {
	c = maps.Clone(c)
	for key, value := range changes {
		if value == nil {
			delete(c, key)
		} else {
			c[key] = value
		}
	}
	return c
}

// file writes the configuration. JSON is YAML, too.
func (c config) file(t testing.TB) string {
	t.Helper()
	root := map[string]any{}
	for key, value := range c {
		at := root
		names := strings.Split(key, ".")
		for _, name := range names[:len(names)-1] {
			inner, ok := at[name].(map[string]any)
			if !ok {
				inner = map[string]any{}
				at[name] = inner
			}
			at = inner
		}
		at[names[len(names)-1]] = value
	}
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "penstock.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

package main

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// A topic that does not exist is named; when it appears it is read from its
// start, with start: latest too, since nothing of it may be missed.
func TestMissingTopicIsNamedAndThenReadFromItsStart(t *testing.T) {
	w := newWorld(t, 1)
	m := w.start("a", func(c *Config) {
		c.Source.Kafka.Topics = append(c.Source.Kafka.Topics, "later")
		c.Source.Kafka.Start = "latest"
	})
	w.eventually("the missing topic is named", func() bool {
		s := m.status().Source
		return s != nil && strings.Contains(s.Reason, "later") && strings.Contains(s.Reason, "source.kafka.topics")
	})
	cl := w.newClient()
	if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), 1, 1, nil, "later"); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: "later", Value: []byte(`{"a":1}`)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	w.eventually("the new topic is read from its start", func() bool { return m.status().Topics["later"].Stored == 5 })
	w.eventually("nothing is said of it any more", func() bool { return m.status().Source == nil })
	if err := m.stop(); err != nil {
		t.Error(err)
	}
}

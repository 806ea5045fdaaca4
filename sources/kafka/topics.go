package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"go.uber.org/zap"

	"penstock/pipeline"
)

// noteExisting remembers which topics there are when this process starts. With
// start: latest, only of those may anything be left out: a topic that appears
// later is read from its start, however long it takes to be seen.
func (s *Source) noteExisting(ctx context.Context) error {
	s.mu.Lock()
	known := s.existing != nil
	s.mu.Unlock()
	if known || !s.start.latest {
		return nil
	}
	topics, err := s.admin.ListTopics(ctx)
	if err != nil {
		return fmt.Errorf("listing topics: %w", err)
	}
	existing := map[string]bool{}
	for _, t := range topics {
		existing[t.Topic] = t.Err == nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.existing == nil {
		s.existing = existing
	}
	return nil
}

// isNew tells whether the topic has appeared since this process started.
func (s *Source) isNew(topic string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.existing != nil && !s.existing[topic]
}

// absent gives those of the configured topics that do not exist.
func (s *Source) absent(ctx context.Context) []string {
	if s.config.TopicPattern != "" {
		return nil
	}
	found, err := s.admin.ListTopics(ctx, s.config.Topics...)
	if err != nil {
		return nil // the caller's own requests tell
	}
	var absent []string
	for _, topic := range s.config.Topics {
		if t, ok := found[topic]; ok && errors.Is(t.Err, kerr.UnknownTopicOrPartition) {
			absent = append(absent, topic)
		}
	}
	return absent
}

// settleGroup shows that the source as a whole can be read, but for topics that
// do not exist.
func (s *Source) settleGroup(ctx context.Context) {
	absent := s.absent(ctx)
	if absent == nil {
		s.partitions.Hold(nil)
		return
	}
	text := fmt.Sprintf("topics that do not exist: %s: create them, or correct source.kafka.topics", strings.Join(absent, ", "))
	s.partitions.Hold(&pipeline.Hold{State: pipeline.StateHeldSource, Text: text, Since: time.Now()})
	s.limited.Warn("some topics cannot be read", zap.String("error", text))
}

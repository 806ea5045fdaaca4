package kafka

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/zap"

	"penstock/pipeline"
)

// fault shows an error that a poll gave for a partition, or for the whole group
// where there is no such partition.
func (s *Source) fault(topic string, number int32, o *owned, err error) {
	var loss *kgo.ErrDataLoss
	if errors.As(err, &loss) {
		s.metrics.resets.Inc()
		s.log.Error("the partition has lost records", zap.Error(err))
		return
	}
	s.metrics.errors.WithLabelValues("fetch").Inc()
	if o == nil {
		s.partitions.Hold(&pipeline.Hold{State: pipeline.StateHeldSource, Text: explain(err), Since: time.Now()})
		s.limited.Warn("Kafka cannot be read: trying again", zap.String("topic", topic), zap.Int32("partition", number), errorField(err))
		return
	}
	o.gone = o.gone || errors.Is(err, kerr.UnknownTopicID) || errors.Is(err, kerr.InconsistentTopicID)
	if !o.faulty {
		o.faulty = true
		o.assignment.SetHold(&pipeline.Hold{State: pipeline.StateHeldSource, Text: explain(err), Since: time.Now()})
	}
	s.limited.Warn("partition cannot be read: trying again", zap.String("topic", topic), zap.Int32("partition", number), errorField(err))
}

// OnGroupManageError implements kgo.HookGroupManageError.
func (s *Source) OnGroupManageError(err error) {
	if s.closing.Load() {
		return
	}
	s.mu.Lock()
	s.session = false
	s.mu.Unlock()
	s.holdGroup(err)
}

// explain adds what to do to errors where that is known.
func explain(err error) string {
	var large *kgo.ErrDecompressTooLarge
	switch {
	case errors.As(err, &large):
		return fmt.Sprintf("topic %s partition %d: the batch at offset %d is larger than the memory limit when decompressed: raise memory.limit", large.Topic, large.Partition, large.Offset)
	case errors.Is(err, context.DeadlineExceeded):
		return "no broker has answered in time: check source.kafka.brokers, and that they listen there without TLS (" + err.Error() + ")"
	case errors.Is(err, kerr.FencedInstanceID):
		return "another member uses the same source.kafka.instance_id: give each member its own (" + err.Error() + ")"
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.GroupAuthorizationFailed):
		return "the brokers refuse access: allow Read and Describe on the topics and Read on the group (" + err.Error() + ")"
	case errors.Is(err, kerr.UnknownTopicID), errors.Is(err, kerr.InconsistentTopicID):
		return "the topic was deleted; if it is there again, it is another one: restart this member to read that (" + err.Error() + ")"
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return "the topic does not exist (any more): create it, or correct source.kafka.topics (" + err.Error() + ")"
	}
	return err.Error()
}

func errorField(err error) zap.Field { return zap.String("error", explain(err)) }

func encodeTopicID(id [16]byte) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

func quoteTopic(topic string) string { return regexp.QuoteMeta(topic) }

func contains(list []string, s string) bool { return slices.Contains(list, s) }

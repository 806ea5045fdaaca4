package kafka

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"penstock/pipeline"
)

// refreshEvery is how often the partitions' ends are asked for: fetches tell
// them too, but not while fetching is paused, which is when lag matters most.
const refreshEvery = 5 * time.Second

func (s *Source) refreshLoop(ctx context.Context) {
	_ = s.noteExisting(ctx) // if it fails, the first assignment tries again
	t := time.NewTicker(refreshEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.refresh(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// refresh asks the brokers for the ends of the owned partitions, which also
// tells whether they can be reached at all.
func (s *Source) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, refreshEvery)
	defer cancel()
	s.resolveStops(ctx)
	owned := s.ownedNow()
	if len(owned) == 0 {
		s.ping(ctx)
		return
	}
	topics := make([]string, 0, len(owned))
	for topic := range owned {
		topics = append(topics, topic)
	}
	ends, err := s.readableEnds(ctx, topics)
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			s.holdGroup(err)
		}
		return
	}
	starts, err := s.admin.ListStartOffsets(ctx, topics...)
	if err != nil {
		starts = nil // it is for the headroom alone
	}
	s.settleGroup(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	ends.Each(func(end kadm.ListedOffset) {
		o := s.owned[partition{end.Topic, end.Partition}]
		if o == nil || end.Err != nil {
			return
		}
		o.assignment.SetHighWatermark(end.Offset)
		if first, err := lookup(starts, end.Topic, end.Partition); err == nil {
			o.assignment.SetLogStart(first)
		}
		// Only records, or that there are none to read, show that a fault is over.
		if o.faulty && !o.gone && o.position >= end.Offset {
			o.faulty = false
			o.assignment.SetHold(nil)
		}
	})
}

// ping asks whether any broker can be reached, for a member without partitions:
// it may be one too many, but one that cannot join must not look well.
func (s *Source) ping(ctx context.Context) {
	if err := s.client.Ping(ctx); err != nil {
		if !errors.Is(err, context.Canceled) {
			s.holdGroup(err)
		}
		return
	}
	s.mu.Lock()
	session := s.session
	s.mu.Unlock()
	// Without a session there is a fault that a ping does not meet.
	if session {
		s.settleGroup(ctx)
	}
}

// holdGroup shows a fault that concerns the whole source.
func (s *Source) holdGroup(err error) {
	s.metrics.errors.WithLabelValues("group").Inc()
	s.partitions.Hold(&pipeline.Hold{State: pipeline.StateHeldSource, Text: "Kafka at " + strings.Join(s.config.Brokers, ", ") + " (source.kafka.brokers): " + explain(err), Since: time.Now()})
	s.limited.Warn("Kafka cannot be read: trying again", errorField(err))
}

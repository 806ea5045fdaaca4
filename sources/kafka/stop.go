package kafka

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// done tells whether every partition that this member has is at its stop
// offset. A member that has none is done when the group is.
func (s *Source) done(ctx context.Context) bool {
	if s.stop.none() {
		return false
	}
	s.mu.Lock()
	if !s.joined {
		s.mu.Unlock()
		return false
	}
	n := len(s.owned)
	for _, o := range s.owned {
		if o.position < o.stop {
			s.mu.Unlock()
			return false
		}
	}
	ask := n == 0 && time.Since(s.asked) > time.Second
	if ask {
		s.asked = time.Now()
	}
	s.mu.Unlock()
	if n > 0 {
		return true
	}
	return ask && s.groupDone(ctx)
}

// groupDone tells whether the group has committed all that there was to read
// when this was first asked.
func (s *Source) groupDone(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if s.groupEnds == nil {
		topics := s.subscribed(ctx)
		if len(topics) == 0 {
			return false
		}
		b, err := s.bounds(ctx, topics)
		if err != nil || (!s.stop.at.IsZero() && b.atStop == nil) {
			return false
		}
		s.groupEnds = b.stable
		if b.atStop != nil {
			s.groupEnds = b.atStop
		}
	}
	committed, err := s.admin.FetchOffsets(ctx, s.config.Group)
	if err != nil {
		return false
	}
	done := true
	s.groupEnds.Each(func(end kadm.ListedOffset) {
		o, ok := committed.Lookup(end.Topic, end.Partition)
		if end.Err != nil || end.Offset > 0 && (!ok || o.Err != nil || o.At < end.Offset) {
			done = false
		}
	})
	return done
}

// subscribed gives the topics that the configuration reads and that exist.
func (s *Source) subscribed(ctx context.Context) []string {
	if s.config.TopicPattern == "" {
		return s.config.Topics
	}
	all, err := s.admin.ListTopics(ctx)
	if err != nil {
		return nil
	}
	var topics []string
	for _, t := range all.Names() {
		if s.config.Reads(t) && !contains(s.options.Exclude, t) {
			topics = append(topics, t)
		}
	}
	return topics
}

// resolveStops sets the stop offsets of owned partitions once the stop time has come.
func (s *Source) resolveStops(ctx context.Context) {
	if s.stop.at.IsZero() || time.Now().Before(s.stop.at) {
		return
	}
	owned := s.ownedNow()
	var topics []string
	s.mu.Lock()
	for place, o := range s.owned {
		if o.stop == noStop && !contains(topics, place.topic) {
			topics = append(topics, place.topic)
		}
	}
	s.mu.Unlock()
	if topics == nil {
		return
	}
	b, err := s.bounds(ctx, topics)
	if err != nil {
		return
	}
	for _, topic := range topics {
		for _, number := range owned[topic] {
			stop := s.stopFor(b, topic, number)
			s.mu.Lock()
			if o := s.owned[partition{topic, number}]; o != nil {
				o.stop = stop
			}
			s.mu.Unlock()
		}
	}
}

package kafka

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/zap"

	"penstock/pipeline"
)

// noStop is the stop offset of a partition that has none.
const noStop = math.MaxInt64

// startPolicy is where partitions begin that have no committed offset.
type startPolicy struct {
	latest bool
	at     time.Time // the zero time unless a time was given
}

func newStartPolicy(s string) (startPolicy, error) {
	switch s {
	case StartEarliest, "":
		return startPolicy{}, nil
	case StartLatest:
		return startPolicy{latest: true}, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	return startPolicy{at: t}, err
}

// stopPolicy is where partitions end.
type stopPolicy struct {
	lag0 bool
	at   time.Time
}

func newStopPolicy(s string) (stopPolicy, error) {
	switch s {
	case "":
		return stopPolicy{}, nil
	case StopLag0:
		return stopPolicy{lag0: true}, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	return stopPolicy{at: t}, err
}

func (p stopPolicy) none() bool { return !p.lag0 && p.at.IsZero() }

// bounds are a topic's offsets at one moment.
type bounds struct {
	topics   kadm.TopicDetails
	cluster  string
	start    kadm.ListedOffsets
	end      kadm.ListedOffsets // high watermarks
	stable   kadm.ListedOffsets // what the isolation level lets be read
	atStart  kadm.ListedOffsets // at the start time, if one is set
	atStop   kadm.ListedOffsets // at the stop time, if one is set and has passed
	topicHas map[string]bool    // the group has commits for the topic
}

// adjust is called with the committed offsets of partitions that were just
// assigned, before they are fetched. It makes every start exact, so that the
// start itself can be committed, and begins their assignments.
func (s *Source) adjust(ctx context.Context, offsets map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	if len(offsets) == 0 {
		return offsets, nil
	}
	<-s.made
	topics := make([]string, 0, len(offsets))
	for topic := range offsets {
		topics = append(topics, topic)
	}
	b, err := s.bounds(ctx, topics)
	if err == nil {
		err = s.noteExisting(ctx)
	}
	if err != nil {
		err = fmt.Errorf("finding where to start: %w", err)
		s.holdGroup(err)
		return nil, err
	}
	for topic, partitions := range offsets {
		for number, committed := range partitions {
			start, err := s.startAt(b, topic, number, committed.EpochOffset())
			if err != nil {
				s.holdGroup(err)
				return nil, err
			}
			partitions[number] = kgo.NewOffset().At(start.Offset).WithEpoch(start.Epoch)
			s.begin(b, topic, number, start.Offset, committed.EpochOffset().Offset)
		}
	}
	return offsets, nil
}

// begin begins an assignment.
func (s *Source) begin(b *bounds, topic string, number int32, start, committed int64) {
	id := b.cluster + "/" + topic
	if t := b.topics[topic]; t.ID != (kadm.TopicID{}) {
		id = encodeTopicID(t.ID)
	}
	a := s.partitions.Assign(pipeline.Origin{Topic: topic, TopicID: id, Partition: number}, start)
	if committed > start {
		// It is of a log that is no more. Where the new start stays uncommitted, a
		// log that has outgrown the old offset would be read from there after a
		// restart, and what is before it never.
		committed = -1
	}
	o := &owned{assignment: a, position: start, committed: max(committed, -1), stop: s.stopFor(b, topic, number)}
	if end, ok := b.stable.Lookup(topic, number); ok && end.Err == nil {
		a.SetHighWatermark(end.Offset)
	}
	if first, err := lookup(b.start, topic, number); err == nil {
		a.SetLogStart(first)
	}
	place := partition{topic, number}
	s.mu.Lock()
	s.owned[place] = o
	done := o.position >= o.stop
	s.mu.Unlock()
	if done {
		s.client.PauseFetchPartitions(byTopic([]partition{place}))
	} else {
		// It may be paused since it was last owned.
		s.client.ResumeFetchPartitions(byTopic([]partition{place}))
	}
}

// startAt decides where one partition begins.
func (s *Source) startAt(b *bounds, topic string, number int32, committed kgo.EpochOffset) (kgo.EpochOffset, error) {
	first, err := lookup(b.start, topic, number)
	if err != nil {
		return committed, err
	}
	end, err := lookup(b.end, topic, number)
	if err != nil {
		return committed, err
	}
	exact := func(offset int64) kgo.EpochOffset { return kgo.EpochOffset{Epoch: -1, Offset: offset} }
	where := []zap.Field{zap.String("topic", topic), zap.Int32("partition", number), zap.Int64("committed", committed.Offset), zap.Int64("log_start", first), zap.Int64("log_end", end)}
	switch {
	case committed.Offset >= 0 && committed.Offset < first:
		lost := first - committed.Offset
		s.metrics.lost.Add(float64(lost))
		s.log.Error("records were deleted before they were read: the committed offset is below the log's start; check the topic's retention", append(where, zap.Int64("lost", lost))...)
		return exact(first), nil
	case committed.Offset > end:
		s.metrics.resets.Inc()
		s.log.Error("the committed offset is beyond the log's end: the topic was re-created or has lost data; reading it from its start", where...)
		return exact(first), nil
	case committed.Offset >= 0:
		return committed, nil
	case b.topicHas[topic]:
		// The group knows the topic, so this partition is new: nothing of it may be missed.
		return exact(first), nil
	case s.start.latest && s.isNew(topic):
		return exact(first), nil
	case s.start.latest:
		latest, err := lookup(b.stable, topic, number)
		return exact(latest), err
	case !s.start.at.IsZero():
		at, err := lookup(b.atStart, topic, number)
		return exact(at), err
	}
	return exact(first), nil
}

// stopFor decides where one partition ends.
func (s *Source) stopFor(b *bounds, topic string, number int32) int64 {
	if s.stop.none() {
		return noStop
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop, ok := s.stops[partition{topic, number}]; ok {
		return stop
	}
	from := b.stable
	if !s.stop.at.IsZero() {
		if from = b.atStop; from == nil {
			return noStop // its time is to come
		}
	}
	stop, err := lookup(from, topic, number)
	if err != nil {
		return noStop
	}
	s.stops[partition{topic, number}] = stop
	return stop
}

// bounds asks the brokers for what start and stop need.
func (s *Source) bounds(ctx context.Context, topics []string) (*bounds, error) {
	meta, err := s.admin.Metadata(ctx, topics...)
	if err != nil {
		return nil, err
	}
	b := &bounds{topics: meta.Topics, cluster: meta.Cluster, topicHas: map[string]bool{}}
	if b.start, err = s.admin.ListStartOffsets(ctx, topics...); err != nil {
		return nil, err
	}
	if b.end, err = s.admin.ListEndOffsets(ctx, topics...); err != nil {
		return nil, err
	}
	if b.stable, err = s.readableEnds(ctx, topics); err != nil {
		return nil, err
	}
	if !s.start.at.IsZero() {
		if b.atStart, err = s.admin.ListOffsetsAfterMilli(ctx, s.start.at.UnixMilli(), topics...); err != nil {
			return nil, err
		}
	}
	if !s.stop.at.IsZero() && time.Now().After(s.stop.at) {
		if b.atStop, err = s.admin.ListOffsetsAfterMilli(ctx, s.stop.at.UnixMilli(), topics...); err != nil {
			return nil, err
		}
	}
	if s.start.latest || !s.start.at.IsZero() {
		committed, err := s.admin.FetchOffsets(ctx, s.config.Group)
		if err != nil {
			return nil, err
		}
		committed.Each(func(o kadm.OffsetResponse) {
			if o.Err == nil && o.At >= 0 {
				b.topicHas[o.Topic] = true
			}
		})
	}
	return b, nil
}

// readableEnds gives the offsets up to which the isolation level lets be read.
func (s *Source) readableEnds(ctx context.Context, topics []string) (kadm.ListedOffsets, error) {
	if s.config.IsolationLevel == ReadCommitted {
		return s.admin.ListCommittedOffsets(ctx, topics...)
	}
	return s.admin.ListEndOffsets(ctx, topics...)
}

func lookup(l kadm.ListedOffsets, topic string, number int32) (int64, error) {
	o, ok := l.Lookup(topic, number)
	if !ok {
		return 0, fmt.Errorf("topic %s partition %d: the brokers do not list its offsets", topic, number)
	}
	if o.Err != nil {
		return 0, fmt.Errorf("topic %s partition %d: listing offsets: %w", topic, number, o.Err)
	}
	return o.Offset, nil
}

package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// commitLock lets one commit run at a time. A revoke cuts a slow one short.
type commitLock struct {
	turn   chan struct{}
	cancel chan context.CancelFunc // holds the running commit's cancel, if any
}

func newCommitLock() commitLock {
	return commitLock{make(chan struct{}, 1), make(chan context.CancelFunc, 1)}
}

// enter waits for its turn; urgent ends a commit that is running.
func (l commitLock) enter(ctx context.Context, urgent bool) (context.Context, func(), error) {
	if urgent {
		select {
		case cancel := <-l.cancel:
			cancel()
		default:
		}
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	ctx, cancel := context.WithCancel(ctx)
	l.cancel <- cancel
	return ctx, func() {
		cancel()
		select {
		case <-l.cancel:
		default:
		}
		<-l.turn
	}, nil
}

// Commit implements pipeline.Source.
func (s *Source) Commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.config.SessionTimeout)
	defer cancel()
	return s.commit(ctx, false)
}

// commit makes the watermarks durable that have moved since they last were.
func (s *Source) commit(ctx context.Context, urgent bool) error {
	ctx, leave, err := s.commits.enter(ctx, urgent)
	if err != nil {
		return fmt.Errorf("waiting for an earlier commit: %w", err)
	}
	defer leave()
	offsets := s.moved()
	if len(offsets) == 0 {
		return nil
	}
	var failure error
	s.client.CommitOffsetsSync(ctx, offsets, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
		if err != nil {
			failure = err
			return
		}
		failure = s.committed(offsets, resp)
	})
	if failure != nil {
		s.metrics.commits.WithLabelValues("failed").Inc()
		return fmt.Errorf("committing offsets of group %s: %w", s.config.Group, failure)
	}
	s.metrics.commits.WithLabelValues("ok").Inc()
	return nil
}

// moved gives the watermarks that are above what is committed.
func (s *Source) moved() map[string]map[int32]kgo.EpochOffset {
	s.mu.Lock()
	defer s.mu.Unlock()
	var offsets map[string]map[int32]kgo.EpochOffset
	for place, o := range s.owned {
		w := o.assignment.Watermark()
		if w < 0 || w <= o.committed {
			continue
		}
		if offsets == nil {
			offsets = map[string]map[int32]kgo.EpochOffset{}
		}
		if offsets[place.topic] == nil {
			offsets[place.topic] = map[int32]kgo.EpochOffset{}
		}
		offsets[place.topic][place.number] = kgo.EpochOffset{Epoch: -1, Offset: w}
	}
	return offsets
}

// committed notes what the broker has taken, and gives the first refusal.
func (s *Source) committed(offsets map[string]map[int32]kgo.EpochOffset, resp *kmsg.OffsetCommitResponse) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failure error
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				if failure == nil {
					failure = fmt.Errorf("topic %s partition %d: %w", t.Topic, p.Partition, err)
				}
				continue
			}
			if o := s.owned[partition{t.Topic, p.Partition}]; o != nil {
				o.committed = max(o.committed, offsets[t.Topic][p.Partition].Offset)
			}
		}
	}
	return failure
}

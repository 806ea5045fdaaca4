package kafka

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/zap"

	"penstock/pipeline"
)

// revokeCommit bounds the commit in a revoke: with RevokeTimeout (at most 4 s)
// it keeps the callback within 5 s.
const revokeCommit = time.Second

// onAssigned is called at the start of every group session. What was assigned
// becomes an Assignment in adjust, when its start is known.
func (s *Source) onAssigned(_ context.Context, _ *kgo.Client, added map[string][]int32) {
	s.mu.Lock()
	s.joined, s.session = true, true
	s.mu.Unlock()
	s.partitions.Hold(nil)
	s.metrics.rebalances.WithLabelValues("assigned").Inc()
	s.log.Info("partitions assigned", zap.Int("added", count(added)), zap.Any("partitions", added))
}

// onRevoked gives partitions up in good order: finish what is on its way,
// commit, forget. After it returns, nothing is committed for them.
func (s *Source) onRevoked(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	if len(gone) == 0 {
		return
	}
	<-s.made
	began := time.Now()
	owned := s.pick(gone)
	as := assignments(owned)
	// Not the callback's context: that one ends only with the client.
	ctx, cancel := context.WithTimeout(context.Background(), s.options.RevokeTimeout)
	if !s.closing.Load() {
		s.partitions.Drain(ctx, as)
	}
	cancel()
	ctx, cancel = context.WithTimeout(context.Background(), revokeCommit)
	defer cancel()
	if err := s.commit(ctx, true); err != nil {
		s.log.Warn("committing revoked partitions failed: their next owner will read some records again", zap.Error(err))
	}
	s.forget(gone, as)
	s.metrics.rebalances.WithLabelValues("revoked").Inc()
	s.log.Info("partitions revoked", zap.Int("count", len(as)), zap.Duration("took", time.Since(began)), zap.Any("partitions", gone))
}

// onLost forgets partitions that another member may have already: no commit.
func (s *Source) onLost(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	if len(gone) == 0 {
		return
	}
	as := assignments(s.pick(gone))
	s.forget(gone, as)
	s.metrics.rebalances.WithLabelValues("lost").Inc()
	s.log.Warn("partitions lost: the group has given them to others; records in flight will be read again", zap.Int("count", len(as)), zap.Any("partitions", gone))
}

func (s *Source) pick(gone map[string][]int32) []*owned {
	s.mu.Lock()
	defer s.mu.Unlock()
	var picked []*owned
	for topic, numbers := range gone {
		for _, n := range numbers {
			if o := s.owned[partition{topic, n}]; o != nil {
				picked = append(picked, o)
			}
		}
	}
	return picked
}

func assignments(all []*owned) []*pipeline.Assignment {
	as := make([]*pipeline.Assignment, len(all))
	for i, o := range all {
		as[i] = o.assignment
	}
	return as
}

func (s *Source) forget(gone map[string][]int32, as []*pipeline.Assignment) {
	s.partitions.End(as)
	s.mu.Lock()
	defer s.mu.Unlock()
	for topic, numbers := range gone {
		for _, n := range numbers {
			delete(s.owned, partition{topic, n})
		}
	}
}

// ownedNow gives the partitions that are owned, by topic.
func (s *Source) ownedNow() map[string][]int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return byTopic(slices.Collect(maps.Keys(s.owned)))
}

func count(m map[string][]int32) int {
	n := 0
	for _, p := range m {
		n += len(p)
	}
	return n
}

package kafka

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// joining is how long the end waits for a client that may be joining its group.
// While a rebalance waits for a member that died, that can take as long as a
// session: the client holds its commits back meanwhile, and does not leave.
const joining = time.Second

// Close implements pipeline.Source.
func (s *Source) Close(ctx context.Context) error {
	s.closing.Store(true)
	s.refreshStop()
	<-s.refreshed
	err := s.lastCommit(ctx)
	left := make(chan error, 1)
	go func() {
		lerr := s.client.LeaveGroupContext(ctx)
		s.client.CloseAllowingRebalance()
		left <- lerr
	}()
	// Whatever the client still waits for then, it is over.
	defer s.abort()
	hurry := time.NewTimer(joining)
	defer hurry.Stop()
	for direct := false; ; {
		select {
		case lerr := <-left:
			if lerr != nil && !direct {
				err = errors.Join(err, fmt.Errorf("leaving the consumer group: %w", lerr))
			}
			return err
		case <-hurry.C:
			if direct = s.leaveDirect(ctx) == nil; direct {
				s.abort()
			}
		case <-ctx.Done():
			return errors.Join(err, fmt.Errorf("leaving the consumer group: %w", ctx.Err()))
		}
	}
}

// lastCommit commits what is final, past a client that holds commits back.
func (s *Source) lastCommit(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, joining)
	defer cancel()
	err := s.commit(short, true)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return s.commitDirect(ctx)
}

// commitDirect is commit without the client's own order of things. The group
// takes it from a member that is joining again: until that is through, the
// partitions are its own, under the last generation.
func (s *Source) commitDirect(ctx context.Context) error {
	offsets := s.moved()
	if len(offsets) == 0 {
		return nil
	}
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group = s.config.Group
	req.MemberID, req.Generation = s.client.GroupMetadata()
	if s.config.InstanceID != "" {
		req.InstanceID = kmsg.StringPtr(s.config.InstanceID)
	}
	names := map[[16]byte]string{}
	for topic, partitions := range offsets {
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic, t.TopicID = topic, s.topicID(topic)
		names[t.TopicID] = topic
		for number, o := range partitions {
			t.Partitions = append(t.Partitions, commitOf(number, o))
		}
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, s.client)
	if err == nil {
		for i := range resp.Topics {
			if t := &resp.Topics[i]; t.Topic == "" {
				t.Topic = names[t.TopicID]
			}
		}
		err = s.committed(offsets, resp)
	}
	if err != nil {
		return fmt.Errorf("committing offsets of group %s: %w", s.config.Group, err)
	}
	return nil
}

func commitOf(number int32, o kgo.EpochOffset) kmsg.OffsetCommitRequestTopicPartition {
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset, p.LeaderEpoch = number, o.Offset, o.Epoch
	return p
}

// topicID gives the broker's id of a topic that is owned, zero where it has none.
func (s *Source) topicID(topic string) (id [16]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for place, o := range s.owned {
		if place.topic == topic {
			if b, err := base64.RawURLEncoding.DecodeString(o.assignment.Origin().TopicID); err == nil && len(b) == len(id) {
				copy(id[:], b)
			}
			break
		}
	}
	return id
}

// leaveDirect tells the group that this member is gone, without waiting for a
// join that is under way. A static member stays until its session ends.
func (s *Source) leaveDirect(ctx context.Context) error {
	id, _ := s.client.GroupMetadata()
	if id == "" || s.config.InstanceID != "" {
		return nil
	}
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.MemberID = s.config.Group, id
	m := kmsg.NewLeaveGroupRequestMember()
	m.MemberID = id
	req.Members = append(req.Members, m)
	_, err := req.RequestWith(ctx, s.client)
	return err
}

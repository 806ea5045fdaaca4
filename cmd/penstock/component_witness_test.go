package main

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"penstock/sinks/deadletter"
	"penstock/sinks/elasticsearch/estest"
)

// place is where a record came from.
type place struct {
	topic     string
	partition int32
	offset    int64
}

// witness sees what the service does to the outside, in order: documents that
// the search server stores and offsets that it commits.
type witness struct {
	world *world

	mu      sync.Mutex
	moment  int // counts what was seen
	topics  map[[16]byte]string
	stored  map[place][]sighting
	commits map[place][]commit // by topic and partition, offset 0
	leaves  int
}

type sighting struct {
	moment int
	doc    estest.Doc
}

type commit struct {
	moment  int
	offset  int64
	member  string
	letters int64 // how many dead letters there were
	at      time.Time
}

func newWitness(w *world) *witness {
	s := &witness{world: w, topics: map[[16]byte]string{}, stored: map[place][]sighting{}, commits: map[place][]commit{}}
	s.learnTopics()
	w.search.Stored(s.sawStored)
	w.kafka.ControlKey(int16(kmsg.OffsetCommit), s.sawCommit)
	w.kafka.ControlKey(int16(kmsg.LeaveGroup), func(kmsg.Request) (kmsg.Response, error, bool) {
		s.mu.Lock()
		s.leaves++
		s.mu.Unlock()
		return nil, nil, false
	})
	return s
}

// learnTopics asks for the ids of all topics. It must be told of new ones.
func (s *witness) learnTopics() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	topics, err := s.world.admin.ListTopics(ctx)
	if err != nil {
		s.world.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range topics {
		s.topics[t.ID] = t.Topic
	}
}

// sawStored notes a document. Its id ends in partition, offset and epoch.
func (s *witness) sawStored(d estest.Doc) {
	parts := strings.Split(d.ID, ":")
	if len(parts) < 4 {
		s.world.Errorf("a document was stored under the id %q", d.ID)
		return
	}
	parts = parts[len(parts)-4:]
	partition, err1 := strconv.Atoi(parts[1])
	offset, err2 := strconv.ParseInt(parts[2], 10, 64)
	if err1 != nil || err2 != nil {
		s.world.Errorf("a document was stored under the id %q", d.ID)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moment++
	topic := parts[0]
	for id, name := range s.topics {
		if encodeTopicID(id) == topic {
			topic = name
		}
	}
	at := place{topic, int32(partition), offset}
	s.stored[at] = append(s.stored[at], sighting{s.moment, d})
}

// sawCommit notes what a member commits, before the broker does.
func (s *witness) sawCommit(r kmsg.Request) (kmsg.Response, error, bool) {
	req := r.(*kmsg.OffsetCommitRequest)
	if req.MemberID == "" {
		return nil, nil, false // the test's own
	}
	var letters int64
	for _, p := range s.world.kafka.PartitionInfos(dead) {
		letters += p.HighWatermark
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moment++
	for _, t := range req.Topics {
		name := t.Topic
		if name == "" {
			name = s.topics[t.TopicID]
		}
		for _, p := range t.Partitions {
			key := place{topic: name, partition: p.Partition}
			s.commits[key] = append(s.commits[key], commit{s.moment, p.Offset, req.MemberID, letters, time.Now()})
		}
	}
	return nil, nil, false
}

// commitsOf gives the commits of a partition of logs so far.
func (s *witness) commitsOf(partition int32) []commit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commits[place{topic: logs, partition: partition}])
}

// count tells how many records of logs are stored.
func (s *witness) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.stored)
}

// isStored tells whether the search server has a record of logs.
func (s *witness) isStored(partition int32, offset int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.stored[place{logs, partition, offset}]) > 0
}

// letter is a dead letter, with the source place that its headers tell.
type letter struct {
	from   place
	record *kgo.Record
}

// header gives the last header of that name.
func (l letter) header(key string) string {
	for _, h := range slices.Backward(l.record.Headers) {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

// letters reads the dead-letter topic.
func (w *world) letters() []letter {
	w.Helper()
	var all []letter
	for _, r := range w.read(dead) {
		l := letter{record: r}
		partition, err1 := strconv.Atoi(l.header(deadletter.HeaderPartition))
		offset, err2 := strconv.ParseInt(l.header(deadletter.HeaderOffset), 10, 64)
		if err1 != nil || err2 != nil {
			w.Fatalf("a dead letter does not tell where it is from: %v", r.Headers)
		}
		l.from = place{l.header(deadletter.HeaderTopic), int32(partition), offset}
		all = append(all, l)
	}
	return all
}

// read gives all committed records of a topic, transaction markers included.
func (w *world) read(topic string) []*kgo.Record {
	w.Helper()
	start := map[int32]kgo.Offset{}
	left := map[int32]int64{}
	for _, p := range w.kafka.PartitionInfos(topic) {
		if p.HighWatermark > p.LogStartOffset {
			start[p.Partition], left[p.Partition] = kgo.NewOffset().At(p.LogStartOffset), p.HighWatermark
		}
	}
	if len(left) == 0 {
		return nil
	}
	c := w.newClient(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: start}), kgo.KeepControlRecords(), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var all []*kgo.Record
	for len(left) > 0 {
		f := c.PollFetches(ctx)
		if ctx.Err() != nil {
			w.Fatalf("reading %s to its end took too long", topic)
		}
		f.EachRecord(func(r *kgo.Record) {
			all = append(all, r)
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
		})
	}
	return all
}

package integration

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/integration/servers"
	"penstock/sinks/elasticsearch/estest"
)

// What an embedded broker cannot show. The sink is a search server in this
// process, so that the tests are about Kafka alone.
func TestKafka(t *testing.T) {
	b := newBroker(t, servers.KafkaOptions{})
	for _, test := range []struct {
		name string
		run  func(*stand)
	}{
		{"transactions", testTransactions},
		{"open-transaction", testOpenTransaction},
		{"uncommitted", testReadUncommitted},
		{"static-member", testStaticMember},
		{"same-instance", testSameInstance},
		{"pattern", testPattern},
		{"timestamps", testTimestamps},
		{"stop-to-come", testStopToCome},
		{"rebalances", testRebalances},
		{"exit-codes", testExitCodes},
		// The last, for it stops the broker.
		{"broker-down-at-start", testBrokerDownAtStart},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run(newStand(t, b, test.name))
		})
	}
}

// stand is what a test of the source works with: a broker that others use too,
// topics of its own, and a sink of its own.
type stand struct {
	*broker
	sink  *estest.Server
	topic string
	group string
	dead  string
}

func newStand(t *testing.T, b *broker, topic string) *stand {
	t.Helper()
	own := *b
	own.t = t
	s := &stand{broker: &own, sink: estest.New(t), topic: topic, group: topic + "-group", dead: topic + "-dead"}
	s.create(1, s.dead)
	return s
}

// config is a configuration for the stand's topic.
func (s *stand) config() config { return configFor(s.Brokers(), s.topic, s.sink.URL) }

// records makes n small documents that differ, one a partition in turn.
func (s *stand) records(n int, partitions int32, text string) []*kgo.Record {
	all := make([]*kgo.Record, n)
	for i := range all {
		all[i] = &kgo.Record{Topic: s.topic, Partition: int32(i) % partitions, Value: fmt.Appendf(nil, `{"text":%q,"n":%d}`, text, i)}
	}
	return all
}

// documentOf gives the id and the content that a record's document must have.
func (s *stand) documents(records []*kgo.Record) map[string]string {
	s.t.Helper()
	ids := map[string]string{}
	all := map[string]string{}
	for _, r := range records {
		if ids[r.Topic] == "" {
			ids[r.Topic] = s.topicID(r.Topic)
		}
		all[fmt.Sprintf("%s:%d:%d:%d", ids[r.Topic], r.Partition, r.Offset, r.LeaderEpoch)] = string(r.Value)
	}
	return all
}

// stored tells how the documents of an index differ from those of the records.
func (s *stand) stored(index string, records []*kgo.Record) error {
	got, want := s.sink.Documents(index), s.documents(records)
	if maps.Equal(got, want) {
		return nil
	}
	for id, source := range want {
		if got[id] != source {
			return fmt.Errorf("%d documents are stored, want %d; under %s is %q, want %q", len(got), len(want), id, got[id], source)
		}
	}
	for id, source := range got {
		if _, ok := want[id]; !ok {
			return fmt.Errorf("%d documents are stored, want %d; under %s is %q, want none", len(got), len(want), id, source)
		}
	}
	return nil
}

func (s *stand) mustStore(index string, records []*kgo.Record) {
	s.t.Helper()
	if err := s.stored(index, records); err != nil {
		s.t.Errorf("%s: %v", index, err)
	}
}

// mustCommit checks that the group has committed exactly these offsets.
func (s *stand) mustCommit(group string, want offsets) {
	s.t.Helper()
	got, err := s.committed(group, s.topic)
	if err == nil {
		err = same(got, want)
	}
	if err != nil {
		s.t.Errorf("%s: %v", group, err)
	}
}

// endsNow are the topic's ends.
func (s *stand) endsNow() offsets {
	s.t.Helper()
	ends, err := s.ends(s.topic)
	if err != nil {
		s.t.Fatal(err)
	}
	return ends
}

// owners waits until the members share so many partitions, each with some, and
// gives what each has.
func (s *stand) owners(partitions int, members ...*process) []map[int32]bool {
	s.t.Helper()
	var all []map[int32]bool
	eventually(s.t, fmt.Sprintf("%d members to share %d partitions", len(members), partitions), func() error {
		all = nil
		n := 0
		for _, m := range members {
			status, err := m.status()
			if err != nil {
				return err
			}
			own := map[int32]bool{}
			for _, q := range status.Partitions {
				own[q.Partition] = true
			}
			all = append(all, own)
			n += len(own)
			if fair := partitions / len(members); len(own) < fair {
				return fmt.Errorf("%s has %d partitions, want %d or more", m.name, len(own), fair)
			}
		}
		if n != partitions {
			return fmt.Errorf("they have %d", n)
		}
		return nil
	})
	return all
}

// timestamp writes a time as settings take it.
func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

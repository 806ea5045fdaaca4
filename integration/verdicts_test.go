package integration

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/integration/servers"
)

// largestRequest is the most that the search servers of these tests take, in
// bytes: small, so that it can be met.
const largestRequest = 300_000

// What real search servers say of documents, indices and requests, and what
// Penstock makes of it: stored, held or dead-lettered.
func TestVerdicts(t *testing.T) {
	b := newBroker(t, servers.KafkaOptions{})
	for _, kind := range servers.SearchKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := newSearch(t, kind, servers.SearchOptions{Settings: map[string]string{"http.max_content_length": fmt.Sprintf("%db", largestRequest)}})
			for _, test := range []struct {
				name string
				run  func(*court)
			}{
				{"documents", testDocuments},
				{"read-only", testReadOnly},
				{"write-block", testWriteBlock},
				{"closed", testClosed},
				{"missing", testMissing},
				{"systematic", testSystematic},
				{"too-large", testTooLarge},
				{"created", testCreated},
				{"compression", testCompression},
				{"data-stream", testDataStream},
			} {
				t.Run(test.name, func(t *testing.T) { test.run(newCourt(t, b, s, string(kind)+"-"+test.name)) })
			}
		})
	}
}

// court is what a test of verdicts works with: a broker and a search server
// that others use too, and topics of its own.
type court struct {
	*broker
	search *search
	topic  string
	group  string
	dead   string
}

func newCourt(t *testing.T, b *broker, s *search, topic string) *court {
	t.Helper()
	kafka, server := *b, *s
	kafka.t, server.t = t, t
	c := &court{broker: &kafka, search: &server, topic: topic, group: topic + "-group", dead: topic + "-dead"}
	c.create(2, c.topic)
	c.create(1, c.dead)
	return c
}

// config is a configuration with the topic's own index.
func (c *court) config() config { return configFor(c.Brokers(), c.topic, c.search.URL()) }

// values writes values to one partition.
func (c *court) values(partition int32, values ...[]byte) {
	c.t.Helper()
	records := make([]*kgo.Record, len(values))
	for i, v := range values {
		records[i] = &kgo.Record{Topic: c.topic, Partition: partition, Value: v}
	}
	c.send(records...)
}

// lag0 waits until all is committed.
func (c *court) lag0() {
	c.t.Helper()
	c.awaitLag0(patience, c.group, c.topic)
}

// contents are the documents of an index, in no order: ids are looked at by the
// proof.
func (c *court) contents(index string) []string {
	c.t.Helper()
	return slices.Sorted(maps.Values(c.search.documents(index)))
}

// mustContain checks that an index has exactly these documents.
func (c *court) mustContain(index string, values ...[]byte) {
	c.t.Helper()
	var want []string
	for _, v := range values {
		want = append(want, string(v))
	}
	slices.Sort(want)
	if got := c.contents(index); !slices.Equal(got, want) {
		c.t.Errorf("%s has %d documents, want %d:\ngot  %.2000q\nwant %.2000q", index, len(got), len(want), got, want)
	}
}

// mustLetters checks that the dead letters are of exactly these offsets of
// partition 0, each with one of the error types.
func (c *court) mustLetters(want map[int64][]string) {
	c.t.Helper()
	seen := map[int64]bool{}
	for _, l := range c.letters(c.dead) {
		types, ok := want[l.from.offset]
		if !ok || l.from.partition != 0 || l.from.topic != c.topic {
			c.t.Errorf("a dead letter that should not be: %v %v", l.from, l.added)
			continue
		}
		if seen[l.from.offset] = true; !slices.Contains(types, l.added["penstock.error.type"]) {
			c.t.Errorf("offset %d: the dead letter says %v, want one of %v", l.from.offset, l.added, types)
		}
	}
	for offset, types := range want {
		if !seen[offset] {
			c.t.Errorf("offset %d has no dead letter, want one of %v", offset, types)
		}
	}
}

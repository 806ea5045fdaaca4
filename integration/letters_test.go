package integration

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// letter is a dead letter, taken apart into what Penstock added and the rest.
type letter struct {
	from   place
	added  map[string]string // headers that begin with penstock.
	record *kgo.Record
	others []kgo.RecordHeader
}

// letters reads a dead-letter topic.
func (b *broker) letters(topic string) []letter {
	b.t.Helper()
	var all []letter
	for _, r := range b.read(topic) {
		l := letter{record: r, added: map[string]string{}}
		for _, h := range r.Headers {
			if strings.HasPrefix(h.Key, "penstock.") {
				l.added[h.Key] = string(h.Value)
			} else {
				l.others = append(l.others, h)
			}
		}
		partition, err1 := strconv.ParseInt(l.added["penstock.partition"], 10, 32)
		offset, err2 := strconv.ParseInt(l.added["penstock.offset"], 10, 64)
		if err1 != nil || err2 != nil {
			b.t.Errorf("a dead letter does not say where it comes from: %v", r.Headers)
			continue
		}
		l.from = place{l.added["penstock.topic"], int32(partition), offset}
		all = append(all, l)
	}
	return all
}

// original tells how the letter differs from the record that it keeps.
func (l letter) original(r *kgo.Record) error {
	switch got := l.record; {
	case !equalOrNull(got.Key, r.Key):
		return fmt.Errorf("its key is %q, not %q", got.Key, r.Key)
	case !equalOrNull(got.Value, r.Value):
		return fmt.Errorf("its value is %q, not %q", got.Value, r.Value)
	case !got.Timestamp.Equal(r.Timestamp):
		return fmt.Errorf("its timestamp is %v, not %v", got.Timestamp, r.Timestamp)
	case len(l.others) != len(r.Headers):
		return fmt.Errorf("it has %d headers of the original, not %d", len(l.others), len(r.Headers))
	}
	for i, h := range r.Headers {
		if got := l.others[i]; got.Key != h.Key || !equalOrNull(got.Value, h.Value) {
			return fmt.Errorf("its header %d is %s=%q, not %s=%q", i, got.Key, got.Value, h.Key, h.Value)
		}
	}
	if got := l.added["penstock.leader_epoch"]; got != strconv.Itoa(int(r.LeaderEpoch)) {
		return fmt.Errorf("its leader epoch is %s, not %d", got, r.LeaderEpoch)
	}
	return nil
}

func equalOrNull(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

// encodeID writes a topic's id as in document ids and dead letters.
func encodeID(id kadm.TopicID) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

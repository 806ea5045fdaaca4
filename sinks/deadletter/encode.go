package deadletter

import (
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/pipeline"
)

// The headers that say where a dead letter comes from and why. They follow the
// record's own headers. Source place and epoch together tell copies of one
// letter apart from letters of other records: dead letters are written at least once.
const (
	HeaderTopic       = "penstock.topic"        // source topic
	HeaderTopicID     = "penstock.topic_id"     // its id, which a re-created topic does not share
	HeaderPartition   = "penstock.partition"    // source partition, decimal
	HeaderOffset      = "penstock.offset"       // source offset, decimal
	HeaderEpoch       = "penstock.leader_epoch" // leader epoch of the record, decimal, -1 if unknown
	HeaderDestination = "penstock.destination"  // index it was meant for; absent if it was never routed
	HeaderStatus      = "penstock.error.status" // HTTP status of the refusal; absent if it was never sent
	HeaderType        = "penstock.error.type"   // machine-readable reason
	HeaderReason      = "penstock.error.reason" // the same for people, at most 1 KiB
	HeaderTime        = "penstock.time"         // when it was refused, RFC 3339, UTC
)

// encode makes the Kafka record of a letter: key, value, headers and timestamp
// of the original, then the reason.
func encode(l *pipeline.DeadLetter) *kgo.Record {
	r := &kgo.Record{Key: l.Record.Key, Value: l.Record.Value, Timestamp: l.Record.Timestamp}
	r.Headers = make([]kgo.RecordHeader, 0, len(l.Record.Headers)+10)
	for _, h := range l.Record.Headers {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
	}
	add := func(key, value string) {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: key, Value: []byte(value)})
	}
	add(HeaderTopic, l.Record.Topic)
	add(HeaderTopicID, l.Record.TopicID)
	add(HeaderPartition, strconv.Itoa(int(l.Record.Partition)))
	add(HeaderOffset, strconv.FormatInt(l.Record.Offset, 10))
	add(HeaderEpoch, strconv.Itoa(int(l.Record.LeaderEpoch)))
	if l.Destination != "" {
		add(HeaderDestination, l.Destination)
	}
	if l.Reason.Status != 0 {
		add(HeaderStatus, strconv.Itoa(l.Reason.Status))
	}
	add(HeaderType, l.Reason.Type)
	add(HeaderReason, l.Reason.Text)
	add(HeaderTime, time.Now().UTC().Format(time.RFC3339Nano))
	return r
}

package pipeline

import "time"

// Origin is where a run of records came from: one partition of one topic.
// Sources make one per assignment, so a sink may cache by its address what it
// derives from it (an id prefix, a rendered template).
type Origin struct {
	// Topic is the topic's name.
	Topic string
	// TopicID tells a topic from another of the same name that was deleted: the
	// broker's UUID, base64url without padding, or "cluster/name" where the
	// broker has none.
	TopicID string
	// Partition is the partition's number.
	Partition int32
}

// Header is one Kafka record header. Keys may repeat; a nil Value is a null.
type Header struct {
	Key   string
	Value []byte
}

// Record is one message as the pipeline and the sinks see it. Key, Value and
// header values alias the fetch buffer: they stay unchanged for as long as the
// record's chunk is referenced, and must not be written to.
type Record struct {
	*Origin
	// Offset is the record's place in its partition.
	Offset int64
	// LeaderEpoch is the epoch of the leader that wrote the record, -1 if unknown.
	LeaderEpoch int32
	// Timestamp is the record's own time; the zero time where the broker has none.
	Timestamp time.Time
	// Key is nil for a null key, empty for a key of no bytes.
	Key []byte
	// Value is nil for a tombstone, empty for a value of no bytes.
	Value []byte
	// Headers in their original order.
	Headers []Header
	// Control marks a transaction marker: it has an offset and nothing to store.
	Control bool
}

// Records gives random access to the records of one chunk without copying
// them out of the source's own form.
type Records interface {
	// Len is the number of records.
	Len() int
	// At fills r with record i. Slices in r alias the fetch buffer; r.Headers
	// is reused, so it is valid until the next call with the same r.
	At(i int, r *Record)
}

// Chunk is a run of records of one assignment, in offset order. Offsets may
// have gaps (compaction, transaction markers).
type Chunk struct {
	// Assignment is the ownership under which the records were fetched.
	Assignment *Assignment
	// Records of the chunk, at least one.
	Records Records
	// Next is the offset that follows the chunk: last offset + 1.
	Next int64
	// Bytes is the memory that the records hold, in bytes: keys, values, headers
	// and the source's own bookkeeping.
	Bytes int64
	// Values is the bytes of the values alone; it sizes the encoded copy.
	Values int64
}

package kafka

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/pipeline"
)

// records gives kgo's records to the pipeline.
type records struct {
	origin *pipeline.Origin
	of     []*kgo.Record
}

// Len implements pipeline.Records.
func (r *records) Len() int { return len(r.of) }

// At implements pipeline.Records.
func (r *records) At(i int, to *pipeline.Record) {
	k := r.of[i]
	to.Origin = r.origin
	to.Offset = k.Offset
	to.LeaderEpoch = k.LeaderEpoch
	to.Timestamp = k.Timestamp
	to.Key = k.Key
	to.Value = k.Value
	to.Control = k.Attrs.IsControl()
	to.Headers = to.Headers[:0]
	for _, h := range k.Headers {
		to.Headers = append(to.Headers, pipeline.Header{Key: h.Key, Value: h.Value})
	}
}

// recordBytes is what kgo keeps of each record besides its bytes: the struct,
// its pointer and the framing around it in the decompressed batch.
const recordBytes = 208

// chunk makes a chunk of records of one assignment.
func chunk(a *pipeline.Assignment, of []*kgo.Record) pipeline.Chunk {
	c := pipeline.Chunk{
		Assignment: a,
		Records:    &records{a.Origin(), of},
		Next:       of[len(of)-1].Offset + 1,
	}
	for _, r := range of {
		c.Values += int64(len(r.Value))
		c.Bytes += int64(len(r.Key))
		for _, h := range r.Headers {
			c.Bytes += int64(len(h.Key)+len(h.Value)) + 40
		}
	}
	c.Bytes += c.Values + int64(len(of))*recordBytes
	return c
}

package elasticsearch

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strconv"

	"penstock/pipeline"
)

// origin is what is derived once from an Origin and kept with its address.
type origin struct {
	// id begins the document ids of the partition: "<TopicID>:<partition>:",
	// escaped for a JSON string.
	id []byte
	// dest is the last destination of the partition, valid for timestamps in
	// [from, until) in Unix seconds.
	dest        *destination
	from, until int64
}

// origins keeps what is derived from each Origin. One goroutine uses it.
type origins struct {
	all    map[*pipeline.Origin]*origin
	last   *pipeline.Origin
	cached *origin
}

// maxOrigins bounds the cache: sources make an Origin per assignment, and old
// ones are not told apart from live ones. Starting over costs a microsecond each.
const maxOrigins = 4096

// of gives the entry of o; records come in runs of one partition.
func (c *origins) of(o *pipeline.Origin) *origin {
	if o == c.last && c.cached != nil {
		return c.cached
	}
	got := c.all[o]
	if got == nil {
		if c.all == nil || len(c.all) >= maxOrigins {
			c.all = make(map[*pipeline.Origin]*origin)
		}
		got = &origin{id: appendIDPrefix(nil, o)}
		c.all[o] = got
	}
	c.last, c.cached = o, got
	return got
}

// maxTopicID keeps ids below the server's 512 bytes: longer ones are hashed.
const maxTopicID = 400

func appendIDPrefix(dst []byte, o *pipeline.Origin) []byte {
	id := o.TopicID
	if len(id) > maxTopicID {
		sum := sha256.Sum256([]byte(id))
		id = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	quoted, _ := json.Marshal(id) // strings always encode
	dst = append(dst, quoted[1:len(quoted)-1]...)
	dst = append(dst, ':')
	dst = strconv.AppendInt(dst, int64(o.Partition), 10)
	return append(dst, ':')
}

// appendID appends the document id "<TopicID>:<partition>:<offset>:<epoch>". The
// same record has the same id whoever sends it and whenever, so that a replay
// stores nothing twice; the topic's id and the epoch tell it from a record at
// the same place of a topic that was deleted, or of a log that was cut.
func appendID(dst []byte, o *origin, r *pipeline.Record) []byte {
	dst = append(dst, o.id...)
	dst = strconv.AppendInt(dst, r.Offset, 10)
	dst = append(dst, ':')
	return strconv.AppendInt(dst, int64(r.LeaderEpoch), 10)
}

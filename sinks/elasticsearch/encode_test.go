package elasticsearch

import (
	"encoding/json"
	"strings"
	"testing"

	"penstock/pipeline"
)

func TestAppendWritesActionAndDocument(t *testing.T) {
	for _, op := range []string{OpCreate, OpIndex} {
		c := testConfig("http://es")
		c.Op = op
		s := newSink(t, c)
		b := &pipeline.Batch{Destination: "here"}
		for _, destination := range []string{"here", "there"} {
			if err := s.Append(b, record(42), document(t, `{"m":"café"}`), destination); err != nil {
				t.Fatal(err)
			}
		}
		want := `{"OP":{"_id":"AAAAAAAAQACAAAAAAAAAAQ:7:42:3"}}
{"m":"café"}
{"OP":{"_index":"there","_id":"AAAAAAAAQACAAAAAAAAAAQ:7:42:3"}}
{"m":"café"}
`
		if want = strings.ReplaceAll(want, "OP", op); string(b.Body) != want {
			t.Errorf("got\n%swant\n%s", b.Body, want)
		}
	}
}

// Two partitions must not share an id, whatever their topics are called.
func TestIDsAreDistinct(t *testing.T) {
	var c origins
	seen := map[string]pipeline.Record{}
	for _, topic := range []string{"a", "a:1", "cluster/a", `q"uote\`, strings.Repeat("x", 600), strings.Repeat("x", 600) + "y"} {
		for _, partition := range []int32{1, 11} {
			o := &pipeline.Origin{TopicID: topic, Partition: partition}
			for _, r := range []pipeline.Record{{Origin: o, Offset: 1, LeaderEpoch: 1}, {Origin: o, Offset: 11, LeaderEpoch: -1}, {Origin: o, Offset: 1, LeaderEpoch: 11}} {
				id := string(appendID(nil, c.of(o), &r))
				var decoded string
				if err := json.Unmarshal([]byte(`"`+id+`"`), &decoded); err != nil || len(decoded) > 512 {
					t.Errorf("%q of %d bytes is no id: %v", id, len(decoded), err)
				}
				if other, ok := seen[id]; ok {
					t.Errorf("%v and %v share %q", other, r, id)
				}
				seen[id] = r
			}
		}
	}
}

func TestOriginsAreForgottenInTime(t *testing.T) {
	var c origins
	for range 3 * maxOrigins {
		c.of(&pipeline.Origin{Topic: "t"})
	}
	if len(c.all) > maxOrigins {
		t.Errorf("%d origins are kept", len(c.all))
	}
}

func BenchmarkAppend(b *testing.B) {
	c := testConfig("http://es")
	s := newSink(b, c)
	doc := document(b, `{"m":"`+strings.Repeat("x", 207)+`"}`) // 215 bytes
	batch := &pipeline.Batch{Destination: "idx", Body: make([]byte, 0, 1<<20)}
	r := record(0)
	b.SetBytes(215)
	b.ReportAllocs()
	for b.Loop() {
		if r.Offset++; len(batch.Body) > 1<<19 {
			batch.Body = batch.Body[:0]
		}
		if err := s.Append(batch, r, doc, "idx"); err != nil {
			b.Fatal(err)
		}
	}
}

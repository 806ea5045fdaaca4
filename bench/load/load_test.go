package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Documents are JSON objects on one line, of the size that figures are given
// for, and the seed decides on them.
func TestDocuments(t *testing.T) {
	for _, c := range []struct {
		kind        Kind
		n           int
		least, most int // bytes on average
	}{
		{Planes, 2000, 205, 225},
		{Logs, 2000, 420, 456},
		{Dense, 100, 4 << 10, 4<<10 + 100},
		{Large, 5, 900 << 10, 900<<10 + 100},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			first, again, other := maker(t, c.kind, 1), maker(t, c.kind, 1), maker(t, c.kind, 2)
			total, differ := 0, false
			for range c.n {
				doc := first.Next()
				total += len(doc)
				var object map[string]any
				if err := json.Unmarshal(doc, &object); err != nil || len(object) == 0 {
					t.Fatalf("not a JSON object (%v): %.200s", err, doc)
				}
				if bytes.ContainsAny(doc, "\n\r") {
					t.Fatalf("more than one line: %.200s", doc)
				}
				if !bytes.Equal(doc, again.Next()) {
					t.Fatal("the same seed gave another document")
				}
				differ = differ || !bytes.Equal(doc, other.Next())
			}
			if mean := total / c.n; mean < c.least || mean > c.most {
				t.Errorf("%d bytes on average, want %d to %d", mean, c.least, c.most)
			}
			if !differ && c.kind != Dense { // which chance has no part in
				t.Error("another seed gave the same documents")
			}
		})
	}
	if _, err := NewMaker("boats", 1); err == nil || !strings.Contains(err.Error(), "planes") {
		t.Errorf("an unknown kind gave %v, not the kinds that there are", err)
	}
}

func TestDenseCompresses(t *testing.T) {
	m := maker(t, Dense, 1)
	var batch []byte
	for len(batch) < 1_000_000 { // a batch as producers send it
		batch = append(batch, m.Next()...)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if small := z.EncodeAll(batch, nil); len(batch) < 50*len(small) {
		t.Errorf("%d bytes became %d, want 50 times less", len(batch), len(small))
	}
}

func maker(t *testing.T, kind Kind, seed uint64) *Maker {
	t.Helper()
	m, err := NewMaker(kind, seed)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestFill(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	var out bytes.Buffer
	o := Options{Brokers: cluster.ListenAddrs(), Topic: "t", Kind: Planes, Documents: 1000, Partitions: 4, Seed: 1, Compression: "lz4", Out: &out}
	if err := Fill(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	client, err := Connect(t.Context(), o.Brokers, kgo.ConsumeTopics("t"), kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if partitions, records, err := Size(t.Context(), client, "t"); partitions != 4 || records != 1000 || err != nil {
		t.Fatalf("the topic has %d partitions, %d records (%v)", partitions, records, err)
	}
	want := map[string]int{}
	for m := maker(t, Planes, 1); len(want) < 1000; {
		want[string(m.Next())]++
	}
	for left := 1000; left > 0; {
		fetches := client.PollFetches(t.Context())
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) { want[string(r.Value)]--; left-- })
	}
	for doc, n := range want {
		if n != 0 {
			t.Fatalf("%+d times: %s", -n, doc)
		}
	}
	if strings.Contains(out.String(), "\r") {
		t.Errorf("a bar in a pipe: %q", out.String())
	}
	// Again is nothing to do; another number is refused, and nothing is sent.
	if err := Fill(t.Context(), o); err != nil || !strings.Contains(out.String(), "already") {
		t.Errorf("the second time: %v, printed %q", err, out.String())
	}
	o.Documents = 2000
	if err := Fill(t.Context(), o); err == nil || !strings.Contains(err.Error(), "delete") {
		t.Errorf("filled what had another number of documents: %v", err)
	}
	if _, _, err := Size(t.Context(), client, "none"); !errors.Is(err, ErrNoTopic) {
		t.Errorf("a missing topic gave %v", err)
	}
}

func TestOptionsSayAllProblems(t *testing.T) {
	err := Options{Kind: "boats", Compression: "rar"}.Validate()
	for _, want := range []string{"-topic", "-documents", "-partitions", "-compression", "boats"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("nothing about %s: %v", want, err)
		}
	}
}

func TestBar(t *testing.T) {
	for done, want := range map[int64]string{0: "  0 %", 50: " 50 %  25 documents/s", 100: "100 %  50 documents/s"} {
		got := bar(done, 100, 2*time.Second)
		if !strings.Contains(got, want) || strings.Count(got, "=") != int(done)*barWidth/100 {
			t.Errorf("at %d: %q", done, got)
		}
	}
	p := newProgress(io.Discard, false, 10)
	if p.show(10); p.out != nil {
		t.Error("a bar without a terminal")
	}
}

func TestBrokers(t *testing.T) {
	if got := fmt.Sprint(Brokers(" a:1, b:2,,")); !slices.Equal(Brokers(" a:1, b:2,,"), []string{"a:1", "b:2"}) {
		t.Error(got)
	}
}

package integration

import (
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
)

// complaints keeps the first few of what may be very many.
type complaints struct {
	what  string
	n     int
	first []string
}

func (c *complaints) add(format string, args ...any) {
	if c.n++; c.n <= 5 {
		c.first = append(c.first, fmt.Sprintf(format, args...))
	}
}

func (p *proof) report(c *complaints) {
	p.t.Helper()
	if c.n > 0 {
		p.t.Errorf("%d %s, such as\n%s", c.n, c.what, fmt.Sprintf("%q", c.first))
	}
}

// check compares what was sent with what the servers have.
func (p *proof) check() {
	p.t.Helper()
	want, bad := p.truth()
	p.checkIndex(want)
	p.checkLetters(bad)
	if err := p.broker.lag(proofGroup, proofTopic); err != nil {
		p.t.Errorf("not all is committed: %v", err)
	}
	sum, err := p.sums()
	if err != nil {
		p.t.Fatal(err)
	}
	if sum.Stored > int64(len(want)) {
		p.t.Errorf("the ledgers say %d stored, of %d good records", sum.Stored, len(want))
	}
	if sum.Skipped != 0 {
		p.t.Errorf("the ledgers say %d skipped", sum.Skipped)
	}
}

var seed = maphash.MakeSeed()

// sent is a bad record with what its letter must say.
type sent struct {
	record  *kgo.Record
	quality quality
}

// truth reads the topic back and checks that it holds the log lines as they were
// made. It gives a hash of each good one's content under the id that its document
// must have, and the bad ones by their place.
func (p *proof) truth() (want map[string]uint64, bad map[place]sent) {
	p.t.Helper()
	records := map[place]*kgo.Record{}
	for _, r := range p.broker.read(proofTopic) {
		records[place{r.Topic, r.Partition, r.Offset}] = r
	}
	if len(records) != p.records {
		p.t.Fatalf("the topic has %d records, want %d", len(records), p.records)
	}
	id := p.broker.topicID(proofTopic)
	want, bad = map[string]uint64{}, map[place]sent{}
	lines := newLogLines(proofTopic, proofPartitions, p.began)
	for range p.records {
		line, q := lines.line()
		at := place{line.Topic, line.Partition, line.Offset}
		r := records[at]
		if r == nil || string(r.Value) != string(line.Value) || !r.Timestamp.Equal(line.Timestamp) {
			p.t.Fatalf("the topic has another record at %v than was sent", at)
		}
		if q != good {
			bad[at] = sent{r, q}
			continue
		}
		want[fmt.Sprintf("%s:%d:%d:%d", id, r.Partition, r.Offset, r.LeaderEpoch)] = maphash.Bytes(seed, line.Value)
	}
	return want, bad
}

// checkIndex checks that the index has each good record once, and nothing else.
func (p *proof) checkIndex(want map[string]uint64) {
	p.t.Helper()
	seen := make(map[string]bool, len(want))
	strange := &complaints{what: "documents under an id that no good record has"}
	altered := &complaints{what: "documents with another content than their record"}
	p.search.each(proofIndex, func(h hit) {
		hash, ok := want[h.ID]
		switch {
		case !ok:
			strange.add("%s %s", h.ID, h.Source)
		case maphash.Bytes(seed, h.Source) != hash:
			altered.add("%s %s", h.ID, h.Source)
		}
		seen[h.ID] = true
	})
	missing := &complaints{what: "good records that are not in the index"}
	for id := range want {
		if !seen[id] {
			missing.add("%s", id)
		}
	}
	for _, c := range []*complaints{strange, altered, missing} {
		p.report(c)
	}
}

// checkLetters checks that each bad record has a dead letter, and no other has.
func (p *proof) checkLetters(bad map[place]sent) {
	p.t.Helper()
	letters := p.broker.letters(proofDead)
	p.letters = len(letters)
	id := p.broker.topicID(proofTopic)
	seen := map[place]bool{}
	strange := &complaints{what: "dead letters of records that are not bad"}
	altered := &complaints{what: "dead letters that are not as their record was"}
	mistaken := &complaints{what: "dead letters that name a wrong cause"}
	for _, l := range letters {
		b, ok := bad[l.from]
		if !ok {
			strange.add("%v %v", l.from, l.added)
			continue
		}
		seen[l.from] = true
		if err := l.original(b.record); err != nil {
			altered.add("%v: %v", l.from, err)
		}
		if !slices.Contains(b.quality.reasons(), l.added["penstock.error.type"]) || l.added["penstock.topic_id"] != id {
			mistaken.add("%v %v, want one of %v", l.from, l.added, b.quality.reasons())
		}
	}
	p.distinct = len(seen)
	missing := &complaints{what: "bad records without a dead letter"}
	for at := range bad {
		if !seen[at] {
			missing.add("%v", at)
		}
	}
	for _, c := range []*complaints{strange, altered, mistaken, missing} {
		p.report(c)
	}
}

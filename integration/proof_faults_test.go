package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"penstock/pipeline"
)

// fault is something that goes wrong when a share of the records is final. It
// gives how many documents a killed member had stored above the committed offsets.
type fault struct {
	name  string
	share float64
	do    func() (uncommitted int64)
}

// backlog is the share of the records that waits to be read when a fault begins.
const backlog = 0.08

func (p *proof) faults() {
	all := []fault{
		{"kill -9 of a member", 0.10, func() int64 { return p.kill(0) }},
		{"search server restarted", 0.26, func() int64 { return p.restart(p.search.Restart) }},
		{"broker restarted", 0.42, func() int64 { return p.restart(p.broker.Restart) }},
		{"member 1 restarted", 0.60, func() int64 { return p.roll(0) }},
		{"member 2 restarted", 0.78, func() int64 { return p.roll(1) }},
	}
	at := func(share float64) int { return int(share * float64(p.records)) }
	for i, f := range all {
		p.lines.allow(at(f.share + backlog))
		p.awaitProgress(f, int64(at(f.share)))
		// Production goes on meanwhile, as far as the next fault needs it.
		if i+1 < len(all) {
			p.lines.allow(at(all[i+1].share + backlog))
		} else {
			p.lines.allow(p.records)
		}
		p.inject(f)
	}
}

// awaitProgress waits until so many records are final, by the members' own count.
func (p *proof) awaitProgress(f fault, want int64) {
	p.t.Helper()
	within(p.t, 3*patience, fmt.Sprintf("%d records to be final before: %s", want, f.name), func() error {
		if err := p.lines.failed(); err != nil {
			return err
		}
		sum, err := p.counts()
		if err != nil {
			return err
		}
		if done := sum.Stored + sum.Duplicate + sum.DeadLettered; done < want {
			return fmt.Errorf("%d are; what the members do: %s", done, p.describe())
		}
		return nil
	})
}

// inject lets one fault happen, waits until the group has caught up with it, and
// judges what was sent again.
func (p *proof) inject(f fault) {
	p.t.Helper()
	before, err := p.sums()
	if err != nil {
		p.t.Fatal(err)
	}
	var first, marks offsets
	eventually(p.t, "the broker to tell what is committed", func() (err error) {
		first, err = p.broker.committed(proofGroup, proofTopic)
		return err
	})
	began := time.Now()
	uncommitted := f.do()
	hit := time.Since(began)
	eventually(p.t, "the broker to tell its ends", func() (err error) {
		marks, err = p.broker.ends(proofTopic)
		return err
	})
	within(p.t, 2*patience, "the group to catch up after: "+f.name, func() error {
		committed, err := p.broker.committed(proofGroup, proofTopic)
		if err != nil {
			return err
		}
		if err := committed.reach(marks); err != nil {
			return fmt.Errorf("%w; what the members do: %s", err, p.describe())
		}
		return nil
	})
	after, err := p.sums()
	if err != nil {
		p.t.Fatal(err)
	}
	r := newRow(f.name, before, after, uncommitted, marks.sum()-first.sum())
	r.fault, r.recovery = hit, time.Since(began)-hit
	p.rows = append(p.rows, r)
	p.t.Log(r)
	if r.duplicates > r.bound {
		p.t.Errorf("%s: %d documents were sent again, more than the %d that can have been in flight", f.name, r.duplicates, r.bound)
	}
}

// kill kills a member while it works, and starts it again. It gives the number
// of documents that it had stored above the committed offsets: those and no
// others may be met again in the index by the next owners of its partitions.
func (p *proof) kill(i int) int64 {
	p.t.Helper()
	m := p.members[i]
	eventually(p.t, m.name+" to have records in flight", func() error {
		if _, err := m.readMetrics(); err != nil {
			return err
		}
		s, err := m.status()
		if err == nil && s.Ledger.InFlight == 0 {
			err = errors.New("it has none")
		}
		return err
	})
	m.kill()
	p.killed[m] = true
	count := p.settled(m.seen.Partitions)
	p.join(i)
	return count
}

// calm is how many times in a row a count must be the same to be believed.
const calm = 10

// settled waits until the search server is done with what a member sent before
// it was killed, and counts what is stored of its partitions above the commits.
func (p *proof) settled(of []pipeline.PartitionStatus) (count int64) {
	p.t.Helper()
	count, times := -1, 0
	eventually(p.t, "the search server to finish the requests of a dead client", func() error {
		committed, err := p.broker.committed(proofGroup, proofTopic)
		if err != nil {
			return err
		}
		n, err := p.search.count(proofIndex, above(of, committed))
		if err != nil {
			return err
		}
		if times++; n != count {
			count, times = n, 0
		}
		if times < calm {
			return fmt.Errorf("%d documents are stored above the commits, the same %d times", n, times)
		}
		return nil
	})
	return count
}

// above is a query for the documents of these partitions at or above the offsets.
func above(of []pipeline.PartitionStatus, committed offsets) string {
	var should []map[string]any
	for _, q := range of {
		should = append(should, map[string]any{"bool": map[string]any{"filter": []map[string]any{
			{"term": map[string]any{"partition": q.Partition}},
			{"range": map[string]any{"offset": map[string]any{"gte": committed[q.Partition]}}},
		}}})
	}
	query, _ := json.Marshal(map[string]any{"bool": map[string]any{"should": should, "minimum_should_match": 1}}) // maps of plain values always encode
	return string(query)
}

// restart restarts a server.
func (p *proof) restart(do func(context.Context) error) int64 {
	p.t.Helper()
	if err := do(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	return 0
}

// roll restarts a member in good order.
func (p *proof) roll(i int) int64 {
	p.t.Helper()
	p.leave(i)
	p.join(i)
	return 0
}

// describe tells what the members are doing, for when nothing moves.
func (p *proof) describe() string {
	text := ""
	for _, m := range p.members {
		s, err := m.status()
		if err != nil {
			text += fmt.Sprintf("%s: %v; ", m.name, err)
			continue
		}
		text += fmt.Sprintf("%s: %v %+v; ", m.name, states(s), s.Ledger)
	}
	return text
}

package integration

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A static member that is restarted finds its partitions again, and the other
// members do not notice. Only the restart of the group's leader makes them look
// up: its client asks for an assignment anew, which turns out to be the same.
func testStaticMember(s *stand) {
	s.create(6, s.topic)
	first := s.config().with(config{"source.kafka.instance_id": "one", "source.kafka.session_timeout": "30s"})
	second := first.with(config{"source.kafka.instance_id": "two"})
	s.send(s.records(60, 6, "at first")...)
	// Who comes first leads.
	a := running(s.t, "one", first)
	s.owners(6, a)
	b := running(s.t, "two", second)
	before := s.owners(6, a, b)
	s.awaitLag0(patience, s.group, s.topic)

	leader := a.rebalances()
	b.stopStatic()
	s.send(s.records(60, 6, "while two is away")...)
	b = running(s.t, "two again", second)
	s.sameOwners(before, a, b)
	if now := a.rebalances(); now != leader {
		s.t.Errorf("the leader has seen a rebalance: %+v, before: %+v", now, leader)
	}

	follower := b.rebalances()
	a.stopStatic()
	s.send(s.records(60, 6, "while one is away")...)
	a = running(s.t, "one again", first)
	s.sameOwners(before, a, b)
	if now := b.rebalances(); now.revoked != follower.revoked || now.lost != follower.lost {
		s.t.Errorf("partitions were taken from the follower: %+v, before: %+v", now, follower)
	}
	s.mustStore(s.topic, s.read(s.topic))
	a.stopStatic()
	b.stopStatic()
}

// stopStatic ends a member that must not have had to do anything twice.
func (p *process) stopStatic() {
	p.t.Helper()
	if l := p.stop(); l.Duplicate != 0 || l.Abandoned != 0 {
		p.t.Errorf("%s: %+v", p.name, l)
	}
}

// sameOwners waits until the members share the partitions and have done all
// there is to do, and checks that each has what it had before.
func (s *stand) sameOwners(before []map[int32]bool, members ...*process) {
	s.t.Helper()
	s.awaitLag0(patience, s.group, s.topic)
	after := s.owners(6, members...)
	for i, m := range members {
		if !maps.Equal(before[i], after[i]) {
			s.t.Errorf("%s has %v, and had %v", m.name, after[i], before[i])
		}
	}
}

// rebalanced is what a member has counted of rebalances.
type rebalanced struct{ assigned, revoked, lost float64 }

func (p *process) rebalances() rebalanced {
	p.t.Helper()
	return rebalanced{
		p.metric(`penstock_rebalances_total{event="assigned"}`),
		p.metric(`penstock_rebalances_total{event="revoked"}`),
		p.metric(`penstock_rebalances_total{event="lost"}`),
	}
}

// Two members with one instance id fence each other. That is said, with what to
// do; nobody exits, and nothing is lost.
func testSameInstance(s *stand) {
	s.create(2, s.topic)
	c := s.config().with(config{"source.kafka.instance_id": "one"})
	s.send(s.records(20, 2, "at first")...)
	a := running(s.t, "rightful", c)
	s.owners(2, a)
	b := running(s.t, "impostor", c)
	eventually(s.t, "a member to say why it is held", func() error {
		for _, m := range []*process{a, b} {
			if m.over() {
				return fmt.Errorf("%w: %s ended", errStopped, m.name)
			}
			status, err := m.status()
			if err != nil {
				return err
			}
			if status.Source != nil && strings.Contains(status.Source.Reason, "source.kafka.instance_id") {
				return nil
			}
		}
		return errors.New("neither does")
	})
	b.signal(15)
	b.exit()
	s.send(s.records(20, 2, "afterwards")...)
	s.awaitLag0(patience, s.group, s.topic)
	s.mustStore(s.topic, s.read(s.topic))
	a.stop()
}

// Three members come and go while records flow. Nothing is lost, and no more is
// sent again than the members say they gave up.
func testRebalances(s *stand) {
	const partitions, records = 12, 30_000
	s.create(partitions, s.topic)
	lines := newLogLines(s.topic, partitions, time.Now())
	p := newProducer(s.t, s.broker, lines, records)
	c := s.config().with(config{"batch.documents": 200})
	steps := 7
	step := 0
	// next lets a further part of the records be written: the members change
	// while it flows.
	next := func() {
		step++
		p.allow(records * step / steps)
	}
	var ended []ledger

	next()
	a := running(s.t, "a", c)
	s.owners(partitions, a)
	next()
	b := running(s.t, "b", c)
	s.owners(partitions, a, b)
	next()
	d := running(s.t, "c", c)
	s.owners(partitions, a, b, d)
	next()
	ended = append(ended, b.stop())
	s.owners(partitions, a, d)
	next()
	ended = append(ended, a.stop())
	s.owners(partitions, d)
	next()
	b = running(s.t, "b again", c)
	s.owners(partitions, d, b)
	next()
	p.wait()
	s.awaitLag0(patience, s.group, s.topic)
	for _, m := range []*process{d, b} {
		if got := m.rebalances(); got.lost != 0 {
			s.t.Errorf("%s has lost its partitions %v times", m.name, got.lost)
		}
	}
	ended = append(ended, d.stop(), b.stop())

	var fetched, duplicate, abandoned int64
	for _, l := range ended {
		fetched += l.Fetched
		duplicate += l.Duplicate
		abandoned += l.Abandoned
	}
	s.t.Logf("%d records fetched %d times; %d were there already, %d had been given up", records, fetched, duplicate, abandoned)
	if duplicate > abandoned {
		s.t.Errorf("%d documents were sent again, but only %d given up", duplicate, abandoned)
	}
	if fetched-abandoned != records {
		s.t.Errorf("%d records were fetched and %d given up, of %d", fetched, abandoned, records)
	}
	var want []*kgo.Record
	bad := map[place]bool{}
	lines = newLogLines(s.topic, partitions, time.Now())
	for range records {
		if line, q := lines.line(); q == notObject || q == badUTF8 {
			bad[place{line.Topic, line.Partition, line.Offset}] = true
		}
	}
	for _, r := range s.read(s.topic) {
		if !bad[place{r.Topic, r.Partition, r.Offset}] {
			want = append(want, r)
		}
	}
	s.mustStore(s.topic, want)
	met := map[place]bool{}
	for _, l := range s.letters(s.dead) {
		if !bad[l.from] {
			s.t.Errorf("a good record is in the dead letters: %v", l.from)
		}
		met[l.from] = true
	}
	if len(met) != len(bad) {
		s.t.Errorf("%d bad records have dead letters, of %d", len(met), len(bad))
	}
}

package integration

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
)

// producing is an open transaction.
type producing struct {
	s      *stand
	client *kgo.Client
	ctx    context.Context //nolint:containedctx // one transaction's
	cancel context.CancelFunc
}

// begin opens a transaction and writes records in it.
func (s *stand) begin(records ...*kgo.Record) *producing {
	s.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(s.Brokers()...), kgo.TransactionalID(s.topic), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		s.t.Fatal(err)
	}
	p := &producing{s: s, client: client}
	p.ctx, p.cancel = context.WithTimeout(s.t.Context(), patience)
	if err := client.BeginTransaction(); err != nil {
		s.t.Fatal(err)
	}
	if err := client.ProduceSync(p.ctx, records...).FirstErr(); err != nil {
		s.t.Fatal(err)
	}
	return p
}

func (p *producing) end(how kgo.TransactionEndTry) {
	p.s.t.Helper()
	defer p.client.Close()
	defer p.cancel()
	if err := p.client.EndTransaction(p.ctx, how); err != nil {
		p.s.t.Fatal(err)
	}
}

// Only what was committed is stored; "lag0" is reached, and the end committed,
// although the topic ends with aborted records and a marker.
func testTransactions(s *stand) {
	s.create(3, s.topic)
	s.begin(s.records(100, 3, "committed")...).end(kgo.TryCommit)
	s.begin(s.records(100, 3, "aborted")...).end(kgo.TryAbort)
	s.send(s.records(50, 3, "plain")...)
	s.begin(s.records(100, 3, "committed again")...).end(kgo.TryCommit)
	s.begin(s.records(100, 3, "aborted again")...).end(kgo.TryAbort)

	l := start(s.t, "ingester", s.config().with(config{"source.kafka.stop": "lag0"})).done()
	want := s.read(s.topic, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	if len(want) != 250 {
		s.t.Fatalf("%d committed records are in the topic, want 250", len(want))
	}
	s.mustStore(s.topic, want)
	s.mustCommit(s.group, s.endsNow())
	// Four transactions leave a marker in each of three partitions.
	if l.Stored != 250 || l.Skipped != 12 {
		s.t.Errorf("the ledger says %d stored and %d skipped, want 250 and 12", l.Stored, l.Skipped)
	}

	// Started once more it finds nothing to do, and says so at once.
	if l := start(s.t, "again", s.config().with(config{"source.kafka.stop": "lag0"})).done(); l.Fetched != 0 {
		s.t.Errorf("a second run fetched %d records", l.Fetched)
	}
}

// An open transaction is where reading ends: "lag0" does not wait for it, and
// what comes after it is not passed over.
func testOpenTransaction(s *stand) {
	s.create(1, s.topic)
	s.send(s.records(20, 1, "before")...)
	open := s.begin(s.records(20, 1, "inside")...)
	s.send(s.records(20, 1, "after")...)

	stop := s.config().with(config{"source.kafka.stop": "lag0"})
	if l := start(s.t, "while it is open", stop).done(); l.Stored != 20 {
		s.t.Errorf("%d records were stored while the transaction was open, want 20", l.Stored)
	}
	s.mustCommit(s.group, offsets{0: 20})

	open.end(kgo.TryCommit)
	if l := start(s.t, "when it is done", stop).done(); l.Stored != 40 {
		s.t.Errorf("%d records were stored after the transaction, want 40", l.Stored)
	}
	s.mustStore(s.topic, s.read(s.topic))
	s.mustCommit(s.group, s.endsNow())
}

// read_uncommitted takes aborted records, too.
func testReadUncommitted(s *stand) {
	s.create(1, s.topic)
	s.begin(s.records(30, 1, "aborted")...).end(kgo.TryAbort)
	s.begin(s.records(30, 1, "committed")...).end(kgo.TryCommit)
	start(s.t, "ingester", s.config().with(config{"source.kafka.stop": "lag0", "source.kafka.isolation_level": "read_uncommitted"})).done()
	want := s.read(s.topic)
	if len(want) != 60 {
		s.t.Fatalf("%d records are in the topic, want 60", len(want))
	}
	s.mustStore(s.topic, want)
	s.mustCommit(s.group, s.endsNow())
}

package integration

import (
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Topics that match a pattern are read, also those that are made later, from
// their first record.
func testPattern(s *stand) {
	s.create(2, "app-one", "other")
	send := func(topic string) {
		records := s.records(20, 2, topic)
		for _, r := range records {
			r.Topic = topic
		}
		s.send(records...)
	}
	send("app-one")
	send("other")
	p := running(s.t, "ingester", s.config().with(config{
		"source.kafka.topics": nil, "source.kafka.topic_pattern": "app-.*", "sink.elasticsearch.index": "{topic}",
	}))
	s.awaitLag0(patience, s.group, "app-one")
	s.create(2, "app-two", "web-app-three")
	send("app-two")
	send("web-app-three")
	s.awaitLag0(patience, s.group, "app-two")
	p.stop()
	s.mustStore("app-one", s.read("app-one"))
	s.mustStore("app-two", s.read("app-two"))
	if got := s.sink.Indices(); len(got) != 2 {
		s.t.Errorf("documents are in %v, want app-one and app-two alone", got)
	}
}

// A run from one time to another takes exactly the records between them.
func testTimestamps(s *stand) {
	s.create(2, s.topic)
	began := time.Now().Add(-time.Hour).Truncate(time.Second)
	for i := range 100 {
		// Partition 1 ends before the stop, partition 0 after it.
		records := []*kgo.Record{{Topic: s.topic, Partition: 0, Timestamp: began.Add(time.Duration(i) * time.Second)}}
		if i < 40 {
			records = append(records, &kgo.Record{Topic: s.topic, Partition: 1, Timestamp: records[0].Timestamp})
		}
		for _, r := range records {
			r.Value = fmt.Appendf(nil, `{"second":%d,"partition":%d}`, i, r.Partition)
		}
		s.send(records...)
	}
	l := start(s.t, "ingester", s.config().with(config{
		"source.kafka.start": timestamp(began.Add(20 * time.Second)), "source.kafka.stop": timestamp(began.Add(60 * time.Second)),
	})).done()
	var want []*kgo.Record
	for _, r := range s.read(s.topic) {
		if r.Offset >= 20 && r.Offset < 60 {
			want = append(want, r)
		}
	}
	s.mustStore(s.topic, want)
	s.mustCommit(s.group, offsets{0: 60, 1: 40})
	if l.Stored != 60 {
		s.t.Errorf("the ledger says %d stored, want 60", l.Stored)
	}
}

// A stop that is yet to come ends the run when it comes, and not before.
func testStopToCome(s *stand) {
	s.create(2, s.topic)
	s.send(s.records(20, 2, "early")...)
	stop := time.Now().Add(8 * time.Second).Truncate(time.Second)
	p := running(s.t, "ingester", s.config().with(config{"source.kafka.stop": timestamp(stop)}))
	s.awaitLag0(patience, s.group, s.topic)
	p.done()
	if now := time.Now(); now.Before(stop) {
		s.t.Errorf("it ended %v before its time", stop.Sub(now))
	}
	s.mustStore(s.topic, s.read(s.topic))
	s.mustCommit(s.group, s.endsNow())
}

// A member that is started while no broker can be reached says so, waits, and
// does its work when one can.
func testBrokerDownAtStart(s *stand) {
	s.create(1, s.topic)
	s.send(s.records(20, 1, "early")...)
	if err := s.Stop(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	p := running(s.t, "ingester", s.config().with(config{"delivery.unready_after": "3s"}))
	eventually(s.t, "the ingester to be unready", func() error {
		if ok, reasons := p.ready(); ok || !strings.Contains(reasons, "held:source") {
			return fmt.Errorf("ready: %v, %s", ok, reasons)
		}
		return nil
	})
	if err := s.Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.awaitLag0(patience, s.group, s.topic)
	eventually(s.t, "the ingester to be ready", func() error {
		if ok, reasons := p.ready(); !ok {
			return fmt.Errorf("%s", reasons)
		}
		return nil
	})
	p.stop()
	s.mustStore(s.topic, s.read(s.topic))
}

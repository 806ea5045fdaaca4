package main

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/pipeline"
)

func encodeTopicID(id [16]byte) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// finish waits until everything is committed, stops the members in good order,
// and checks that nothing was lost, made up or committed too early.
func (w *world) finish() {
	w.Helper()
	w.awaitEnd()
	w.stopAll()
	w.conserve()
}

// awaitEnd waits until the committed offsets are the ends of the partitions.
func (w *world) awaitEnd() {
	w.Helper()
	w.eventually("all is committed", func() bool {
		for _, p := range w.kafka.PartitionInfos(logs) {
			if w.committed(p.Partition) != p.HighWatermark {
				return false
			}
		}
		return true
	})
}

// stopAll stops the members that run. Each must have left nothing behind.
func (w *world) stopAll() {
	w.Helper()
	for _, m := range w.members {
		select {
		case <-m.done:
			continue
		default:
		}
		if err := m.stop(); err != nil {
			w.Errorf("%s stopped with %v", m.name, err)
		}
	}
}

// balanced checks the ledger of a member that has stopped.
func (m *member) balanced() pipeline.Counts {
	m.world.Helper()
	sum := m.status().Ledger
	if !sum.Balanced() || sum.InFlight != 0 {
		m.world.Errorf("%s: the ledger does not balance: %+v", m.name, sum)
	}
	return sum
}

// conserve checks that every record of logs is exactly one of stored, with the
// right content, dead-lettered, and skipped by policy; and what consistent does.
func (w *world) conserve() {
	w.Helper()
	stored, lettered, skipped := w.account(true)
	if len(w.members) != 1 || w.members[0].killed {
		return
	}
	sum := w.members[0].balanced()
	if sum.Stored+sum.Duplicate != int64(stored) || sum.DeadLettered != int64(lettered) || sum.Skipped != int64(skipped) {
		w.Errorf("the ledger says %+v, but %d are stored, %d are dead-lettered and %d should be skipped", sum, stored, lettered, skipped)
	}
}

// consistent checks that no record of logs is more than one of these, that none
// was committed before it was one, and that the ledgers of stopped members balance.
func (w *world) consistent() {
	w.Helper()
	w.account(false)
}

func (w *world) account(complete bool) (stored, lettered, skipped int) {
	w.Helper()
	for _, m := range w.members {
		if !m.killed {
			m.balanced()
		}
	}
	letters := map[place]int64{} // place in the dead-letter topic
	for _, l := range w.letters() {
		if _, twice := letters[l.from]; !twice {
			letters[l.from] = l.record.Offset
		}
	}
	records := w.read(logs) // the broker may wait for the witness, so not under its lock
	s := w.witness
	s.mu.Lock()
	defer s.mu.Unlock()
	known := 0
	for _, r := range records {
		if r.Offset < w.begin {
			continue
		}
		at := place{logs, r.Partition, r.Offset}
		seen := s.stored[at]
		at0, isLetter := letters[at]
		skip := skippable(r)
		is := len(seen)
		known += len(seen)
		if isLetter {
			is++
			lettered++
		}
		if skip {
			is++
			skipped++
		}
		stored += min(1, len(seen))
		switch {
		case is > 1:
			w.Errorf("%v: stored %d times, dead-lettered: %t, to be skipped: %t", at, len(seen), isLetter, skip)
		case is == 0 && complete:
			w.Errorf("%v is lost", at)
		}
		if len(seen) > 0 && seen[0].doc.Source != w.document(r.Value) {
			w.Errorf("%v: stored %.200q for %.200q", at, seen[0].doc.Source, r.Value)
		}
		first, ok := s.firstCommitLocked(at)
		switch {
		case !ok || skip:
		case len(seen) > 0 && seen[0].moment > first.moment, isLetter && at0 >= first.letters, is == 0:
			w.Errorf("%v: committed (%d, by %s) before it was final", at, first.offset, first.member)
		}
	}
	all := 0
	for _, seen := range s.stored {
		all += len(seen)
	}
	if all != known && complete {
		w.Errorf("%d documents are stored, of which %d were never sent", all, all-known)
	}
	return stored, lettered, skipped
}

// firstCommitLocked is the first commit that passes a place.
func (s *witness) firstCommitLocked(at place) (commit, bool) {
	for _, c := range s.commits[place{topic: at.topic, partition: at.partition}] {
		if c.offset > at.offset {
			return c, true
		}
	}
	return commit{}, false
}

// skippable tells whether the default policy leaves a record out.
func skippable(r *kgo.Record) bool {
	return r.Attrs.IsControl() || strings.TrimSpace(string(r.Value)) == ""
}

// deadOffsets gives the offsets of a partition of logs that are in the dead
// letters, each once, checking that there are no copies.
func (w *world) deadOffsets(partition int32) []int64 {
	w.Helper()
	var offsets []int64
	seen := map[place]bool{}
	for _, l := range w.letters() {
		if seen[l.from] {
			w.Errorf("%v is twice in the dead letters", l.from)
		}
		seen[l.from] = true
		if l.from.partition == partition {
			offsets = append(offsets, l.from.offset)
		}
	}
	return offsets
}

// same fails the test where two values print differently.
func (w *world) same(what string, got, want any) {
	w.Helper()
	if g, s := fmt.Sprint(got), fmt.Sprint(want); g != s {
		w.Errorf("%s: got %s, want %s", what, g, s)
	}
}

package integration

import (
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"penstock/pipeline"
)

// sums is what all members of a proof, past and present, have counted.
type sums struct {
	pipeline.Counts
	failed int64 // requests without an answer that could be used
	retry  int64 // documents that a member sent again by itself
	lost   int64 // times that partitions were taken away, or their commit failed at the end
}

// counts adds the ledgers up: of those that run as /status says now, of those
// that were killed as it last said, of the others as they said at their end.
func (p *proof) counts() (c pipeline.Counts, err error) {
	for _, m := range p.all {
		if l, ok := m.ledger(); ok {
			c.Add(l.Counts)
			continue
		}
		if !p.killed[m] {
			if _, err := m.status(); err != nil {
				return c, fmt.Errorf("%s: %w", m.name, err)
			}
		}
		c.Add(m.seen.Ledger)
	}
	return c, nil
}

func (p *proof) sums() (s sums, err error) {
	if s.Counts, err = p.counts(); err != nil {
		return s, err
	}
	for _, m := range p.all {
		if !m.over() {
			if _, err := m.readMetrics(); err != nil {
				return s, fmt.Errorf("%s: %w", m.name, err)
			}
		}
		for name, value := range m.metrics {
			switch {
			case strings.HasPrefix(name, "penstock_requests_total{") && !strings.Contains(name, `"ok"`):
				s.failed += int64(value)
			case strings.HasPrefix(name, "penstock_retried_documents_total{"):
				s.retry += int64(value)
			case name == `penstock_rebalances_total{event="lost"}`:
				s.lost += int64(value)
			}
		}
		s.lost += int64(m.stderr.count("committing revoked partitions failed: their next owner will read some records again"))
	}
	return s, nil
}

// row is what one fault has caused.
type row struct {
	name            string
	fault, recovery time.Duration
	duplicates      int64 // documents that the index had already
	retried         int64 // documents that a member sent again by itself
	bound           int64
	why             string
}

// newRow works out how many documents may have been stored before they were
// sent again. There are three ways:
//   - a killed member had stored them, and their offsets were not yet committed
//     (uncommitted, counted in the index right after the kill);
//   - a request failed after the server had stored its documents: as many as one
//     request holds, for each that failed;
//   - a member gave records up when a partition was taken from it (abandoned), or
//     it could not commit what it had finished: then all that was not committed
//     before the fault and was there to be read until its end (open).
func newRow(name string, before, after sums, uncommitted, open int64) row {
	r := row{name: name, duplicates: after.Duplicate - before.Duplicate, retried: after.retry - before.retry}
	add := func(n int64, why string) {
		if n > 0 {
			r.bound += n
			r.why += fmt.Sprintf("%d %s; ", n, why)
		}
	}
	add(uncommitted, "stored and not committed")
	add((after.failed-before.failed)*proofDocuments, "in requests that failed")
	add(after.Abandoned-before.Abandoned, "abandoned")
	if after.lost > before.lost {
		add(open, "to be read when partitions were lost")
	}
	return r
}

func (r row) String() string {
	return fmt.Sprintf("%s: took %.1f s, caught up %.1f s later; %d duplicates of at most %d (%s)", r.name, r.fault.Seconds(), r.recovery.Seconds(), r.duplicates, r.bound, r.why)
}

// figures are the results of all proofs.
type figures struct{ proofs []*proof }

func (f *figures) add(p *proof) { f.proofs = append(f.proofs, p) }

// print shows them as a table.
func (f *figures) print(t *testing.T) {
	if len(f.proofs) == 0 {
		return
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "server\tfault\tfault s\tcatch-up s\tduplicates\tat most\tsent again after an answer\twhy so many")
	for _, p := range f.proofs {
		for _, r := range p.rows {
			fmt.Fprintf(w, "%s\t%s\t%.1f\t%.1f\t%d\t%d\t%d\t%s\n", p.search.Kind, r.name, r.fault.Seconds(), r.recovery.Seconds(), r.duplicates, r.bound, r.retried, strings.TrimSuffix(r.why, "; "))
		}
	}
	fmt.Fprintln(w, "\nserver\trecords\tfaults\tstored once\tdead letters\ttheir copies\ttime s")
	for _, p := range f.proofs {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%.1f\n", p.search.Kind, p.records, len(p.rows), p.records-p.distinct, p.distinct, p.letters-p.distinct, p.took.Seconds())
	}
	if err := w.Flush(); err != nil {
		t.Error(err)
	}
	t.Logf("figures\n%s", &text)
}

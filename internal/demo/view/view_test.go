package view

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"penstock/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func frame() Frame {
	return Frame{
		Snapshot: Snapshot{
			Ledger: pipeline.Counts{Fetched: 12345, Stored: 12000, Duplicate: 20, DeadLettered: 60, Skipped: 5, InFlight: 260},
			Partitions: []Partition{
				{Topic: "logs-web", Number: 0, State: pipeline.StateFetching, Lag: 12, LagTime: time.Second},
				{Topic: "logs-payments", Number: 1, State: pipeline.StateHeldIndex, Reason: "blocked\x1b[2J\nby a disk", Lag: 1300, LagTime: 2500 * time.Millisecond},
				{Topic: "logs-web", Number: 2, State: pipeline.StatePausedMemory, Lag: -1},
			},
			Retries: 17, MemoryUsed: 5 << 20, MemoryLimit: 20 << 20,
		},
		Elapsed: 75 * time.Second, In: 2000, Out: 1500,
		InHistory: []float64{0, 1000, 2000}, OutHistory: []float64{0, 500, 2000},
		Documents: 12020, Searchable: 12020,
		Fault:  "the disk of logs-payments is full",
		Events: []Event{{70 * time.Second, "a fault began"}},
	}
}

func TestRender(t *testing.T) {
	want := []string{
		"Penstock demo  1:15  Ctrl-C ends it",
		"embedded, in memory, made up:  generator → Kafka → Penstock → search index",
		"",
		"  in          2,000 /s  ▁▄█",
		"  out         1,500 /s  ▁▂█",
		"  lag         1,312 records, the oldest 2.5 s old",
		"  memory    5.0 MiB of 20 MiB  █████░░░░░░░░░░░░░░░",
		"  index      12,020 documents, 12,020 of them searchable",
		"",
		"  fetched  stored  duplicate  dead-lettered  skipped  abandoned  in flight",
		"   12,345  12,000         20             60        5          0        260",
		"  every record is accounted for; documents sent again: 17",
		"",
		"  partition        state                   lag  why",
		"  logs-payments/1  held:index            1,300  blocked?[2J by a disk",
		"  logs-web/2       paused:memory             ?",
		"  logs-web/0       fetching                 12",
		"scripted fault: the disk of logs-payments is full",
		"  1:10  a fault began",
	}
	got := Render(frame(), Style{Width: 80})
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\n\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestRenderFits: whatever the terminal's size, nothing wraps or scrolls, and
// what is held is still seen.
func TestRenderFits(t *testing.T) {
	f := frame()
	for range 60 {
		f.Partitions = append([]Partition{{Topic: "logs", State: pipeline.StateFetching}}, f.Partitions...)
	}
	for width := range 120 {
		for _, height := range []int{5, 24, 30, 100} {
			lines := Render(f, Style{Width: width, Height: height})
			if len(lines) > height {
				t.Fatalf("%d lines in a height of %d", len(lines), height)
			}
			for _, l := range lines {
				if utf8.RuneCountInString(l) > width {
					t.Fatalf("%q is wider than %d", l, width)
				}
			}
			if height >= 30 && width >= 40 && !strings.Contains(strings.Join(lines, "\n"), "held:index") {
				t.Fatalf("%dx%d: the held partition is not shown", width, height)
			}
		}
	}
}

func TestAnUnbalancedLedgerIsLoud(t *testing.T) {
	f := frame()
	f.Ledger.Stored--
	got := strings.Join(Render(f, Style{Width: 80, Colour: true}), "\n")
	if !strings.Contains(got, "\x1b[31m  THE LEDGER DOES NOT BALANCE") {
		t.Errorf("got:\n%s", got)
	}
}

// TestOnAnOrdinaryTerminal: in 80 x 24 there is room for the ledger, for all
// partitions of the demo, for the fault and for the newest events.
func TestOnAnOrdinaryTerminal(t *testing.T) {
	f := frame()
	f.Partitions = append(f.Partitions, f.Partitions...)
	for i := range 4 {
		f.Events = append(f.Events, Event{time.Duration(i) * time.Minute, "newer"})
	}
	f.Ledger = pipeline.Counts{Fetched: 9_999_999, Stored: 9_999_000, DeadLettered: 999}
	lines := Render(f, Style{Width: 80, Height: 23})
	text := strings.Join(lines, "\n")
	for _, want := range []string{"9,999,000", "in flight", "every record", "logs-web/0", "scripted fault", "3:00  newer"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	if strings.Contains(text, "more") || strings.Contains(text, "…") {
		t.Error("something is cut")
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestLedgerTable(t *testing.T) {
	got := LedgerTable(pipeline.Counts{Fetched: 1234, Stored: 1230, Abandoned: 4})
	want := []string{
		"    fetched               1,234", "  = stored                1,230", "  + duplicate                 0", "  + dead-lettered             0",
		"  + skipped                   0", "  + abandoned                 4", "  + in flight                 0", "  every record is accounted for",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestLine(t *testing.T) {
	got := Line(frame())
	want := `1:15 in=2000/s out=1500/s lag=1312 lag_seconds=2.5 fetched=12345 stored=12000 duplicate=20 dead_lettered=60 skipped=5 abandoned=0 in_flight=260 retries=17 memory_mib=5.0/20 held=1 state=held:index logs-payments/1: blocked?[2J by a disk`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestMeter(t *testing.T) {
	m := Meter{Every: time.Second}
	m.Update(0, 100, 50)
	if in, _, _, _ := m.Update(500*time.Millisecond, 600, 50); in != 0 {
		t.Errorf("a rate of %v before there was a measurement", in)
	}
	in, out, ins, _ := m.Update(2*time.Second, 2100, 1050)
	if in != 1000 || out != 500 || len(ins) != 1 {
		t.Errorf("in %v out %v history %v", in, out, ins)
	}
	for i := range 100 {
		_, _, ins, _ = m.Update(time.Duration(3+i)*time.Second, 2100, 1050)
	}
	if len(ins) != historyLength {
		t.Errorf("%d measurements are kept", len(ins))
	}
}

func TestLiveRedrawsInPlace(t *testing.T) {
	var b bytes.Buffer
	l, err := NewLive(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, lines := range [][]string{{"one", "two"}, {"three"}} {
		if err := l.Draw(lines); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.End(); err != nil {
		t.Fatal(err)
	}
	want := "\x1b[?25lone\x1b[K\ntwo\x1b[K\n\x1b[J" + "\x1b[2A\rthree\x1b[K\n\x1b[J\x1b[?25h"
	if b.String() != want {
		t.Errorf("got %q\nwant %q", b.String(), want)
	}
}

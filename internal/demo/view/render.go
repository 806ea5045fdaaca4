package view

import (
	"fmt"
	"slices"
	"strings"

	"penstock/pipeline"
)

// Style says how lines may look.
type Style struct {
	// Width in characters; lines are cut to it.
	Width int
	// Height in lines; what is less important is left out. 0 is no limit.
	Height int
	// Colour allows escape codes for colours.
	Colour bool
}

// The colours that are used, each with one meaning.
const (
	plain  = ""
	bold   = "1"
	dim    = "2"
	red    = "31" // held
	green  = "32" // all is well
	yellow = "33" // waiting, draining, a scripted fault
)

// line is one line to be cut first and coloured then.
type line struct {
	text   string
	colour string
}

func (s Style) paint(ls []line) []string {
	out := make([]string, len(ls))
	for i, l := range ls {
		out[i] = cut(l.text, s.Width)
		if s.Colour && l.colour != plain && out[i] != "" {
			out[i] = "\x1b[" + l.colour + "m" + out[i] + "\x1b[0m"
		}
	}
	return out
}

// Render draws a frame as lines.
func Render(f Frame, s Style) []string {
	var ls []line
	add := func(colour, format string, args ...any) { ls = append(ls, line{fmt.Sprintf(format, args...), colour}) }

	phase := "Ctrl-C ends it"
	if f.Draining {
		phase = "draining"
	}
	add(bold, "Penstock demo  %s  %s", clock(f.Elapsed), phase)
	add(dim, "embedded, in memory, made up:  generator → Kafka → Penstock → search index")
	add(plain, "")
	ls = append(ls, f.rates(s.Width)...)
	add(plain, "")
	ls = append(ls, f.ledger()...)
	add(plain, "")
	head := len(ls)
	states := f.states()
	events := f.Events
	if full := head + len(states) + 1 + len(events); s.Height > 0 && full > s.Height { // the newest are the best
		events = events[min(full-s.Height, max(len(events)-2, 0)):]
	}
	var tail []line
	if f.Fault != "" {
		tail = append(tail, line{"scripted fault: " + clean(f.Fault), yellow})
	}
	for _, e := range events {
		tail = append(tail, line{"  " + clock(e.At) + "  " + clean(e.Text), dim})
	}
	if room := s.Height - head - len(tail); s.Height > 0 && len(states) > max(room, 3) {
		states = squeeze(states, max(room, 3))
	}
	ls = append(append(ls, states...), tail...)
	if s.Height > 0 && len(ls) > s.Height {
		ls = ls[:s.Height]
	}
	return s.paint(ls)
}

func (f Frame) rates(width int) []line {
	top := 1.0
	if len(f.InHistory)+len(f.OutHistory) > 0 {
		top = max(1, slices.Max(append(slices.Clone(f.InHistory), f.OutHistory...)))
	}
	graph := max(0, min(historyLength, width-28))
	waiting := ""
	if f.Waiting {
		waiting = "  (the generator waits: enough is queued)"
	}
	lag, age := f.Lag()
	lagLine := line{fmt.Sprintf("  %-8s %8s records, the oldest %.1f s old", "lag", grouped(lag), age.Seconds()), plain}
	if f.Held() > 0 {
		lagLine.colour = yellow
	}
	share := 0.0
	if f.MemoryLimit > 0 {
		share = float64(f.MemoryUsed) / float64(f.MemoryLimit)
	}
	return []line{
		{fmt.Sprintf("  %-8s %8s /s  %s%s", "in", grouped(int64(f.In+0.5)), spark(f.InHistory, top, graph), waiting), plain},
		{fmt.Sprintf("  %-8s %8s /s  %s", "out", grouped(int64(f.Out+0.5)), spark(f.OutHistory, top, graph)), green},
		lagLine,
		{fmt.Sprintf("  %-8s %8s of %s  %s", "memory", size(f.MemoryUsed), size(f.MemoryLimit), bar(share, 20)), plain},
		{fmt.Sprintf("  %-8s %8s documents, %s of them searchable", "index", grouped(f.Documents), grouped(f.Searchable)), plain},
	}
}

// LedgerRows are the entries of a ledger in order, the sum first.
func LedgerRows(c pipeline.Counts) []struct {
	Name  string
	Count int64
} {
	return []struct {
		Name  string
		Count int64
	}{
		{"fetched", c.Fetched},
		{"stored", c.Stored},
		{"duplicate", c.Duplicate},
		{"dead-lettered", c.DeadLettered},
		{"skipped", c.Skipped},
		{"abandoned", c.Abandoned},
		{"in flight", c.InFlight},
	}
}

// LedgerTable is a ledger as aligned lines, with whether it balances.
func LedgerTable(c pipeline.Counts) []string {
	var out []string
	for i, r := range LedgerRows(c) {
		sign := " "
		switch i {
		case 0:
		case 1:
			sign = "="
		default:
			sign = "+"
		}
		out = append(out, fmt.Sprintf("  %s %-14s %12s", sign, r.Name, grouped(r.Count)))
	}
	verdict := "  every record is accounted for"
	if !c.Balanced() {
		verdict = "  THE LEDGER DOES NOT BALANCE"
	}
	return append(out, verdict)
}

// ledger is the same side by side, in three lines.
func (f Frame) ledger() []line {
	var head, counts strings.Builder
	for _, r := range LedgerRows(f.Ledger) {
		n := grouped(r.Count)
		width := max(len(r.Name), len(n))
		fmt.Fprintf(&head, "  %*s", width, r.Name)
		fmt.Fprintf(&counts, "  %*s", width, n)
	}
	verdict := line{"  every record is accounted for", green}
	if !f.Ledger.Balanced() {
		verdict = line{"  THE LEDGER DOES NOT BALANCE", red}
	}
	if f.Retries >= 0 {
		verdict.text += "; documents sent again: " + grouped(f.Retries)
	}
	return []line{{head.String(), dim}, {counts.String(), bold}, verdict}
}

// states lists the partitions: those that are held first to be cut last.
func (f Frame) states() []line {
	width := len("partition")
	for _, p := range f.Partitions {
		width = max(width, len(name(p)))
	}
	ls := []line{{fmt.Sprintf("  %-*s  %-16s %10s  %s", width, "partition", "state", "lag", "why"), dim}}
	if f.Source != "" {
		ls = append(ls, line{"  " + clean(f.Source), red})
	}
	sorted := slices.Clone(f.Partitions)
	slices.SortStableFunc(sorted, func(a, b Partition) int { return rank(a) - rank(b) })
	for _, p := range sorted {
		lag := "?"
		if p.Lag >= 0 {
			lag = grouped(p.Lag)
		}
		text := strings.TrimRight(fmt.Sprintf("  %-*s  %-16s %10s  %s", width, name(p), p.State, lag, clean(p.Reason)), " ")
		ls = append(ls, line{text, [...]string{red, yellow, plain}[rank(p)]})
	}
	return ls
}

func name(p Partition) string { return fmt.Sprintf("%s/%d", clean(p.Topic), p.Number) }

func rank(p Partition) int {
	switch {
	case p.State.Held():
		return 0
	case p.State != pipeline.StateFetching:
		return 1
	}
	return 2
}

// squeeze keeps the first lines and says how many are left out.
func squeeze(ls []line, n int) []line {
	left := len(ls) - (n - 1)
	return append(ls[:n-1:n-1], line{fmt.Sprintf("  and %d more", left), dim})
}

package compare

import (
	"fmt"
	"io"
	"math"
)

// Run is what one run of one program has shown.
type Run struct {
	// Rate is documents per second, from the first that arrived to the last.
	Rate float64
	// CPU is seconds of user and system time per million documents, start-up
	// included.
	CPU float64
	// Peak is the most resident memory in bytes.
	Peak int64
	// SinkCPU is the sink's seconds per million documents.
	SinkCPU float64
}

// Pair is a run of each program, one after the other.
type Pair struct {
	FloorFirst      bool
	Floor, Penstock Run
}

// target is what the ratio of Penstock to the bare loop should be.
type target struct {
	name  string
	of    func(Run) float64
	bound float64
	most  bool // bound is the most, not the least
}

func rate(r Run) float64 { return r.Rate }
func cpu(r Run) float64  { return r.CPU }
func peak(r Run) float64 { return float64(r.Peak) }
func sunk(r Run) float64 { return r.SinkCPU }

var (
	nullTargets = []target{
		{name: "CPU seconds per million", of: cpu, bound: 1.3, most: true},
		{name: "documents/s", of: rate, bound: 0.75},
	}
	searchTargets = []target{{name: "documents/s", of: rate, bound: 0.95}}
)

// ratio is the median over the pairs of Penstock's value to the bare loop's:
// within a pair both had the same machine.
func ratio(pairs []Pair, of func(Run) float64) float64 {
	var all []float64
	for _, p := range pairs {
		all = append(all, of(p.Penstock)/of(p.Floor))
	}
	return median(all)
}

// medianOf gives the median of each figure of one program.
func medianOf(pairs []Pair, program func(Pair) Run) Run {
	of := func(figure func(Run) float64) float64 {
		var all []float64
		for _, p := range pairs {
			all = append(all, figure(program(p)))
		}
		return median(all)
	}
	return Run{Rate: of(rate), CPU: of(cpu), Peak: int64(of(peak)), SinkCPU: of(sunk)}
}

// writeTable prints the pairs in Markdown, the programs in the order they ran.
func writeTable(w io.Writer, pairs []Pair, targets []target) {
	fmt.Fprint(w, "| pair | program | documents/s | CPU s per million | peak MiB | sink's CPU s per million |\n|---|---|---:|---:|---:|---:|\n")
	for i, p := range pairs {
		order := []func(){
			func() { writeRow(w, fmt.Sprint(i+1), "bare loop", p.Floor) },
			func() { writeRow(w, fmt.Sprint(i+1), "penstock", p.Penstock) },
		}
		if !p.FloorFirst {
			order[0], order[1] = order[1], order[0]
		}
		order[0]()
		order[1]()
	}
	writeRow(w, "median", "bare loop", medianOf(pairs, func(p Pair) Run { return p.Floor }))
	writeRow(w, "median", "penstock", medianOf(pairs, func(p Pair) Run { return p.Penstock }))
	fmt.Fprintf(w, "| **ratio** | **penstock / bare loop, median of the pairs' ratios** | **%.2f** | **%.2f** | **%.2f** | **%.2f** |\n",
		ratio(pairs, rate), ratio(pairs, cpu), ratio(pairs, peak), ratio(pairs, sunk))
	fmt.Fprintln(w)
	for _, t := range targets {
		got, word, verdict := ratio(pairs, t.of), "at least", "missed"
		if t.most {
			word = "at most"
		}
		if got >= t.bound && !t.most || got <= t.bound && t.most {
			verdict = "met"
		}
		fmt.Fprintf(w, "- %s: %.3f x the bare loop's, wanted %s %.2f: %s\n", t.name, got, word, t.bound, verdict)
	}
}

func writeRow(w io.Writer, pair, program string, r Run) {
	fmt.Fprintf(w, "| %s | %s | %s | %.3f | %d | %.3f |\n", pair, program, thousands(int64(math.Round(r.Rate))), r.CPU, r.Peak>>20, r.SinkCPU)
}

// thousands writes 1234567 as 1,234,567.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

package compare

import (
	"strings"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{7}, 7},
		{[]float64{9, 1}, 5},
		{[]float64{100, 1, 3}, 3},
		{[]float64{4, 1, 100, 2}, 3},
	} {
		before := append([]float64(nil), c.values...)
		if got := median(c.values); got != c.want {
			t.Errorf("the median of %v is %g, want %g", c.values, got, c.want)
		}
		for i := range before {
			if before[i] != c.values[i] {
				t.Fatalf("%v was sorted in place", before)
			}
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -123456: "-123,456"} {
		if got := thousands(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	pairs := []Pair{
		{FloorFirst: true, Floor: Run{Rate: 1000, CPU: 1, Peak: 10 << 20, SinkCPU: 4}, Penstock: Run{Rate: 800, CPU: 1.2, Peak: 5 << 20, SinkCPU: 5}},
		{FloorFirst: false, Floor: Run{Rate: 2000, CPU: 2, Peak: 20 << 20, SinkCPU: 2}, Penstock: Run{Rate: 1200, CPU: 2.8, Peak: 5 << 20, SinkCPU: 3}},
		{FloorFirst: true, Floor: Run{Rate: 1500, CPU: 1, Peak: 30 << 20, SinkCPU: 8}, Penstock: Run{Rate: 1050, CPU: 1.1, Peak: 6 << 20, SinkCPU: 4}},
	}
	var b strings.Builder
	writeTable(&b, pairs, nullTargets)
	got := b.String()
	// Ratios of the rates are 0.8, 0.6, 0.7, of the CPU 1.2, 1.4, 1.1, of the peaks 0.5, 0.25,
	// 0.2, of the sink 1.25, 1.5, 0.5.
	for _, want := range []string{
		"| 1 | bare loop | 1,000 | 1.000 | 10 | 4.000 |\n| 1 | penstock | 800 | 1.200 | 5 | 5.000 |\n| 2 | penstock |",
		"| median | bare loop | 1,500 | 1.000 | 20 | 4.000 |\n",
		"| median | penstock | 1,050 | 1.200 | 5 | 4.000 |\n",
		"| **0.70** | **1.20** | **0.25** | **1.25** |\n",
		"CPU seconds per million: 1.200 x the bare loop's, wanted at most 1.30: met\n",
		"documents/s: 0.700 x the bare loop's, wanted at least 0.75: missed\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

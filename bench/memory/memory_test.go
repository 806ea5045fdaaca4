package memory

import (
	"strings"
	"testing"

	"penstock/bench/load"
	"penstock/configs/value"
)

func TestTable(t *testing.T) {
	var b strings.Builder
	writeTable(&b, []row{
		{topic: "even", partitions: 64, requests: 2, peak: 384 << 20},
		{topic: "more", partitions: 8, requests: 3, peak: 384<<20 + 1},
	}, 256*value.MiB)
	for _, want := range []string{
		"| even | 64 | 2 | 384 | 1.50 | at most 1.5: met |\n",
		"| more | 8 | 3 | 384 | 1.50 | at most 1.5: missed |\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// The topics can be filled as they stand, and hold several times the limit.
func TestCases(t *testing.T) {
	for _, c := range Cases() {
		c.Partitions = partitions
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", c.Topic, err)
		}
		m, err := load.NewMaker(c.Kind, seed)
		if err != nil {
			t.Fatal(err)
		}
		if n := c.Documents * int64(len(m.Next())); n < 1<<30 {
			t.Errorf("%s holds %d bytes, which shows nothing about a limit of 256 MiB", c.Topic, n)
		}
	}
}

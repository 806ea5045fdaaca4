package procs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// line is a stat line with fields in their places; the name is a trap.
func line(pid, parent, user, system int) string {
	return fmt.Sprintf("%d (a b) c (d) S %d 1 1 0 -1 4194304 11 12 13 14 %d %d 7 8 20 0 1 0 99 1 2\n", pid, parent, user, system)
}

func TestParseStat(t *testing.T) {
	got, err := parseStat(line(7, 3, 150, 25))
	if err != nil || got.parent != 3 || got.cpu != 1750*time.Millisecond {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, text := range []string{"", "7 name S 1", "7 (x) S 1 2 3", strings.Replace(line(7, 3, 1, 2), "14 1 2", "14 x 2", 1)} {
		if got, err := parseStat(text); err == nil {
			t.Errorf("%q gave %+v", text, got)
		}
	}
}

func TestParsePeak(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"Name:\tx\nVmPeak:\t  9000 kB\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n", 2 << 20, true},
		{"Name:\tzombie\n", 0, true},
		{"VmHWM:\t2 MB\n", 0, false},
		{"VmHWM:\tmuch kB\n", 0, false},
	} {
		if got, err := parsePeak(c.text); got != c.want || (err == nil) != c.ok {
			t.Errorf("%q gave %d, %v", c.text, got, err)
		}
	}
}

func TestUsageOfATree(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []struct{ pid, parent, ticks, kib int }{
		{1, 0, 1000, 1000},
		{10, 1, 1, 10},
		{11, 10, 20, 200},
		{12, 11, 300, 3000},
		{20, 1, 5000, 5000},
		{30, 31, 7, 7},
		{31, 30, 7, 7}, // a ring, as reused ids can make one
	} {
		write(fmt.Sprintf("%d/stat", p.pid), line(p.pid, p.parent, p.ticks, 0))
		write(fmt.Sprintf("%d/status", p.pid), fmt.Sprintf("VmHWM:\t%d kB\n", p.kib))
	}
	write("meminfo", "not a process")
	got, err := UsageOf(root, 10)
	if want := (Usage{CPU: 3210 * time.Millisecond, Peak: 3210 << 10}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if _, err := UsageOf(root, 99); err == nil {
		t.Error("a process that is not there has used something")
	}
}

func TestDescriptions(t *testing.T) {
	if got := cpuModel("processor\t: 0\nmodel name\t: Fast CPU: 3 GHz\nmodel name\t: other\n"); got != "Fast CPU: 3 GHz" {
		t.Errorf("the model is %q", got)
	}
	if got := totalMemory("MemTotal:       25165824 kB\nMemFree: 1 kB\n"); got != "24 GiB" {
		t.Errorf("the memory is %q", got)
	}
}

func TestChild(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs a shell")
	}
	c, err := Start("the shell", []string{"sh", "-c", "echo at first; exec sleep 60"}, Environment())
	if err != nil {
		t.Fatal(err)
	}
	used, err := c.Usage()
	if err != nil || used.Peak == 0 {
		t.Errorf("while it runs: %+v, %v", used, err)
	}
	c.Stop(10 * time.Second)
	<-c.Done()
	if used, err := c.Usage(); err != nil || used.Peak == 0 {
		t.Errorf("after its end: %+v, %v", used, err)
	}

	c, err = Start("the shell", []string{"sh", "-c", "echo so it is; exit 3"}, Environment())
	if err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	if got := c.Failure("ended early").Error(); !strings.Contains(got, "so it is") || !strings.Contains(got, "status 3") {
		t.Errorf("the failure says %q", got)
	}
	if _, err := Start("nothing", []string{filepath.Join(t.TempDir(), "none")}, nil); err == nil {
		t.Error("started what is not there")
	}
}

func TestEnvironmentLeavesSettingsOut(t *testing.T) {
	t.Setenv("PENSTOCK_BATCH_BYTES", "1KiB")
	t.Setenv("PENSTOCKS", "kept")
	env := "\n" + strings.Join(Environment("PENSTOCK_DECODE=text"), "\n") + "\n"
	if strings.Contains(env, "BATCH_BYTES") || !strings.Contains(env, "\nPENSTOCKS=kept\n") || !strings.Contains(env, "\nPENSTOCK_DECODE=text\n") {
		t.Error("the shell's settings are not left out, or others are")
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var o tail
	fmt.Fprint(&o, strings.Repeat("a", 3*tailBytes))
	fmt.Fprint(&o, "the end")
	if got := o.String(); len(got) != tailBytes || !strings.HasSuffix(got, "athe end") {
		t.Errorf("kept %d bytes, at the end %q", len(got), got[len(got)-10:])
	}
}

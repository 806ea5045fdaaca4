// Package procs runs the programs that are measured, and reads from /proc what
// they use. It needs Linux.
package procs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Usage is what a process and its descendants have used.
type Usage struct {
	// CPU is user and system time together, start-up included.
	CPU time.Duration
	// Peak is the most resident memory so far in bytes, summed over the
	// processes: VmHWM.
	Peak int64
}

// tick is the unit of the times in /proc/PID/stat: USER_HZ, which is 100 on
// every architecture that Go runs on.
const tick = 10 * time.Millisecond

// UsageOf reads what pid and its descendants have used; root is "/proc".
func UsageOf(root string, pid int) (Usage, error) {
	all, err := snapshot(root)
	if err != nil {
		return Usage{}, err
	}
	if _, ok := all[pid]; !ok {
		return Usage{}, fmt.Errorf("there is no process %d in %s", pid, root)
	}
	var sum Usage
	for p, s := range all {
		if !descends(all, p, pid) {
			continue
		}
		sum.CPU += s.cpu
		text, err := os.ReadFile(filepath.Join(root, strconv.Itoa(p), "status"))
		if err != nil {
			continue // it has just ended
		}
		peak, err := parsePeak(string(text))
		if err != nil {
			return Usage{}, fmt.Errorf("process %d: %w", p, err)
		}
		sum.Peak += peak
	}
	return sum, nil
}

// stat is what is needed of /proc/PID/stat.
type stat struct {
	parent int
	cpu    time.Duration
}

// snapshot reads the stat of every process.
func snapshot(root string) (map[int]stat, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("reading the processes (this needs Linux): %w", err)
	}
	all := make(map[int]stat, len(entries))
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, e.Name(), "stat"))
		if err != nil {
			continue // it has just ended
		}
		if all[pid], err = parseStat(string(text)); err != nil {
			return nil, fmt.Errorf("process %d: %w", pid, err)
		}
	}
	return all, nil
}

// descends is whether p is of or below ancestor.
func descends(all map[int]stat, p, ancestor int) bool {
	// As many steps as there are processes: ids that were reused between two
	// reads could make a ring.
	for range len(all) {
		if p == ancestor {
			return true
		}
		s, ok := all[p]
		if !ok {
			return false
		}
		p = s.parent
	}
	return false
}

// parseStat reads one line of /proc/PID/stat: proc_pid_stat(5), fields 4
// (ppid), 14 (utime) and 15 (stime). The name before them may hold anything,
// parentheses and spaces too, so fields are counted from its end.
func parseStat(text string) (stat, error) {
	end := strings.LastIndexByte(text, ')')
	if end < 0 {
		return stat{}, errors.New("its stat has no name in parentheses")
	}
	fields := strings.Fields(text[end+1:])
	if len(fields) < 13 {
		return stat{}, fmt.Errorf("its stat has %d fields after the name, not 13 or more", len(fields))
	}
	parent, err1 := strconv.Atoi(fields[1])
	user, err2 := strconv.ParseInt(fields[11], 10, 64)
	system, err3 := strconv.ParseInt(fields[12], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return stat{}, fmt.Errorf("its stat: %w", err)
	}
	return stat{parent: parent, cpu: time.Duration(user+system) * tick}, nil
}

// parsePeak reads VmHWM from /proc/PID/status in bytes. A process without
// memory of its own (a zombie) has none: 0.
func parsePeak(text string) (int64, error) {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "VmHWM:")
		if !ok {
			continue
		}
		number, unit, _ := strings.Cut(strings.TrimSpace(rest), " ")
		kib, err := strconv.ParseInt(number, 10, 64)
		if err != nil || unit != "kB" {
			return 0, fmt.Errorf("its VmHWM is %q, not a number of kB", strings.TrimSpace(rest))
		}
		return kib << 10, nil
	}
	return 0, nil
}

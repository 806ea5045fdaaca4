package pipeline

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"penstock/configs/value"
)

// DefaultMemoryLimit is used where neither the configuration nor a container
// sets a limit.
const DefaultMemoryLimit = 512 * value.MiB

// Effective is the limit in force, and where it comes from: the setting, 40 %
// of the container's memory, or the default.
func (c MemoryConfig) Effective() (limit value.Bytes, from string) {
	if c.Limit > 0 {
		return c.Limit, "memory.limit"
	}
	if n := containerMemory("/"); n > 0 {
		return max(32*value.MiB, value.Bytes(n)*2/5), "40 % of the container's " + value.Bytes(n).String()
	}
	return DefaultMemoryLimit, "the default, since there is no container limit"
}

// containerMemory reads the cgroup's limit, version 2 then 1; 0 if there is none.
// A process in a container sees its own cgroup at the root of the hierarchy;
// outside, /proc/self/cgroup says where it is, and every parent counts.
func containerMemory(root string) int64 {
	least := int64(math.MaxInt64)
	for _, dir := range cgroupDirs(root) {
		for _, file := range []string{"memory.max", "memory.limit_in_bytes"} {
			text, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				continue
			}
			n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			// Version 1 writes "no limit" as a number near the largest.
			if err == nil && n > 0 && n < 1<<60 {
				least = min(least, n)
			}
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

func cgroupDirs(root string) []string {
	v2 := filepath.Join(root, "sys/fs/cgroup")
	v1 := filepath.Join(v2, "memory")
	dirs := []string{v2, v1}
	text, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return dirs
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		base := v2
		switch {
		case strings.Contains(","+fields[1]+",", ",memory,"):
			base = v1
		case fields[1] != "":
			continue
		}
		for path := filepath.Clean("/" + fields[2]); path != "/"; path = filepath.Dir(path) {
			dirs = append(dirs, filepath.Join(base, path))
		}
	}
	return dirs
}

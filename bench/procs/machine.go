package procs

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// Machine describes what is measured on: processors, memory and kernel.
func Machine() string {
	cpu, _ := os.ReadFile("/proc/cpuinfo")
	mem, _ := os.ReadFile("/proc/meminfo")
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%d cores (%s), %s of memory, Linux %s, %s", runtime.NumCPU(), cpuModel(string(cpu)), totalMemory(string(mem)),
		strings.TrimSpace(string(kernel)), runtime.Version())
}

// cpuModel finds the first processor's name in /proc/cpuinfo.
func cpuModel(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if key, name, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(name)
		}
	}
	return runtime.GOARCH
}

// totalMemory finds the memory's size in /proc/meminfo.
func totalMemory(meminfo string) string {
	for line := range strings.Lines(meminfo) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			if kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64); err == nil {
				return fmt.Sprintf("%.0f GiB", kib/(1<<20))
			}
		}
	}
	return "an unknown size"
}

// Version is the first line that "program version" prints.
func Version(program string) (string, error) {
	out, err := exec.Command(program, "version").Output()
	if err != nil {
		return "", fmt.Errorf("running %s version (build it with make build, or set -penstock): %w", program, err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line, nil
}

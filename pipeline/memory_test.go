package pipeline

import (
	"os"
	"path/filepath"
	"testing"

	"penstock/configs/value"
)

func TestMemoryLetsTheTooLargePassAlone(t *testing.T) {
	m := newMemory(100)
	if !m.tryAcquire(60) || m.tryAcquire(50) || !m.tryAcquire(40) {
		t.Fatal("the limit is not kept")
	}
	m.release(60)
	m.release(40)
	select {
	case <-m.released:
	default:
		t.Error("no word of released memory")
	}
	if !m.tryAcquire(1000) {
		t.Fatal("what is larger than the limit must pass alone")
	}
	if m.tryAcquire(1) {
		t.Error("nothing passes beside what is larger than the limit")
	}
	m.release(1000)
	if got := m.inUse(); got != 0 {
		t.Errorf("%d bytes in use at the end", got)
	}
}

func TestContainerMemory(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"none", nil, 0},
		{"version 2", map[string]string{"sys/fs/cgroup/memory.max": "268435456\n"}, 256 << 20},
		{"version 2 without limit", map[string]string{"sys/fs/cgroup/memory.max": "max\n"}, 0},
		{"version 1", map[string]string{"sys/fs/cgroup/memory/memory.limit_in_bytes": "134217728\n"}, 128 << 20},
		{"version 1 without limit", map[string]string{"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		{"version 2 below the root", map[string]string{
			"proc/self/cgroup":                      "0::/kube/pod/c\n",
			"sys/fs/cgroup/kube/pod/memory.max":     "1000000\n",
			"sys/fs/cgroup/kube/pod/c/memory.max":   "max\n",
			"sys/fs/cgroup/kube/memory.max":         "9000000\n",
			"sys/fs/cgroup/kube/pod/c/d/memory.max": "1\n",
		}, 1000000},
		{"version 1 below the root", map[string]string{
			"proc/self/cgroup": "12:cpu,cpuacct:/x\n5:memory:/docker/abc\n",
			"sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "2000000\n",
		}, 2000000},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range c.files {
				path := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := containerMemory(root); got != c.want {
				t.Errorf("limit is %d, want %d", got, c.want)
			}
		})
	}
}

func TestEffectiveLimitPrefersTheSetting(t *testing.T) {
	if got, from := (MemoryConfig{Limit: 64 * value.MiB}).Effective(); got != 64*value.MiB || from != "memory.limit" {
		t.Errorf("limit is %s from %s", got, from)
	}
}

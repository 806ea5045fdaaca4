package procs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Child is a program that is measured.
type Child struct {
	name string
	cmd  *exec.Cmd
	out  *tail
	done chan struct{}
	err  error // of Wait, once done is closed
}

// Start starts a program with an environment. What it prints is kept for error
// messages, the last 4 KiB of it.
func Start(name string, argv, env []string) (*Child, error) {
	c := &Child{name: name, cmd: exec.Command(argv[0], argv[1:]...), out: &tail{}, done: make(chan struct{})}
	c.cmd.Env = env
	c.cmd.Stdout, c.cmd.Stderr = c.out, c.out
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s (%s): %w", name, argv[0], err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.done)
	}()
	return c, nil
}

// Done is closed when the program has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Usage gives what it has used so far, or in all once it has ended.
func (c *Child) Usage() (Usage, error) {
	u, err := UsageOf("/proc", c.cmd.Process.Pid)
	if err == nil && u.Peak > 0 {
		return u, nil
	}
	// Ended, or just about to: a process that exits gives its memory up first.
	select {
	case <-c.done:
	case <-time.After(5 * time.Second):
		return Usage{}, err
	}
	state := c.cmd.ProcessState
	u = Usage{CPU: state.UserTime() + state.SystemTime()}
	if r, ok := state.SysUsage().(*syscall.Rusage); ok {
		u.Peak = r.Maxrss << 10 // KiB on Linux
	}
	return u, nil
}

// Self gives the CPU time that this process has used, without its children's.
func Self() (time.Duration, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0, err
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), nil
}

// Stop asks it to end with SIGTERM, and kills it after the grace period.
func (c *Child) Stop(grace time.Duration) {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-c.done:
	case <-t.C:
		_ = c.cmd.Process.Kill()
		<-c.done
	}
}

// Failure is the error for a program that ended before its work was done, or
// did not get on; why says which.
func (c *Child) Failure(why string) error {
	err := fmt.Errorf("%s %s; it printed at last:\n%s", c.name, why, c.out)
	select {
	case <-c.done:
		return errors.Join(err, c.err)
	default:
		return err
	}
}

// Environment is this process's without the variables that set Penstock up
// (PENSTOCK_...), and with more: a measurement must not depend on the shell.
func Environment(more ...string) []string {
	var env []string
	for _, v := range os.Environ() {
		if len(v) < 9 || v[:9] != "PENSTOCK_" {
			env = append(env, v)
		}
	}
	return append(env, more...)
}

// tail keeps the last bytes written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailBytes = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if n := len(t.b) - tailBytes; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	return len(p), nil
}

// String gives what is kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.b))
}

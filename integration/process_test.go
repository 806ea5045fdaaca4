package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"penstock/pipeline"
)

// logsVariable names a folder where what every penstock wrote is kept, for
// looking into what a test only counts.
const logsVariable = "PENSTOCK_IT_LOGS"

// process is a penstock that was started by "penstock run".
type process struct {
	t      testing.TB
	name   string
	cmd    *exec.Cmd
	stderr lines
	ended  chan struct{} // closed when it has ended; err is set before
	err    error
	web    *web

	// What was read last: one that was killed can not be asked any more.
	seen    pipeline.Status
	metrics map[string]float64
}

// start runs penstock with that configuration until it is stopped, killed or
// done, or the test is over.
func start(t testing.TB, name string, c config) *process {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, name: name, ended: make(chan struct{}), web: newWeb()}
	p.cmd = exec.Command(path, "run", "-c", c.file(t))
	p.cmd.Stderr = &p.stderr
	p.cmd.Stdout = &p.stderr
	// The first race ends it, with a code that no test takes for success.
	p.cmd.Env = append(os.Environ(), "GORACE=halt_on_error=1 exitcode=66")
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.signal(syscall.SIGKILL)
		<-p.ended
		p.web.close()
		if line := p.stderr.crash(); line != "" {
			t.Errorf("%s: %s", p.name, line)
		}
		if dir := os.Getenv(logsVariable); dir != "" {
			name := strings.Map(func(r rune) rune {
				if r == '/' || r == ' ' {
					return '_'
				}
				return r
			}, t.Name()+"-"+p.name)
			if err := os.WriteFile(filepath.Join(dir, name+".log"), []byte(p.stderr.text()), 0o600); err != nil {
				t.Error(err)
			}
		}
		if t.Failed() {
			t.Logf("the end of what %s wrote:\n%s", p.name, p.stderr.tail())
		}
	})
	return p
}

// running starts penstock and waits until its pages answer.
func running(t testing.TB, name string, c config) *process {
	t.Helper()
	p := start(t, name, c)
	eventually(t, name+" to serve its pages", func() error {
		if p.over() {
			return fmt.Errorf("%w: %s ended: %v", errStopped, name, p.err)
		}
		var line struct{ Address string }
		if !p.stderr.last("serving /livez, /readyz, /status and /metrics", &line) {
			return errors.New("it has not said where")
		}
		p.web.address = line.Address
		_, err := p.status()
		return err
	})
	return p
}

func (p *process) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (p *process) signal(s syscall.Signal) {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Errorf("%s: sending %v: %v", p.name, s, err)
	}
}

// kill ends it as kill -9 does, and waits until it has gone.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.ended
}

// exit waits for the end and gives the exit code.
func (p *process) exit() int {
	p.t.Helper()
	eventually(p.t, "the end of "+p.name, func() error {
		if !p.over() {
			return errors.New("it still runs")
		}
		return nil
	})
	return p.cmd.ProcessState.ExitCode()
}

// stop ends it by SIGTERM. It must exit with 0 and a ledger that balances.
func (p *process) stop() ledger {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	return p.done()
}

// done waits until it ends by itself, with 0 and a ledger that balances.
func (p *process) done() ledger {
	p.t.Helper()
	if code := p.exit(); code != 0 {
		p.t.Errorf("%s ended with code %d, want 0", p.name, code)
	}
	return p.balanced()
}

// ledger is the line that a process writes at its end.
type ledger struct {
	pipeline.Counts
	Balanced bool `json:"balanced"`
}

// ledger reads that line, and tells whether there is one.
func (p *process) ledger() (l ledger, ok bool) {
	ok = p.stderr.last("ledger", &l)
	return l, ok
}

// balanced gives the ledger, which must account for every record.
func (p *process) balanced() ledger {
	p.t.Helper()
	l, ok := p.ledger()
	if !ok {
		p.t.Errorf("%s ended without its ledger", p.name)
		return l
	}
	if sum := l.Stored + l.Duplicate + l.DeadLettered + l.Skipped + l.Abandoned + l.InFlight; !l.Balanced || l.Fetched != sum {
		p.t.Errorf("%s: the ledger does not balance: %d fetched, %d accounted for: %+v", p.name, l.Fetched, sum, l)
	}
	return l
}

// awaitLine waits until it has logged that message.
func (p *process) awaitLine(message string) {
	p.t.Helper()
	eventually(p.t, p.name+" to say "+message, func() error {
		if !p.stderr.last(message, nil) {
			return errors.New("it has not")
		}
		return nil
	})
}

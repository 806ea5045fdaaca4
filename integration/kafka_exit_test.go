package integration

import (
	"strings"
	"syscall"

	"penstock/pipeline"
	"penstock/sinks/elasticsearch/estest"
)

// The exit codes are those of docs/operations.md. That 0 is for a run that
// reached its end, and for SIGTERM, is seen in all other tests.
func testExitCodes(s *stand) {
	s.create(1, s.topic)
	s.send(s.records(20, 1, "early")...)

	for _, wrong := range []struct {
		name string
		c    config
		says string
	}{
		{"unknown key", s.config().with(config{"source.kafka.broker": "a:1"}), "source.kafka.broker"},
		{"missing dead-letter topic", s.config().with(config{"dead_letter.topic": "nowhere"}), "dead_letter.create"},
	} {
		p := start(s.t, wrong.name, wrong.c)
		if code := p.exit(); code != 2 {
			s.t.Errorf("%s: exit code %d, want 2", wrong.name, code)
		}
		if !strings.Contains(p.stderr.text(), wrong.says) {
			s.t.Errorf("%s: it does not say %q:\n%s", wrong.name, wrong.says, p.stderr.text())
		}
	}

	// The sink takes nothing: what is in flight at SIGTERM is left, and not committed.
	s.sink.Hook(func(*estest.Request) *estest.Reply { return estest.Failure(503, "unavailable", "down") })
	p := running(s.t, "held", s.config().with(config{"delivery.shutdown_grace": "2s"}))
	p.awaitState(pipeline.StateHeldSink)
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 3 {
		s.t.Errorf("SIGTERM during a hold: exit code %d, want 3", code)
	}
	if l := p.balanced(); l.Abandoned != 20 {
		s.t.Errorf("SIGTERM during a hold: the ledger says %d abandoned, want 20", l.Abandoned)
	}

	p = running(s.t, "impatient", s.config().with(config{"delivery.shutdown_grace": "5m"}))
	p.awaitState(pipeline.StateHeldSink)
	p.signal(syscall.SIGTERM)
	p.awaitLine("stopping: storing and committing what is in flight; a second signal exits at once")
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 128+int(syscall.SIGTERM) {
		s.t.Errorf("second SIGTERM: exit code %d, want 143", code)
	}
	if got, err := s.committed(s.group, s.topic); err != nil || got[0] != 0 {
		s.t.Errorf("committed %v (%v) of what was never stored", got, err)
	}
}

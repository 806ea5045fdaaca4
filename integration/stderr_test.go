package integration

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
)

// lines collects what a process writes to its standard error.
type lines struct {
	mu   sync.Mutex
	rest []byte
	all  []string
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		l.all = append(l.all, string(l.rest[:i]))
		l.rest = l.rest[i+1:]
	}
}

func (l *lines) snapshot() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append(l.all[:len(l.all):len(l.all)], string(l.rest))
}

// text is all of it.
func (l *lines) text() string { return strings.Join(l.snapshot(), "\n") }

// tail is its end, for a test that failed.
func (l *lines) tail() string {
	all := l.snapshot()
	return strings.Join(all[max(0, len(all)-60):], "\n")
}

// last decodes the last log line with that message into fields, and tells
// whether there is one.
func (l *lines) last(message string, fields any) bool {
	all := l.snapshot()
	for i := len(all) - 1; i >= 0; i-- {
		var head struct{ Message string }
		if json.Unmarshal([]byte(all[i]), &head) == nil && head.Message == message {
			return fields == nil || json.Unmarshal([]byte(all[i]), fields) == nil
		}
	}
	return false
}

// count tells how many log lines have that message.
func (l *lines) count(message string) int {
	n := 0
	for _, line := range l.snapshot() {
		var head struct{ Message string }
		if json.Unmarshal([]byte(line), &head) == nil && head.Message == message {
			n++
		}
	}
	return n
}

// crash gives the line that tells of a bug in the program, "" if there is none.
func (l *lines) crash() string {
	for _, line := range l.snapshot() {
		for _, sign := range []string{"WARNING: DATA RACE", "panic: ", "fatal error: "} {
			if strings.HasPrefix(line, sign) {
				return line
			}
		}
	}
	return ""
}

package servers

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Suite wraps the tests of a package for its TestMain: it checks
// PENSTOCK_IT_REQUIRED first, and at the end closes the connection to Docker and
// says which servers were missing and which tests did not run for it.
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(servers.Suite(m)) }
func Suite(m interface{ Run() int }) interface{ Run() int } { return suite{m} }

type suite struct{ tests interface{ Run() int } }

// Run gives the exit code.
func (s suite) Run() int {
	if _, err := required(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	code := s.tests.Run()
	if err := disconnect(); err != nil {
		fmt.Fprintf(os.Stderr, "integration: closing the connection to Docker: %v\n", err)
	}
	absent.summary(os.Stdout)
	return code
}

// disconnect closes what connect and thisRun opened, if they did.
func disconnect() error {
	d := connected.Load()
	if d == nil {
		return nil
	}
	r, err := thisRun()
	if err != nil {
		return errors.Join(err, d.provider.Close())
	}
	return errors.Join(d.provider.Close(), r.lock.Close(), os.Remove(r.lock.Name()))
}

// need gives the image of a server, or ends the test: as failed if the server is
// required, as skipped otherwise.
func need(t testing.TB, kind Kind) string {
	t.Helper()
	must, err := required()
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() && !slices.Contains(must, kind) {
		t.Skipf("%s is not started with -short", kind)
	}
	image, err := images[kind]()
	if err == nil {
		return image
	}
	absent.add(os.Stdout, kind, t.Name(), err)
	if slices.Contains(must, kind) {
		t.Fatalf("%s is required by %s and cannot be had: %v", kind, requiredVariable, err)
	}
	t.Skipf("no %s", kind)
	return ""
}

// absence collects the servers that could not be had, with the tests that wanted them.
type absence struct {
	mu    sync.Mutex
	tests map[Kind][]string
}

var absent = &absence{tests: map[Kind][]string{}}

// add notes a test, and says why there is no such server when it is the first.
func (a *absence) add(w io.Writer, kind Kind, test string, why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.tests[kind]) == 0 {
		fmt.Fprintf(w, "integration: no %s: %v\n", kind, oneLine(why))
	}
	a.tests[kind] = append(a.tests[kind], test)
}

// summary lists what was not run, in one line for each server.
func (a *absence) summary(w io.Writer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, kind := range Kinds {
		tests := a.tests[kind]
		if len(tests) == 0 {
			continue
		}
		fmt.Fprintf(w, "integration: NOT RUN for want of %s: %s\n", kind, strings.Join(tests, ", "))
	}
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write generated files anew")

// The workers are the demo's search library's: it starts them with the process.
func TestMain(m *testing.M) {
	// Component tests wait more than they work. The command line has the last word.
	_ = flag.Set("test.parallel", "4")
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"))
}

// result is what one command line gave.
type result struct {
	code           int
	stdout, stderr string
}

// invoke runs one command line with this environment alone.
func invoke(t *testing.T, environ []string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{stdout: &stdout, stderr: &stderr, environ: environ}
	code := a.execute(context.Background(), args)
	return result{code, stdout.String(), stderr.String()}
}

// writeFile gives the path of a new file with this content.
func writeFile(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "penstock.yaml")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

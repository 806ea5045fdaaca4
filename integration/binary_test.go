package integration

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// binary is the penstock that the suites run, built when the first of them asks
// for it: under the race detector where that can be had (it needs a C compiler).
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "penstock-it-")
	if err != nil {
		return "", err
	}
	builtIn = dir
	path := filepath.Join(dir, "penstock")
	raceErr := build("-race", "-o", path)
	if raceErr == nil {
		return path, nil
	}
	if err := build("-o", path); err != nil {
		return "", err
	}
	fmt.Printf("integration: penstock runs without the race detector: %s\n", strings.Join(strings.Fields(raceErr.Error()), " "))
	return path, nil
})

// builtIn is the folder that binary made, "" if it was not asked.
var builtIn string

func build(flags ...string) error {
	args := append([]string{"build"}, flags...)
	cmd := exec.Command("go", append(args, "penstock/cmd/penstock")...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building penstock: %w: %s", err, out.String())
	}
	return nil
}

// cleaning removes the binary when the tests are over.
type cleaning struct{ tests interface{ Run() int } }

// Run gives the tests' exit code.
func (c cleaning) Run() int {
	code := c.tests.Run()
	if builtIn == "" {
		return code
	}
	if err := os.RemoveAll(builtIn); err != nil && !errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(os.Stderr, "integration: %v\n", err)
	}
	return code
}

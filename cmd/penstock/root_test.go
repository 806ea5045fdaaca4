package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"penstock/configs"
	"penstock/configs/value"
)

func TestUsageErrors(t *testing.T) {
	for args, want := range map[string]string{
		"valdate":         `unknown command "penstock valdate"; did you mean "penstock validate"?` + "\nRun \"penstock --help\" for usage.",
		"zzzzzz":          `unknown command "penstock zzzzzz"` + "\nRun \"penstock --help\" for usage.",
		"config refrence": `unknown command "penstock config refrence"; did you mean "penstock config reference"?` + "\nRun \"penstock config --help\" for usage.",
		"validate x":      `unexpected argument "x"` + "\nRun \"penstock validate --help\" for usage.",
		"validate --zzz":  "unknown flag: --zzz\nRun \"penstock validate --help\" for usage.",
		"validate -c":     "flag needs an argument: 'c' in -c\nRun \"penstock validate --help\" for usage.",
		"validate --config=": "--config is empty: name a file, or leave the flag out to use the environment alone\n" +
			"Run \"penstock validate --help\" for usage.",
	} {
		got := invoke(t, nil, strings.Fields(args)...)
		if got.code != exitUsage || got.stdout != "" || got.stderr != "penstock: "+want+"\n" {
			t.Errorf("penstock %s: %+v\nwant %s", args, got, want)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, args := range []string{"", "--help", "config", "validate --help"} {
		if got := invoke(t, nil, strings.Fields(args)...); got.code != exitDone || !strings.Contains(got.stdout, "Usage:") || got.stderr != "" {
			t.Errorf("penstock %s: %+v", args, got)
		}
	}
}

func TestVersion(t *testing.T) {
	version = "v9.8.7"
	t.Cleanup(func() { version = "" })
	if got := invoke(t, nil, "version"); got.code != exitDone || !strings.HasPrefix(got.stdout, "penstock v9.8.7 (go") {
		t.Errorf("%+v", got)
	}
	version = ""
	if got := buildVersion(); got == "" {
		t.Error("a build without a version has no name")
	}
}

func TestExitCodes(t *testing.T) {
	problem := &configs.Error{Problems: []*value.Problem{{Key: "a", Message: "b"}}}
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{&usageError{"penstock", errors.New("x")}, 2},
		{problem, 2},
		{fmt.Errorf("starting: %w", problem), 2},
		{&exitError{exitUndone, errors.New("x")}, 3},
		{fmt.Errorf("running: %w", &exitError{exitSignal + 15, errors.New("x")}), 143},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%v exits with %d, want %d", c.err, got, c.want)
		}
	}
}

// Each code that we give has its row in the table that users read.
func TestExitCodesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []int{exitDone, exitFailed, exitUsage, exitUndone} {
		if !strings.Contains(string(doc), "\n| "+strconv.Itoa(code)+" | ") {
			t.Errorf("docs/operations.md has no row for the exit code %d", code)
		}
	}
	if !strings.Contains(string(doc), fmt.Sprintf("\n| %d, %d | ", exitSignal+2, exitSignal+15)) {
		t.Error("docs/operations.md has no row for the signals")
	}
}

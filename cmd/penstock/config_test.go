package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"penstock/configs"
)

func TestSchema(t *testing.T) {
	config := DefaultConfig()
	if err := configs.CheckSchema(&config); err != nil {
		t.Error(err)
	}
}

// Nothing but what only the user can know is missing from the defaults.
func TestDefaultsLackLittle(t *testing.T) {
	config := DefaultConfig()
	var keys []string
	for _, p := range configs.Validate(&config) {
		keys = append(keys, p.Key)
	}
	const want = "source.kafka.brokers source.kafka.topics sink.elasticsearch.urls"
	if got := strings.Join(keys, " "); got != want {
		t.Errorf("the defaults lack %s, want %s", got, want)
	}
}

func TestReferenceIsCurrent(t *testing.T) {
	const name = "../../docs/reference.md"
	got := invoke(t, nil, "config", "reference")
	if got.code != exitDone {
		t.Fatalf("%+v", got)
	}
	if *update {
		if err := os.WriteFile(name, []byte(got.stdout), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got.stdout != string(want) {
		t.Error("docs/reference.md is not what the settings say: run go generate ./cmd/penstock")
	}
	if again := invoke(t, nil, "config", "reference"); again.stdout != got.stdout {
		t.Error("the reference differs from one time to the next")
	}
}

func TestExamples(t *testing.T) {
	const secretFile = "/run/secrets/opensearch-password"
	names, err := filepath.Glob("../../configs/examples/*.yaml")
	if err != nil || len(names) < 3 {
		t.Fatalf("%v, %v", names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		// The only thing that is not on every machine.
		file := writeFile(t, strings.ReplaceAll(string(text), secretFile, writeFile(t, "x")))
		got := invoke(t, []string{"HOSTNAME=penstock-0", "ES_API_KEY=x"}, "validate", "-c", file)
		if got.code != exitDone || got.stderr != "" {
			t.Errorf("%s: exit %d\n%s", name, got.code, got.stderr)
		}
	}
}

func TestMinimalExampleIsTheDocumentedOne(t *testing.T) {
	text, err := os.ReadFile("../../configs/examples/minimal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(text), minimal) {
		t.Errorf("configs/examples/minimal.yaml says more or less than\n%s", minimal)
	}
}

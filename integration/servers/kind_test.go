package servers

import (
	"slices"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRequired(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        []Kind
		fails       bool
	}{
		{name: "nothing", value: ""},
		{name: "one", value: "kafka", want: []Kind{KafkaBroker}},
		{name: "a list with spaces", value: "kafka, opensearch2,", want: []Kind{KafkaBroker, OpenSearch2}},
		{name: "a misspelt name", value: "kafka,opensarch2", fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(requiredVariable, c.value)
			got, err := required()
			if (err != nil) != c.fails {
				t.Fatalf("error %v, want one: %v", err, c.fails)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestSuiteRefusesAMisspeltName(t *testing.T) {
	t.Setenv(requiredVariable, "kafak")
	tests := &counted{}
	if code := Suite(tests).Run(); code != 2 || tests.runs != 0 {
		t.Errorf("exit code %d after %d runs, want 2 and none", code, tests.runs)
	}
}

type counted struct{ runs int }

func (c *counted) Run() int { c.runs++; return 0 }

func TestEveryKindHasAnImage(t *testing.T) {
	for _, kind := range Kinds {
		from := origins[kind]
		if from.override == "" || from.official == "" {
			t.Errorf("%s: override %q, official image %q: both are needed", kind, from.override, from.official)
		}
		if kind != KafkaBroker && !slices.Contains(SearchKinds, kind) {
			t.Errorf("%s is in no list of what a test can start", kind)
		}
	}
}

package configs

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"penstock/configs/value"
)

const everyKey = `
source:
  kafka:
    brokers: [a:1, "b:2"]
    sasl: {password: 0123}
    size: 1.5KiB
    count: 7
    small: 255
    word: XYZ
    sizes: [1, -2]
    words: [one, Two]
decode: 0042
ratio: 1e-3
enabled: true
interval: 1m30s
sink:
  urls: ["http://es:9200"]
  index: Logs-{topic}
  password: "p: w"
  headers:
    - name: X-Tenant
      value: t
  routes:
    - {topic: A.B, index: c, after: 24h}
    - topic: D
`

func TestLoadFile(t *testing.T) {
	got, _, err := loadText(t, everyKey)
	if err != nil {
		t.Fatal(err)
	}
	want := &sample{
		Source: sampleSource{Kafka: sampleKafka{
			Brokers: []string{"a:1", "b:2"}, SASL: sampleSASL{value.NewSecret("0123")}, Size: 1536, Count: 7, Small: 255,
			Word: sampleUpper{"XYZ"}, Sizes: []int32{1, -2}, Words: []sampleText{"one", "Two"},
		}},
		Decode: "0042", Ratio: 0.001, Enabled: true, Interval: 90 * time.Second,
		Sink: sampleSink{
			URLs: []string{"http://es:9200"}, Index: "Logs-{topic}", Password: value.NewSecret("p: w"),
			Headers: []sampleHeader{{"X-Tenant", value.NewSecret("t")}},
			Routes:  []sampleRoute{{"A.B", "c", 24 * time.Hour}, {Topic: "D"}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if p := got.Sink.Password.Reveal(); p != "p: w" {
		t.Errorf("password %q", p)
	}
	if p := got.Source.Kafka.SASL.Password.Reveal(); p != "0123" {
		t.Errorf("password %q lost its zero", p)
	}
}

func TestLoadNothing(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n", "null\n", "source:\n", "source:\n  kafka:\n    count:\n", "{}"} {
		got, l, err := loadText(t, text)
		if err != nil || !reflect.DeepEqual(got, sampleDefaults()) {
			t.Errorf("%q: %+v, %v", text, got, err)
			continue
		}
		if o := l.Origin("source.kafka.count").String(); o != "default" {
			t.Errorf("%q: count comes from %s", text, o)
		}
	}
}

func TestLoadReadsTheFile(t *testing.T) {
	name := writeFile(t, "decode: text\n")
	into := sampleDefaults()
	l, err := Load(name, nil, into)
	if err != nil || into.Decode != "text" {
		t.Fatalf("decode %q, %v", into.Decode, err)
	}
	if got, want := l.Origin("decode"), (Origin{"file", name, 1}); got != want {
		t.Errorf("origin %v, want %v", got, want)
	}
}

func TestLoadRefusesFiles(t *testing.T) {
	big := writeFile(t, strings.Repeat("#", maxFile+1))
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.yaml")
	for name, want := range map[string]string{
		missing: "cannot be read: no such file or directory",
		dir:     "cannot be read: is a directory",
		big:     "cannot be read: it is larger than 1MiB, which no configuration is",
	} {
		l, err := Load(name, nil, sampleDefaults())
		wantLines(t, err, name+": "+want)
		if l == nil {
			t.Error("no Loaded beside the problem")
		}
	}
	for text, want := range map[string]string{
		"a: [":             "is not YAML: line 1",
		"a:\n\tb: c":       "is not YAML: line 2",
		"decode: *s3cret":  "is not YAML: a value begins with *",
		"decode: a\n---\n": "holds more than one YAML document",
		"- a\n":            "is a list where a section with keys is expected: write source: kafka: brokers: ... (penstock.yaml:1)",
		"text":             "is a single value where a section",
	} {
		_, _, err := loadText(t, text)
		if err == nil || !strings.HasPrefix(err.Error(), "penstock.yaml: "+want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestLoadRefusesSchema(t *testing.T) {
	for _, into := range []any{nil, sample{}, (*sample)(nil), new(int), &struct{ A map[string]string }{}} {
		_, err := Load("", nil, into)
		if _, user := errors.AsType[*Error](err); err == nil || user {
			t.Errorf("%T: %v", into, err)
		}
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	text := `source:
  kafka:
    count: -1
    brokers: logs
    size: 5
sink:
  index: ""
  passwort: s3cret
  headers: [{name: "a b", value: c}]
interval: 5
decode: a
decode: b
`
	_, l, err := loadText(t, text, "PENSTOCK_ENABLED=1", "PENSTOCK_SINK_URL=x")
	wantLines(t, err,
		`sink.passwort: is not a key that Penstock knows: did you mean sink.password? (penstock.yaml:8)`,
		`decode: is there twice, first in line 11: keep one (penstock.yaml:12)`,
		`source.kafka.brokers: is a single value where a list is expected: write [one, two] (penstock.yaml:4)`,
		`source.kafka.size: "5" is not a size: write a number and a unit, such as 512KiB, 5MiB or 1GiB (penstock.yaml:5)`,
		`enabled: "1" is neither true nor false: write one of them (PENSTOCK_ENABLED)`,
		`interval: "5" has no unit: write 5s, or 5ms, 5m, 5h if you mean that (penstock.yaml:10)`,
		`source.kafka.count: must be 0 or more (penstock.yaml:3)`,
		`sink.index: is empty: name one, such as logs (penstock.yaml:7)`,
		`sink.headers[0].name: holds a space: remove it (penstock.yaml:9)`,
	)
	if want := []string{"PENSTOCK_SINK_URL sets no key that Penstock knows, and is ignored: did you mean PENSTOCK_SINK_URLS?"}; !reflect.DeepEqual(l.Warnings, want) {
		t.Errorf("warnings %q, want %q", l.Warnings, want)
	}
	e, ok := errors.AsType[*Error](err)
	if !ok || len(e.Problems) != 9 {
		t.Fatalf("%T", err)
	}
	if p, ok := errors.AsType[*value.Problem](err); !ok || p.Key != "sink.passwort" {
		t.Errorf("the first problem is %v", p)
	}
}

// A key that could not be loaded is not validated, for it holds its default.
func TestNoNoiseAfterALoadingProblem(t *testing.T) {
	into := sampleDefaults()
	into.Sink.Index = ""
	_, err := load("f.yaml", []byte("sink: {index: [a]}"), nil, into)
	wantLines(t, err, "sink.index: is a list where a single value is expected: write one value, in quotes if it has special characters (f.yaml:1)")
}

func TestLoadLeavesNothingOpen(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("no /proc")
	}
	name, secret := writeFile(t, "decode: text\n"), writeFile(t, "x\n")
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := count()
	for range 20 {
		if _, err := Load(name, []string{"PENSTOCK_SINK_PASSWORD=file:" + secret}, sampleDefaults()); err != nil {
			t.Fatal(err)
		}
	}
	if after := count(); after > before+5 {
		t.Errorf("%d files open before, %d after", before, after)
	}
}

// What is half right changes nothing: the problem is told, the default stays.
func TestDefaultStaysAfterAProblem(t *testing.T) {
	got, _, err := loadText(t, "sink: {urls: [a, [b]], index: [c]}\nsource: {kafka: {sizes: [1, x]}}\n")
	if err == nil || !reflect.DeepEqual(got, sampleDefaults()) {
		t.Errorf("%v, %+v", err, got)
	}
}

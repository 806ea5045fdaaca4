package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"penstock/configs/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sample has a leaf of each kind.
type sample struct {
	Source   sampleSource  `yaml:"source" doc:"Where records come from."`
	Decode   string        `yaml:"decode" doc:"How records are read."`
	Ratio    float64       `yaml:"ratio" doc:"A number."`
	Enabled  bool          `yaml:"enabled" doc:"A switch."`
	Interval time.Duration `yaml:"interval" doc:"A duration."`
	Sink     sampleSink    `yaml:"sink"`
}

type sampleSource struct {
	Kafka sampleKafka `yaml:"kafka"`
}

type sampleKafka struct {
	Brokers []string     `yaml:"brokers" doc:"Addresses."`
	SASL    sampleSASL   `yaml:"sasl" doc:"Authentication."`
	Size    value.Bytes  `yaml:"size" doc:"A size."`
	Count   int          `yaml:"count" unit:"records" doc:"A count | of records."`
	Small   uint8        `yaml:"small" doc:"A small number."`
	Word    sampleUpper  `yaml:"word" doc:"Upper case."`
	Sizes   []int32      `yaml:"sizes" doc:"Numbers."`
	Words   []sampleText `yaml:"words" doc:"Words of a type of their own."`
}

type sampleSASL struct {
	Password value.Secret `yaml:"password" doc:"A secret."`
}

type sampleSink struct {
	URLs     []string       `yaml:"urls" doc:"Addresses."`
	Index    string         `yaml:"index" doc:"An index."`
	Password value.Secret   `yaml:"password" doc:"A secret."`
	Headers  []sampleHeader `yaml:"headers" doc:"Headers."`
	Routes   []sampleRoute  `yaml:"routes" doc:"Routes."`
}

type sampleHeader struct {
	Name  string       `yaml:"name" doc:"Name."`
	Value value.Secret `yaml:"value" doc:"Value."`
}

type sampleRoute struct {
	Topic string        `yaml:"topic" doc:"Topic."`
	Index string        `yaml:"index" doc:"Index."`
	After time.Duration `yaml:"after" doc:"Age."`
}

// sampleText is a text by its kind, sampleUpper by its method.
type (
	sampleText  string
	sampleUpper struct{ s string }
)

func (u *sampleUpper) UnmarshalText(text []byte) error {
	if s := string(text); s == "" || s != strings.ToUpper(s) {
		return &badCase{s}
	}
	u.s = string(text)
	return nil
}

func (u sampleUpper) String() string { return u.s }

type badCase struct{ s string }

func (b *badCase) Error() string { return "is not in upper case: write " + strings.ToUpper(b.s) }

func (s sampleSink) Validate() error {
	var p value.Problems
	if s.Index == "" {
		p.Add("index", "is empty: name one, such as logs")
	}
	return p.Err()
}

// Validate has a pointer receiver, which must be found as well.
func (s *sampleKafka) Validate() error {
	var p value.Problems
	if s.Count < 0 {
		p.Add("count", "must be 0 or more")
	}
	return p.Err()
}

func (h sampleHeader) Validate() error {
	var p value.Problems
	if strings.Contains(h.Name, " ") {
		p.Add("name", "holds a space: remove it")
	}
	return p.Err()
}

// sampleDefaults is valid as it is.
func sampleDefaults() *sample {
	return &sample{
		Source:   sampleSource{Kafka: sampleKafka{Size: 5 * value.MiB, Count: 10, Word: sampleUpper{"ABC"}}},
		Decode:   "json",
		Ratio:    0.5,
		Interval: time.Minute,
		Sink:     sampleSink{Index: "logs"},
	}
}

// loadText loads a file with this text.
func loadText(t *testing.T, text string, environ ...string) (*sample, *Loaded, error) {
	t.Helper()
	into := sampleDefaults()
	l, err := load("penstock.yaml", []byte(text), environ, into)
	return into, l, err
}

// writeFile gives the path of a new file with this content.
func writeFile(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// wantLines compares an error's lines, in order.
func wantLines(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", want)
	}
	if got := strings.Split(err.Error(), "\n"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

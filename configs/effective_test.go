package configs

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"penstock/configs/value"
)

func effectiveOf(t *testing.T, l *Loaded) string {
	t.Helper()
	var out bytes.Buffer
	if err := WriteEffective(&out, l); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWriteEffective(t *testing.T) {
	text := "source: {kafka: {brokers: ['a:1', b]}}\ninterval: 60s\nsink:\n  password: s3cret\n  urls: ['https://user:s3cr%2Ft@es:9200/']\n" +
		"  headers: [{name: X-Tenant, value: s3cret}]\n"
	_, l, err := loadText(t, text, "PENSTOCK_DECODE=a # b", "PENSTOCK_SINK_INDEX=logs-{topic}-$${X}")
	if err != nil {
		t.Fatal(err)
	}
	const want = `source:
  kafka:
    brokers: ["a:1", b]                    # file penstock.yaml:1
    sasl:
      password: ""                         # default
    size: 5MiB                             # default
    count: 10                              # default
    small: 0                               # default
    word: ABC                              # default
    sizes: []                              # default
    words: []                              # default
decode: "a # b"                            # env PENSTOCK_DECODE
ratio: 0.5                                 # default
enabled: false                             # default
interval: 1m                               # file penstock.yaml:2
sink:
  urls: ["https://user:********@es:9200/"]  # file penstock.yaml:5
  index: "logs-{topic}-$$$${X}"            # env PENSTOCK_SINK_INDEX
  password: "********"                     # file penstock.yaml:4
  headers: [{name: X-Tenant, value: "********"}]  # file penstock.yaml:6
  routes: []                               # default
`
	got := effectiveOf(t, l)
	if squeeze(got) != squeeze(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if strings.Contains(got, "s3cr") {
		t.Errorf("shows a secret:\n%s", got)
	}
	columns := map[int]bool{}
	for _, line := range strings.Split(got, "\n") {
		if i := strings.LastIndex(line, "  # "); i >= 0 {
			columns[i] = true
		}
	}
	if len(columns) != 1 {
		t.Errorf("comments stand in columns %v, want one:\n%s", columns, got)
	}
}

// squeeze makes the distance of comments immaterial.
func squeeze(s string) string {
	for strings.Contains(s, "   # ") {
		s = strings.ReplaceAll(s, "   # ", "  # ")
	}
	return s
}

func TestEffectiveLoadsAgain(t *testing.T) {
	for _, environ := range [][]string{
		nil,
		{"PENSTOCK_DECODE=a: b", "PENSTOCK_SINK_INDEX=true", "PENSTOCK_SOURCE_KAFKA_BROKERS=\"a,b\",'c',[d"},
		{"PENSTOCK_DECODE=\"\\\t\u00a0\u200b\U0001F600\x7f", "PENSTOCK_SINK_INDEX=null", "PENSTOCK_INTERVAL=36h", "PENSTOCK_RATIO=1e-9"},
		{"PENSTOCK_DECODE=$${A}$", "PENSTOCK_SINK_INDEX=~", "PENSTOCK_INTERVAL=0", "PENSTOCK_SOURCE_KAFKA_SIZE=1025B", "PENSTOCK_SOURCE_KAFKA_WORDS=No,1"},
	} {
		first, l, err := loadText(t, strings.ReplaceAll(everyKey, "value: t", "value:"), environ...)
		if err != nil {
			t.Fatal(err)
		}
		first.Source.Kafka.SASL.Password, first.Sink.Password = value.Secret{}, value.Secret{}
		text := effectiveOf(t, l)
		again, _, err := loadText(t, text)
		if err != nil || !reflect.DeepEqual(first, again) {
			t.Errorf("%v\n%s\ngot  %+v\nwant %+v", err, text, again, first)
		}
	}
}

func TestEffectiveKeepsCommentsOnTheirLine(t *testing.T) {
	into := sampleDefaults()
	l, err := load("a\nb: c", []byte("decode: x"), nil, into)
	if err != nil {
		t.Fatal(err)
	}
	if got := effectiveOf(t, l); !strings.Contains(got, "# file a?b: c:1\n") {
		t.Errorf("got\n%s", got)
	}
}

// A text that cannot be empty and is not set is written as null, which sets nothing.
func TestEffectiveOfWhatIsNotSet(t *testing.T) {
	into := sampleDefaults()
	into.Source.Kafka.Word = sampleUpper{}
	l, err := load("f.yaml", nil, nil, into)
	if err != nil {
		t.Fatal(err)
	}
	text := effectiveOf(t, l)
	if !strings.Contains(text, "    word: null ") {
		t.Errorf("got\n%s", text)
	}
	again := sampleDefaults()
	again.Source.Kafka.Word = sampleUpper{}
	if _, err := load("g.yaml", []byte(text), nil, again); err != nil || !reflect.DeepEqual(into, again) {
		t.Errorf("%v, %+v", err, again)
	}
}

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Second: "1s", time.Minute: "1m", 90 * time.Second: "1m30s", time.Hour: "1h", 24 * time.Hour: "24h",
		time.Hour + time.Second: "1h0m1s", 90 * time.Minute: "1h30m", 10 * time.Minute: "10m", 1500 * time.Microsecond: "1.5ms", -time.Minute: "-1m",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("%v is written %q, want %q", d, got, want)
		}
	}
}

// FuzzLoad: no file makes Load panic, problems are one line each, and what
// loads is printed such that it loads to the same again.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		everyKey, "", "a: [", "decode: &a b\nsink: {index: *a}", "decode: !!str x", "? [a]\n: b", "sink: {headers: [{name: a}]}", "decode: \"\\x00\"",
		"decode: |\n  a\n  b\n", "---\n---\n", "&a {b: *a}", "source: &a {kafka: *a}", "ratio: .5", "\xef\xbb\xbfdecode: a\r\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first := sampleDefaults()
		l, err := load("f.yaml", data, nil, first)
		if err != nil {
			e, ok := err.(*Error)
			if !ok || len(strings.Split(err.Error(), "\n")) != len(e.Problems) {
				t.Fatalf("%q", err)
			}
			return
		}
		text := effectiveOf(t, l)
		if strings.Contains(text, value.Stars) {
			return // secrets do not load again
		}
		again := sampleDefaults()
		if _, err := load("g.yaml", []byte(text), nil, again); err != nil || fmt.Sprintf("%+v", first) != fmt.Sprintf("%+v", again) {
			t.Fatalf("%v\n%s\ngot  %+v\nwant %+v", err, text, again, first)
		}
	})
}

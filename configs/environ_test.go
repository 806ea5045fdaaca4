package configs

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"penstock/configs/value"
)

func TestEnvironmentAlone(t *testing.T) {
	into := sampleDefaults()
	l, err := Load("", []string{
		"PENSTOCK_SOURCE_KAFKA_BROKERS=a:1, b:2",
		"PENSTOCK_SOURCE_KAFKA_SASL_PASSWORD=0123",
		"PENSTOCK_SOURCE_KAFKA_SIZE=64KiB",
		"PENSTOCK_SOURCE_KAFKA_SIZES=1,2",
		"PENSTOCK_SOURCE_KAFKA_COUNT=", // unset
		"PENSTOCK_INTERVAL=5s",
		"PENSTOCK_ENABLED=true",
		"PENSTOCK_DECODE=007",
		"PENSTOCK_DECODE=second of that name",
		"PENSTOCK_SINK_HEADERS=X-Tenant=Acme==,X-Two=b",
		"PATH=/bin",
		"penstock_decode=x",
	}, into)
	if err != nil {
		t.Fatal(err)
	}
	want := sampleDefaults()
	want.Source.Kafka.Brokers = []string{"a:1", "b:2"}
	want.Source.Kafka.SASL.Password = value.NewSecret("0123")
	want.Source.Kafka.Size = 64 * value.KiB
	want.Source.Kafka.Sizes = []int32{1, 2}
	want.Interval, want.Enabled, want.Decode = 5*time.Second, true, "007"
	want.Sink.Headers = []sampleHeader{{"X-Tenant", value.NewSecret("Acme==")}, {"X-Two", value.NewSecret("b")}}
	if !reflect.DeepEqual(into, want) {
		t.Errorf("got\n%+v\nwant\n%+v", into, want)
	}
	if len(l.Warnings) > 0 {
		t.Errorf("warnings %q", l.Warnings)
	}
	for key, want := range map[string]string{
		"source.kafka.brokers": "env PENSTOCK_SOURCE_KAFKA_BROKERS", "source.kafka.count": "default", "decode": "env PENSTOCK_DECODE",
	} {
		if got := l.Origin(key).String(); got != want {
			t.Errorf("%s comes from %q, want %q", key, got, want)
		}
	}
}

// The field case of overrides that are ignored and keys that are changed.
func TestEnvironmentOverridesFile(t *testing.T) {
	text := "source: {kafka: {brokers: [x:9]}}\nsink: {index: y, urls: [u0], routes: [{topic: My.Topic_A, index: Idx-A}], headers: [{name: X-Tenant, value: t}]}\n"
	got, l, err := loadText(t, text,
		"PENSTOCK_SINK_PASSWORD=s3", "PENSTOCK_SOURCE_KAFKA_SASL_PASSWORD=0123", "PENSTOCK_SOURCE_KAFKA_BROKERS=a:1,b:2",
		"PENSTOCK_SOURCE_KAFKA_SIZE=", "PENSTOCK_SINK_TYPO=1")
	if err != nil {
		t.Fatal(err)
	}
	k := got.Source.Kafka
	if got.Sink.Password.Reveal() != "s3" || k.SASL.Password.Reveal() != "0123" || !reflect.DeepEqual(k.Brokers, []string{"a:1", "b:2"}) || k.Size != 5*value.MiB {
		t.Errorf("got %+v", got)
	}
	if got.Sink.Routes[0].Topic != "My.Topic_A" || got.Sink.Headers[0].Name != "X-Tenant" {
		t.Errorf("case was changed: %+v", got.Sink)
	}
	if len(l.Warnings) != 1 || !strings.HasPrefix(l.Warnings[0], "PENSTOCK_SINK_TYPO sets no key") {
		t.Errorf("warnings %q", l.Warnings)
	}
	if got := l.Origin("sink.index").String(); got != "file penstock.yaml:2" {
		t.Errorf("sink.index comes from %s", got)
	}
}

func TestEnvironmentRefuses(t *testing.T) {
	const list = "PENSTOCK_SOURCE_KAFKA_BROKERS"
	for variable, want := range map[string]string{
		"PENSTOCK_INTERVAL=5":          `interval: "5" has no unit: write 5s, or 5ms, 5m, 5h if you mean that (PENSTOCK_INTERVAL)`,
		"PENSTOCK_INTERVAL=5 sec":      `interval: "5 sec" is not a duration: write 5s (PENSTOCK_INTERVAL)`,
		list + "=a,,b":                 "source.kafka.brokers: has an empty item, number 2: write one,two (" + list + ")",
		list + "= ":                    "source.kafka.brokers: has an empty item, number 1: write one,two (" + list + ")",
		list + `="a,b`:                 "source.kafka.brokers: is not a comma-separated list, or its double quotes do not match: write one,two (" + list + ")",
		list + "=a\nb":                 "source.kafka.brokers: is a list on more than one line: write one,two (" + list + ")",
		list + "_0=a":                  "source.kafka.brokers: cannot be set one element at a time, as " + list + "_0 tries: set the whole list as " + list + "=one,two, or in the file",
		"PENSTOCK_SINK_URLS_12_URL=a":  "sink.urls: cannot be set one element at a time, as PENSTOCK_SINK_URLS_12_URL tries: set the whole list as PENSTOCK_SINK_URLS=one,two, or in the file",
		"PENSTOCK_SINK_HEADERS=s3cret": "sink.headers: has an item, number 1, that cannot be read: write name=value,name=value (PENSTOCK_SINK_HEADERS)",
		"PENSTOCK_SINK_ROUTES=a=b":     "sink.routes: has an item, number 1, that cannot be read: write nothing here, but the list in the file (PENSTOCK_SINK_ROUTES)",
		"PENSTOCK_DECODE=\xff":         "decode: is not valid UTF-8 (PENSTOCK_DECODE)",
	} {
		_, l, err := loadText(t, "", variable)
		wantLines(t, err, want)
		if len(l.Warnings) > 0 {
			t.Errorf("%s: warnings %q beside the problem", variable, l.Warnings)
		}
	}
}

func TestSplitList(t *testing.T) {
	for text, want := range map[string][]string{
		"a":                   {"a"},
		" a , b ":             {"a", "b"},
		`"logs-.{1,3}",b`:     {"logs-.{1,3}", "b"},
		`"say ""hi""", b`:     {`say "hi"`, "b"},
		"[a-z],b":             {"[a-z]", "b"},
		"http://u:p@h:1/,x\n": {"http://u:p@h:1/", "x"},
	} {
		if got, err := splitList(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("splitList(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestUnknownVariables(t *testing.T) {
	for name, want := range map[string]string{
		"PENSTOCK_SOURCE_KAFKA_BROKER":  ": did you mean PENSTOCK_SOURCE_KAFKA_BROKERS?",
		"PENSTOCK_KAFKA_BROKERS":        ": did you mean PENSTOCK_SOURCE_KAFKA_BROKERS?",
		"PENSTOCK_SINK_PASWORD":         ": did you mean PENSTOCK_SINK_PASSWORD?",
		"PENSTOCK_CONFIG":               "",
		"PENSTOCK_SOURCE_KAFKA":         "",
		"PENSTOCK_METRICS_SERVICE_PORT": "", // there is no Service penstock-metrics
	} {
		_, l, err := loadText(t, "", name+"=s3cret")
		if err != nil {
			t.Fatal(err)
		}
		if want = name + " sets no key that Penstock knows, and is ignored" + want; len(l.Warnings) != 1 || l.Warnings[0] != want {
			t.Errorf("got %q, want %q", l.Warnings, want)
		}
	}
}

func TestVariablesOfServices(t *testing.T) {
	_, l, err := loadText(t, "",
		"PENSTOCK_SERVICE_HOST=10.0.0.1", "PENSTOCK_SERVICE_PORT=8080", "PENSTOCK_SERVICE_PORT_HTTP_METRICS=8080",
		"PENSTOCK_PORT=tcp://10.0.0.1:8080", "PENSTOCK_PORT_8080_TCP=tcp://10.0.0.1:8080", "PENSTOCK_PORT_8080_TCP_PROTO=tcp",
		"PENSTOCK_PORT_8080_TCP_PORT=8080", "PENSTOCK_PORT_8080_TCP_ADDR=10.0.0.1",
		"PENSTOCK_METRICS_SERVICE_HOST=10.0.0.2", "PENSTOCK_METRICS_PORT=tcp://10.0.0.2:9", "PENSTOCK_METRICS_PORT_9_TCP_ADDR=10.0.0.2",
		"PENSTOCK_METRICS_SERVICE_PORT_WEB=9",
		"PENSTOCK_IT_KAFKA_IMAGE=x")
	if err != nil || len(l.Warnings) > 0 {
		t.Errorf("%q, %v", l.Warnings, err)
	}
}

func TestVariableInReferenceIsKnown(t *testing.T) {
	got, l, err := loadText(t, "sink: {password: '${PENSTOCK_PW}'}", "PENSTOCK_PW=x")
	if err != nil || len(l.Warnings) > 0 || got.Sink.Password.Reveal() != "x" {
		t.Errorf("%q, %v", l.Warnings, err)
	}
}

package configs

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"penstock/configs/value"
)

func TestWriteReference(t *testing.T) {
	var out bytes.Buffer
	if err := WriteReference(&out, sampleDefaults()); err != nil {
		t.Fatal(err)
	}
	got, ok := strings.CutPrefix(out.String(), referenceHead)
	if !ok {
		t.Fatalf("no introduction: %s", out.String())
	}
	const table = "| Key | Default | Type | Variable | Meaning |\n|---|---|---|---|---|\n"
	const want = `
## Top level

` + table + "| `decode` | `json` | text | `PENSTOCK_DECODE` | How records are read. |\n" +
		"| `ratio` | `0.5` | number | `PENSTOCK_RATIO` | A number. |\n" +
		"| `enabled` | `false` | true or false | `PENSTOCK_ENABLED` | A switch. |\n" +
		"| `interval` | `1m` | duration | `PENSTOCK_INTERVAL` | A duration. |\n" + `
## source.kafka

` + table + "| `source.kafka.brokers` | none | list, each a text | `PENSTOCK_SOURCE_KAFKA_BROKERS` | Addresses. |\n" +
		"| `source.kafka.size` | `5MiB` | size | `PENSTOCK_SOURCE_KAFKA_SIZE` | A size. |\n" +
		"| `source.kafka.count` | `10` | whole number (records) | `PENSTOCK_SOURCE_KAFKA_COUNT` | A count \\| of records. |\n" +
		"| `source.kafka.small` | `0` | whole number | `PENSTOCK_SOURCE_KAFKA_SMALL` | A small number. |\n" +
		"| `source.kafka.word` | `ABC` | text | `PENSTOCK_SOURCE_KAFKA_WORD` | Upper case. |\n" +
		"| `source.kafka.sizes` | none | list, each a whole number | `PENSTOCK_SOURCE_KAFKA_SIZES` | Numbers. |\n" +
		"| `source.kafka.words` | none | list, each a text | `PENSTOCK_SOURCE_KAFKA_WORDS` | Words of a type of their own. |\n" + `
## source.kafka.sasl

Authentication.

` + table + "| `source.kafka.sasl.password` | none | secret | `PENSTOCK_SOURCE_KAFKA_SASL_PASSWORD` | A secret. |\n" + `
## sink

` + table + "| `sink.urls` | none | list, each a text | `PENSTOCK_SINK_URLS` | Addresses. |\n" +
		"| `sink.index` | `logs` | text | `PENSTOCK_SINK_INDEX` | An index. |\n" +
		"| `sink.password` | none | secret | `PENSTOCK_SINK_PASSWORD` | A secret. |\n" +
		"| `sink.headers` | none | list of {name, value} | `PENSTOCK_SINK_HEADERS` | Headers. |\n" +
		"| `sink.headers[].name` |  | text |  | Name. |\n" +
		"| `sink.headers[].value` |  | secret |  | Value. |\n" +
		"| `sink.routes` | none | list of {topic, index, after} | `PENSTOCK_SINK_ROUTES` | Routes. |\n" +
		"| `sink.routes[].topic` |  | text |  | Topic. |\n" +
		"| `sink.routes[].index` |  | text |  | Index. |\n" +
		"| `sink.routes[].after` |  | duration |  | Age. |\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCheckSchema(t *testing.T) {
	if err := CheckSchema(sampleDefaults()); err != nil {
		t.Errorf("the sample is refused: %v", err)
	}
	type nested struct {
		BC int `yaml:"b_c" doc:"x"`
	}
	for name, c := range map[string]struct {
		root any
		want string
	}{
		"two keys, one variable": {&struct {
			AB struct {
				C int `yaml:"c" doc:"x"`
			} `yaml:"a_b"`
			A nested `yaml:"a"`
		}{}, "a_b.c and a.b_c would both be set by PENSTOCK_A_B_C"},
		"one key twice": {&struct {
			A int `yaml:"a" doc:"x"`
			B int `yaml:"a" doc:"x"`
		}{}, `the key "a" is taken`},
		"no yaml tag": {&struct{ A int }{}, `the yaml tag "" is not a key`},
		"upper case": {&struct {
			A int `yaml:"aB" doc:"x"`
		}{}, `the yaml tag "aB" is not a key`},
		"no doc": {&struct {
			A int `yaml:"a"`
		}{}, "a: needs a doc tag"},
		"doc of two lines": {&struct {
			A int "yaml:\"a\" doc:\"x\\ny\""
		}{}, "a: needs a doc tag"},
		"item without doc": {&struct {
			A []struct {
				B int `yaml:"b"`
			} `yaml:"a" doc:"x"`
		}{}, "a[].b: needs a doc tag"},
		"item without key": {&struct {
			A []struct{ B int } `yaml:"a" doc:"x"`
		}{}, "needs a name and a yaml tag"},
		"variable of a Service": {&struct {
			A struct {
				Port int `yaml:"port" doc:"x"`
			} `yaml:"http"`
		}{}, "Kubernetes sets PENSTOCK_HTTP_PORT"},
		"variable of the tests": {&struct {
			A int `yaml:"it_x" doc:"x"`
		}{}, "PENSTOCK_IT_ belong to the tests"},
		"map": {&struct {
			A map[string]string `yaml:"a" doc:"x"`
		}{}, "settings of type map[string]string cannot be loaded"},
		"list of lists": {&struct {
			A [][]string `yaml:"a" doc:"x"`
		}{}, "settings of type []string cannot be loaded"},
		"secret default": {&struct {
			A value.Secret `yaml:"a" doc:"x"`
		}{value.NewSecret("x")}, "a: a secret cannot have a default"},
		"default that is refused": {&struct {
			A sampleUpper `yaml:"a" doc:"x"`
		}{sampleUpper{"low"}}, "a: the default low is refused"},
	} {
		if err := CheckSchema(c.root); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if err := CheckSchema(&struct {
		A sampleUpper `yaml:"a" doc:"x"`
	}{}); err != nil {
		t.Errorf("a text that is not set is refused: %v", err)
	}
	unexported := &struct {
		A time.Duration `yaml:"a" doc:"x"`
		b chan int
	}{b: nil}
	if err := CheckSchema(unexported); err != nil {
		t.Errorf("unexported fields matter: %v", err)
	}
}

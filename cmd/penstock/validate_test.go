package main

import (
	"strings"
	"testing"
)

const minimal = `source: {kafka: {brokers: ["127.0.0.1:9092"], topics: [logs], group: penstock, start: earliest}}
sink: {elasticsearch: {urls: ["http://127.0.0.1:9200"], index: "logs-{topic}"}}
dead_letter: {topic: logs-dead}
`

func TestValidate(t *testing.T) {
	name := writeFile(t, minimal)
	got := invoke(t, []string{"PENSTOCK_BATCH_AGE=2s", "PENSTOCK_BATCH_AGGE=3s"}, "validate", "-c", name)
	if got.code != exitDone {
		t.Fatalf("%+v", got)
	}
	for _, want := range []string{
		"    brokers: [\"127.0.0.1:9092\"]  # file " + name + ":1",
		"  topic: logs-dead  # file " + name + ":3",
		"  age: 2s  # env PENSTOCK_BATCH_AGE",
		"decode: json  # default",
	} {
		if !strings.Contains(strings.Join(strings.Fields(got.stdout), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("no line %q in\n%s", want, got.stdout)
		}
	}
	const warning = "warning: PENSTOCK_BATCH_AGGE sets no key that Penstock knows, and is ignored: did you mean PENSTOCK_BATCH_AGE?\n"
	if got.stderr != warning {
		t.Errorf("standard error %q, want %q", got.stderr, warning)
	}
	again := invoke(t, nil, "validate", "-c", writeFile(t, got.stdout))
	if again.code != exitDone {
		t.Errorf("what validate prints is refused: %s", again.stderr)
	}
}

func TestValidateEnvironmentAlone(t *testing.T) {
	got := invoke(t, []string{
		"PENSTOCK_SOURCE_KAFKA_BROKERS=a:1,b:2", "PENSTOCK_SOURCE_KAFKA_TOPICS=logs", "PENSTOCK_SINK_ELASTICSEARCH_URLS=http://es:9200,http://es-2:9200",
		"PENSTOCK_DEAD_LETTER_TOPIC=dead", "PENSTOCK_MEMORY_LIMIT=64MiB",
	}, "validate")
	if got.code != exitDone || got.stderr != "" || !strings.Contains(got.stdout, `urls: ["http://es:9200", "http://es-2:9200"]`) {
		t.Errorf("%+v", got)
	}
}

func TestValidateReportsAllProblems(t *testing.T) {
	name := writeFile(t, strings.ReplaceAll(minimal, "start: earliest", "session_timeout: 5")+"batch: {byte: 5MiB}\nlog: {level: loud}\ndecode: xml\n")
	got := invoke(t, []string{"PENSTOCK_HTTP_LISTEN=8080"}, "validate", "-c", name)
	want := []string{
		"batch.byte: is not a key that Penstock knows: did you mean batch.bytes? (" + name + ":4)",
		`source.kafka.session_timeout: "5" has no unit: write 5s, or 5ms, 5m, 5h if you mean that (` + name + ":1)",
		`decode: "xml" is not known here; write one of: json, text (` + name + ":6)",
		"http.listen: must be host:port or :port, such as :8080 or 127.0.0.1:8080 (PENSTOCK_HTTP_LISTEN)",
		`log.level: "loud" is not known here; write one of: debug, info, warn, error (` + name + ":5)",
		`penstock: problems in the configuration: 5; "penstock config reference" explains every key`,
		"",
	}
	if got.code != exitUsage || got.stdout != "" || got.stderr != strings.Join(want, "\n") {
		t.Errorf("exit %d, stdout %q, stderr\n%s\nwant\n%s", got.code, got.stdout, got.stderr, strings.Join(want, "\n"))
	}
}

func TestSettingsThatCannotWorkTogether(t *testing.T) {
	for text, want := range map[string]string{
		"decode: text\ndocuments: {check: full}\n":                               "documents.check: has no effect with decode: text: write framing, or decode: json",
		strings.ReplaceAll(minimal, "logs-dead", "logs"):                         "dead_letter.topic: \"logs\" is one of the topics that source.kafka reads, so a dead letter would come back for ever: name another",
		strings.ReplaceAll(minimal, "topics: [logs]", "topic_pattern: 'logs.*'"): "dead_letter.topic: \"logs-dead\" is one of the topics that source.kafka reads",
	} {
		got := invoke(t, nil, "validate", "-c", writeFile(t, text))
		if got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("%s\n%+v\nwant %s", text, got, want)
		}
	}
}

// Planted secrets appear nowhere, whether the configuration is right or wrong.
func TestValidateShowsNoSecrets(t *testing.T) {
	token := writeFile(t, "abc-t0ken\r\n")
	environ := []string{"PW=p@s$w0rd${X}"}
	wrong := writeFile(t, "ab-t0ken\ncd\n")
	const es = "sink:\n  elasticsearch:\n    index: logs\n"
	head, _, _ := strings.Cut(minimal, "sink:")
	for name, c := range map[string]struct {
		text string
		env  []string
		code int
	}{
		"password":          {head + es + "    urls: ['https://es:9200']\n    username: u\n    password: ${PW}\n", nil, 0},
		"api key":           {head + es + "    urls: ['https://es:9200']\n    api_key: file:" + token + "\n", nil, 0},
		"url":               {head + es + "    urls: ['https://user:s3cr%2Ft@es:9200/']\n", nil, 0},
		"env":               {head + es + "    urls: ['https://es:9200']\n    username: u\n", []string{"PENSTOCK_SINK_ELASTICSEARCH_PASSWORD=s3cret"}, 0},
		"env url":           {head + es, []string{"PENSTOCK_SINK_ELASTICSEARCH_URLS=https://user:s3cr%2Ft@es:9200/"}, 0},
		"both":              {head + es + "    urls: ['https://user:s3cr%2Ft@es:9200/']\n    api_key: s3cret\n    password: ${PW}\n", nil, 2},
		"bad url":           {head + es + "    urls: ['https://user:s3cr/t@es:92000/', 'http://user:s3cr%zz@es', 'user:s3cret@es']\n", nil, 2},
		"inner line":        {head + es + "    api_key: file:" + wrong + "\n", nil, 2},
		"misplaced":         {head + "sink: {elasticsearch: {pasword: s3cret}}\n", nil, 2},
		"wrong form":        {head + "sink: {elasticsearch: {password: [s3cret]}}\n", nil, 2},
		"wrong key":         {head + "batch: {bytes: 'https://user:s3cret@es'}\n", nil, 2},
		"anchor":            {head + es + "    password: *s3cret\n", nil, 2},
		"not YAML":          {head + es + "    password: \"s3cret\n", nil, 2},
		"unknown reference": {head + es + "    password: 's3cret${NOPE}'\n", nil, 2},
		"unknown variable":  {head + es + "    urls: ['https://es:9200']\n", []string{"PENSTOCK_SINK_PASSWORD=s3cret"}, 0},
		"line in variable":  {head + es, []string{"PENSTOCK_SINK_ELASTICSEARCH_API_KEY=s3cret\n"}, 2},
	} {
		got := invoke(t, append(environ, c.env...), "validate", "-c", writeFile(t, c.text))
		if got.code != c.code {
			t.Errorf("%s: %+v, want code %d", name, got, c.code)
		}
		for _, secret := range []string{"s3cr", "p@s", "w0rd", "t0ken"} {
			if strings.Contains(got.stdout+got.stderr, secret) {
				t.Errorf("%s shows %q:\n%s%s", name, secret, got.stdout, got.stderr)
			}
		}
	}
}

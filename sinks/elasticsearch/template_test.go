package elasticsearch

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"penstock/pipeline"
)

func TestParseTemplateNamesWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "required",
		"app-{tenant}":            "{tenant}",
		"{topic:x}":               "{topic:x}",
		"{header}":                "{header}",
		"{field:}":                "{field:}",
		"{time:}":                 "{time:}",
		"{time:YYYY.MM}":          "yyyy",
		"{time:yyyy.mm}":          `"mm"`,
		"{time:...}":              "no field",
		"{time:yyyy/MM}":          "'/'",
		"logs-{topic":             "brace",
		"logs-topic}":             "brace",
		"Logs-{topic}":            "'L'",
		"_logs":                   "begin",
		"a b":                     "' '",
		"logs-{topic}-{time:QQQ}": `"QQQ"`,
	} {
		if _, err := parseTemplate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error about %s", text, err, want)
		}
	}
}

// routed gives the destination by a template, or the type of the refusal.
func routed(t *testing.T, c Config, r *pipeline.Record) string {
	t.Helper()
	tmpl, err := parseTemplate(c.Index)
	if err != nil {
		t.Fatal(err)
	}
	name, err := newRouter(c, tmpl, zap.NewNop()).route(r)
	if err != nil {
		return "!" + err.(*pipeline.DocumentError).Reason.Type
	}
	return name
}

func TestIndexNamesAreLegal(t *testing.T) {
	long := strings.Repeat("a", 249)
	for name, test := range map[string]struct {
		topic, tenant string
		index, want   string
	}{
		"upper case":          {topic: "Orders.EU", index: "logs-{topic}", want: "logs-orders.eu"},
		"lower case":          {topic: "orders.eu", index: "logs-{topic}", want: "logs-orders.eu"},
		"leading underscore":  {topic: "_internal", index: "{topic}", want: "xinternal"},
		"inner underscore":    {topic: "_internal", index: "l{topic}", want: "l_internal"},
		"blank and slash":     {tenant: "A B/C", index: "app-{header:tenant}", want: "app-a_b_c"},
		"two dots":            {tenant: "..", index: "{header:tenant}", want: "xx"},
		"one dot":             {tenant: ".", index: "{header:tenant}", want: "x"},
		"comma":               {tenant: "x,y", index: "app-{header:tenant}", want: "app-x_y"},
		"hash":                {tenant: "#1", index: "app-{header:tenant}", want: "app-_1"},
		"hash first":          {tenant: "#1", index: "{header:tenant}", want: "x1"},
		"all illegal":         {tenant: `\/*?"<>| ,#:`, index: "a{header:tenant}", want: "a____________"},
		"not UTF-8":           {tenant: "a\xffb", index: "{header:tenant}", want: "a_b"},
		"control":             {tenant: "a\n\x00b", index: "{header:tenant}", want: "a__b"},
		"not ASCII":           {tenant: "ÄÖ", index: "{header:tenant}", want: "äö"},
		"quote cannot escape": {tenant: `x","_id":"y`, index: "{header:tenant}", want: "x____id___y"},
		"empty":               {tenant: "", index: "app-{header:tenant}", want: "!index_placeholder_missing"},
		"missing":             {tenant: "x", index: "app-{header:other}", want: "!index_placeholder_missing"},
		"partition":           {topic: "t", index: "{topic}-{partition}", want: "t-2"},
		"time":                {topic: "t", index: "{topic}-{time:yyyy.MM.dd}", want: "t-2026.01.02"},
		"hour":                {topic: "t", index: "{topic}-{time:yyMMdd-HH}", want: "t-260102-03"},
		"week":                {topic: "t", index: "{topic}-{time:xxxx.ww}", want: "t-2026.01"},
		"longest":             {topic: long, index: "logs-{topic}", want: "logs-" + long},
		"field":               {topic: "t", index: "{field:service.name}", want: "web"},
		"flat field":          {topic: "t", index: "{field:k8s.pod}", want: "p1"},
		"number":              {topic: "t", index: "v{field:n}", want: "v1.10"},
		"boolean":             {topic: "t", index: "v{field:b}", want: "vtrue"},
		"null field":          {topic: "t", index: "v{field:null}", want: "!index_placeholder_missing"},
		"object field":        {topic: "t", index: "v{field:service}", want: "!index_placeholder_missing"},
		"wildcard is a name":  {topic: "t", index: "v{field:serv*}", want: "!index_placeholder_missing"},
	} {
		t.Run(name, func(t *testing.T) {
			c := DefaultConfig()
			c.Index = test.index
			got := routed(t, c, &pipeline.Record{
				Origin:    &pipeline.Origin{Topic: test.topic, Partition: 2},
				Timestamp: time.Date(2026, 1, 2, 4, 5, 6, 0, time.FixedZone("", 3600)),
				Value:     []byte(`{"service":{"name":"Web"},"k8s.pod":"p1","n":1.10,"b":true,"null":null}`),
				Headers:   []pipeline.Header{{Key: "tenant", Value: []byte("first")}, {Key: "tenant", Value: []byte(test.tenant)}},
			})
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestLongNamesStayApart(t *testing.T) {
	cutTo := func(s string) string { return string(appendLegal(nil, []byte(s))) }
	a, b := cutTo(strings.Repeat("é", 300)+"a"), cutTo(strings.Repeat("é", 300)+"b")
	if len(a) > 255 || len(a) < 240 || !strings.HasPrefix(a, "éé") || strings.ToValidUTF8(a, "?") != a {
		t.Errorf("%q (%d bytes) is no legal name", a, len(a))
	}
	if a == b || a != cutTo(strings.Repeat("É", 300)+"A") {
		t.Errorf("cut names must differ with their sources and be the same for the same: %q, %q", a, b)
	}
	if got := cutTo(strings.Repeat("a", 256)); len(got) != 255 {
		t.Errorf("%d bytes, want 255", len(got))
	}
}

func FuzzNamesAreLegal(f *testing.F) {
	for r := rune(1); r < 0x2100; r++ {
		f.Add(string(r))
		f.Add("a" + string(r))
	}
	f.Add(strings.Repeat("aé", 200))
	f.Add("{x}")
	f.Fuzz(func(t *testing.T, src string) {
		if src == "" {
			return
		}
		got := appendLegal(nil, []byte(src))
		if err := checkName(string(got)); err != nil {
			t.Errorf("%q became %q: %v", src, got, err)
		}
		if again := appendLegal(nil, got); string(again) != string(got) {
			t.Errorf("%q is altered again, to %q", got, again)
		}
	})
}

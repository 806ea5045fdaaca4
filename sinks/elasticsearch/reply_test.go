package elasticsearch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"penstock/pipeline"
)

const (
	good     = `{"errors":false,"items":[{"create":{"status":201}},{"create":{"status":201}},{"create":{"status":201}}]}`
	conflict = `{"create":{"status":409,"error":{"type":"version_conflict_engine_exception","reason":"[x]: version conflict"}}}`
)

func itemsOf(items ...string) string {
	return `{"errors":true,"items":[` + strings.Join(items, ",") + `]}`
}

// readReply reads a reply for three documents.
func readReply(text string) ([]pipeline.Item, error) {
	var rs replies
	return rs.read(strings.NewReader(text), OpCreate, 3, 1<<20)
}

func TestReplyVerdicts(t *testing.T) {
	const ok = `{"create":{"status":201}}`
	for name, test := range map[string]struct{ reply, want string }{
		"all stored":          {good, ""},
		"index, stored":       {itemsOf(`{"index":{"status":201}}`, `{"index":{"status":200}}`, `{"index":{"status":201}}`), ""},
		"white space":         {" {\n\"errors\" : false ,\t\"items\" : [ " + ok + " , " + ok + ",\n" + ok + " ] }\r\n", ""},
		"items first":         {`{"items":[` + ok + `,` + ok + `,` + ok + `],"errors":false}`, ""},
		"throttled in a 200":  {itemsOf(ok, `{"create":{"status":429,"error":{"type":"es_rejected_execution_exception","reason":"queue"}}}`, ok), "1:throttled"},
		"last one bad":        {itemsOf(ok, ok, `{"create":{"status":400,"error":{"type":"mapper_parsing_exception","reason":"x"}}}`), "2:rejected"},
		"the item beats flag": {strings.Replace(good, `{"create":{"status":201}}]`, `{"create":{"status":400}}]`, 1), "2:rejected"},
		"error in plain text": {itemsOf(ok, `{"create":{"status":400,"error":"MapperParsing[failed]"}}`, ok), "1:rejected"},
		"error of no use":     {itemsOf(ok, `{"create":{"status":400,"error":[1,{"type":2}]}}`, `{"create":{"status":400,"error":{"type":1,"reason":{},"caused_by":7}}}`), "1:rejected 2:rejected"},
		"null error":          {itemsOf(ok, `{"create":{"status":201,"error":null}}`, ok), ""},
		"duplicates":          {itemsOf(conflict, ok, conflict), "0:duplicate 2:duplicate"},
		"unreduced": {`{"took":3,"errors":true,"items":[` +
			`{"create":{"_index":".ds-logs-app-2026.01.02-000007","_id":"r4nd0m","_version":1,"result":"created","_shards":{"total":2,"successful":1,"failed":0},"_seq_no":0,"_primary_term":1,"status":201}},` +
			`{"create":{"_index":"a","_id":"b}]\"","status":429,"error":{"type":"cluster_block_exception","reason":"index [a] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark]","caused_by":{"type":"x","reason":"y"}}}},` +
			`{"index":{"status":200}}],"ingest_took":1}`, "1:blocked"},
		"escaped keys": {itemsOf(ok, `{"cre\u0061te":{"stat\u0075s":400}}`, ok), "1:rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			items, err := readReply(test.reply)
			if got := verdicts(items); err != nil || got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
			var rs replies
			items, err = rs.read(iotest.OneByteReader(strings.NewReader(test.reply)), OpCreate, 3, 1<<20)
			if got := verdicts(items); err != nil || got != test.want {
				t.Errorf("byte by byte: got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestRepliesThatProveNothing(t *testing.T) {
	const ok = `{"create":{"status":201}}`
	for name, reply := range map[string]string{
		"HTML":               `<html>ok</html>`,
		"empty":              ``,
		"white space":        "\n ",
		"no members":         `{}`,
		"no items":           `{"errors":false}`,
		"none":               `{"errors":false,"items":[]}`,
		"one too few":        itemsOf(ok, ok),
		"one too many":       itemsOf(ok, ok, ok, ok),
		"far too many":       itemsOf(strings.TrimSuffix(strings.Repeat(ok+",", 5000), ",")),
		"trailing text":      good + `garbage`,
		"two replies":        good + good,
		"items null":         `{"items":null}`,
		"items twice":        strings.TrimSuffix(good, "}") + `,"items":[]}`,
		"items in vain":      `{"x":` + good + `}`,
		"array":              `[` + ok + `,` + ok + `,` + ok + `]`,
		"request error":      `{"error":{"type":"x"},"status":429}`,
		"comma at the end":   `{"items":[` + ok + `,` + ok + `,` + ok + `,]}`,
		"comma missing":      `{"items":[` + ok + `,` + ok + ok + `]}`,
		"outer comma":        `{"items":[` + ok + `,` + ok + `,` + ok + `],}`,
		"colon missing":      `{"items"[` + ok + `,` + ok + `,` + ok + `]}`,
		"no status":          itemsOf(ok, `{"create":{}}`, ok),
		"text status":        itemsOf(ok, `{"create":{"status":"201"}}`, ok),
		"status of 2010":     itemsOf(ok, `{"create":{"status":2010}}`, ok),
		"status of 302":      itemsOf(ok, `{"create":{"status":302}}`, ok),
		"status of 2e2":      itemsOf(ok, `{"create":{"status":2e2}}`, ok),
		"two statuses":       itemsOf(ok, `{"create":{"status":201,"status":201}}`, ok),
		"stored and error":   itemsOf(ok, `{"create":{"status":201,"error":{"type":"x"}}}`, ok),
		"unknown action":     itemsOf(ok, `{"upsert":{"status":201}}`, ok),
		"two actions":        itemsOf(ok, `{"create":{"status":201},"index":{"status":201}}`, ok),
		"empty item":         itemsOf(ok, `{}`, ok),
		"text item":          itemsOf(ok, `"created"`, ok),
		"item is no object":  itemsOf(ok, `{"create":201}`, ok),
		"broken in the item": itemsOf(ok, `{"create":{"status":201,"x":nul}}`, ok),
		"control character":  itemsOf(ok, "{\"create\":{\"status\":400,\"error\":\"a\nb\"}}", ok),
	} {
		t.Run(name, func(t *testing.T) {
			items, err := readReply(reply)
			var broken *ioError
			if err == nil || errors.As(err, &broken) || items != nil {
				t.Errorf("got %q, %v, want an error of the answer", verdicts(items), err)
			}
		})
	}
}

// Wherever a good reply is cut off, it proves nothing.
func TestEveryCutProvesNothing(t *testing.T) {
	for _, reply := range []string{good, itemsOf(conflict, conflict, conflict)} {
		for i := range len(reply) {
			if _, err := readReply(reply[:i]); err == nil {
				t.Errorf("%q is taken for an answer", reply[:i])
			}
		}
	}
}

func TestReplyLimits(t *testing.T) {
	var rs replies
	long := itemsOf(strings.Repeat(`{"create":{"status":201}},`, 9999) + `{"create":{"status":201}}`)
	if _, err := rs.read(strings.NewReader(long), OpCreate, 10_000, 100_000); !errors.Is(err, errTooLong) {
		t.Errorf("over the limit: %v", err)
	}
	if items, err := rs.read(strings.NewReader(long), OpCreate, 10_000, 1<<20); err != nil || len(items) != 0 {
		t.Errorf("under the limit: %v, %v", items, err)
	}
	cause := errors.New("reset")
	var broken *ioError
	if _, err := rs.read(io.MultiReader(strings.NewReader(good[:50]), iotest.ErrReader(cause)), OpCreate, 3, 1<<20); !errors.As(err, &broken) || !errors.Is(err, cause) {
		t.Errorf("a connection that breaks: %v", err)
	}
	if _, err := rs.read(io.MultiReader(strings.NewReader(good), iotest.ErrReader(io.ErrUnexpectedEOF)), OpCreate, 3, 1<<20); !errors.Is(err, errCutOff) {
		t.Errorf("shorter than its Content-Length: %v", err)
	}
}

func TestReasonsAreShort(t *testing.T) {
	reason := strings.Repeat("é", 1500)
	item := fmt.Sprintf(`{"create":{"status":400,"error":{"type":"mapper_parsing_exception","reason":"a%s"}}}`, reason)
	items, err := readReply(itemsOf(item, item, `{"create":{"status":400,"error":{"type":"t","reason":"failed to parse","caused_by":{"type":"u","reason":"\"Limit\" of total fields"}}}}`))
	if err != nil || len(items) != 3 {
		t.Fatal(items, err)
	}
	text := items[0].Reason.Text
	if len(text) > pipeline.MaxReasonText || len(text) < pipeline.MaxReasonText-4 || !utf8.ValidString(text) || !strings.HasPrefix(text, "aéé") {
		t.Errorf("got %d bytes: %q", len(text), text)
	}
	want := pipeline.Reason{Status: 400, Type: "t", Text: `failed to parse: "Limit" of total fields`}
	if items[2].Reason != want {
		t.Errorf("got %+v, want %+v", items[2].Reason, want)
	}
}

// A reply is read as encoding/json reads it, or not at all.
func FuzzReply(f *testing.F) {
	f.Add(good)
	f.Add(itemsOf(conflict, conflict, `{"index":{"_id":"\ud83d\ude00\"","status":400,"error":"x"}}`))
	f.Add(itemsOf(`{"create":{"status":400,"error":{"caused_by":{"reason":"x"}}}}`, `{"delete":{"status":404}}`, `{"update":{"status":200}}`))
	f.Fuzz(func(t *testing.T, text string) {
		got, err := readReply(text)
		if err != nil {
			return
		}
		var want struct {
			Items []map[string]struct {
				Status int             `json:"status"`
				Error  json.RawMessage `json:"error"`
			} `json:"items"`
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			var other *json.UnmarshalTypeError // of a member that differs in case
			if errors.As(err, &other) {
				return
			}
			t.Fatalf("%q is no JSON and was accepted: %v", text, err)
		}
		bad := map[int]int{}
		for _, i := range got {
			bad[i.Doc] = i.Reason.Status
			if len(i.Reason.Text) > pipeline.MaxReasonText || !utf8.ValidString(i.Reason.Text) || !utf8.ValidString(i.Reason.Type) {
				t.Errorf("reason %+v", i.Reason)
			}
		}
		if strings.Contains(strings.ToLower(strings.ReplaceAll(text, `"items"`, "")), "items") || strings.Contains(text, `\`) {
			return // encoding/json takes ITEMS for items, and we do not
		}
		if len(want.Items) != 3 {
			t.Fatalf("%q has %d items and was accepted", text, len(want.Items))
		}
		for place, item := range want.Items {
			for _, body := range item {
				if status, ok := bad[place]; ok != (body.Status >= 300) || ok && status != body.Status {
					t.Errorf("%q: item %d has status %d, we say %d", text, place, body.Status, status)
				}
			}
		}
	})
}

func BenchmarkReply(b *testing.B) {
	const n = 10_000
	full := `{"create":{"_index":"t","_id":"azGgLaIBttcHaUbB1g-p","_version":1,"result":"created","_shards":{"total":2,"successful":1,"failed":0},"_seq_no":0,"_primary_term":1,"status":201}}`
	for name, item := range map[string]string{"stored": `{"create":{"status":201}}`, "unreduced": full, "duplicate": conflict} {
		b.Run(name, func(b *testing.B) {
			text := itemsOf(strings.TrimSuffix(strings.Repeat(item+",", n), ","))
			var rs replies
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := rs.read(strings.NewReader(text), OpCreate, n, 64<<20); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/item")
		})
	}
}

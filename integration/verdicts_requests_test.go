package integration

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"penstock/pipeline"
)

// A request over the server's limit is split, and the limit learned; a document
// that is over it alone is a dead letter, and its neighbours are stored.
func testTooLarge(c *court) {
	values := documents(strings.Repeat("long ", 200), 1000)
	giant := fmt.Appendf(nil, `{"message":"%s"}`, strings.Repeat("giant ", largestRequest/6))
	at := len(values) / 2
	c.values(0, slices.Insert(slices.Clone(values), at, giant)...)
	p := running(c.t, "ingester", c.config().with(config{"sink.elasticsearch.compression": "none", "batch.bytes": "1MiB"}))
	c.lag0()
	s, err := p.status()
	if err != nil {
		c.t.Fatal(err)
	}
	if s.BatchBytesLimit > largestRequest {
		c.t.Errorf("requests are still of up to %d bytes", s.BatchBytesLimit)
	}
	p.stop()
	c.mustContain(c.topic, values...)
	letters := c.letters(c.dead)
	if len(letters) != 1 || letters[0].from.offset != int64(at) || letters[0].added["penstock.error.status"] != "413" {
		c.t.Errorf("dead letters: %d, want that of offset %d with status 413", len(letters), at)
		for _, l := range letters {
			c.t.Logf("%v %v", l.from, l.added)
		}
	}
}

// An index is created with the settings that the configuration gives.
func testCreated(c *court) {
	values := documents("first", 20)
	c.values(0, values...)
	start(c.t, "ingester", c.config().with(config{
		"source.kafka.stop":                                "lag0",
		"sink.elasticsearch.index":                         "{topic}-made",
		"sink.elasticsearch.create_index.enabled":          true,
		"sink.elasticsearch.create_index.shards":           2,
		"sink.elasticsearch.create_index.replicas":         0,
		"sink.elasticsearch.create_index.refresh_interval": "7s",
	})).done()
	index := c.topic + "-made"
	var answer map[string]struct {
		Settings struct {
			Index struct {
				Shards   string `json:"number_of_shards"`
				Replicas string `json:"number_of_replicas"`
				Refresh  string `json:"refresh_interval"`
			}
		}
	}
	c.search.must(http.MethodGet, "/"+index+"/_settings", "", &answer)
	if got := answer[index].Settings.Index; got.Shards != "2" || got.Replicas != "0" || got.Refresh != "7s" {
		c.t.Errorf("the index has %+v, want 2 shards, 0 replicas, refreshed every 7s", got)
	}
	c.mustContain(index, values...)
}

// Compressed and plain requests store the same.
func testCompression(c *court) {
	values := documents(strings.Repeat("compressible ", 20), 500)
	// What is not compressible comes through, too.
	noise := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		values = append(values, fmt.Appendf(nil, `{"message":"%x%x"}`, noise.Uint64(), noise.Uint64()))
	}
	c.values(0, values...)
	sizes := map[string][2]float64{}
	for _, how := range []string{"gzip", "none"} {
		index, group := c.topic+"-"+how, c.group+"-"+how
		p := running(c.t, how, c.config().with(config{
			"sink.elasticsearch.compression": how, "sink.elasticsearch.index": index, "source.kafka.group": group, "batch.bytes": "100KiB",
		}))
		c.awaitLag0(patience, group, c.topic)
		sizes[how] = [2]float64{p.metric(`penstock_request_bytes_total{form="encoded"}`), p.metric(`penstock_request_bytes_total{form="sent"}`)}
		p.stop()
		c.mustContain(index, values...)
	}
	if z := sizes["gzip"]; z[0] == 0 || z[1] == 0 || z[1] > z[0]/4 {
		c.t.Errorf("gzip: %v bytes encoded, %v sent", z[0], z[1])
	}
	if z := sizes["none"]; z[0] == 0 || z[1] != z[0] {
		c.t.Errorf("none: %v bytes encoded, %v sent", z[0], z[1])
	}
}

// A data stream takes documents with a timestamp by "create", and nothing by "index".
func testDataStream(c *court) {
	template := fmt.Sprintf(`{"index_patterns":["%s-*"],"priority":500,"data_stream":{},"template":{"settings":{"number_of_replicas":0}}}`, c.topic)
	if err := c.search.ask(http.MethodPut, "/_index_template/"+c.topic, template, nil); err != nil {
		if strings.Contains(err.Error(), "data_stream") {
			c.t.Skipf("this build has no data streams: %v", err)
		}
		c.t.Fatal(err)
	}
	var values [][]byte
	for i := range 120 {
		values = append(values, fmt.Appendf(nil, `{"@timestamp":"2026-01-31T12:%02d:%02dZ","n":%d}`, i/60, i%60, i))
	}
	const untimed = 60
	c.values(0, slices.Insert(slices.Clone(values), untimed, []byte(`{"message":"no timestamp"}`))...)
	stream := c.topic + "-stream"
	start(c.t, "create", c.config().with(config{"sink.elasticsearch.index": stream, "source.kafka.stop": "lag0"})).done()
	c.mustContain(stream, values...)
	c.mustLetters(map[int64][]string{untimed: append([]string{"illegal_argument_exception"}, unparsed...)})
	var answer struct {
		Streams []struct{ Name string } `json:"data_streams"`
	}
	c.search.must(http.MethodGet, "/_data_stream/"+stream, "", &answer)
	if len(answer.Streams) != 1 {
		c.t.Errorf("%s is no data stream: %+v", stream, answer)
	}

	p := running(c.t, "index", c.config().with(config{"sink.elasticsearch.index": stream, "sink.elasticsearch.op": "index", "source.kafka.group": c.group + "-index", "delivery.shutdown_grace": "2s"}))
	p.awaitState(pipeline.StateHeldSystematic)
	p.kill()
	if got, err := c.committed(c.group+"-index", c.topic); err != nil || got[0] != 0 {
		c.t.Errorf("committed %v (%v) of what was refused", got, err)
	}
}

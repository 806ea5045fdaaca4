package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"penstock/pipeline"
	"penstock/sinks/elasticsearch/estest"
)

const (
	minGrace = time.Second
	seedName = "PENSTOCK_TEST_SEED"
)

// dice is a source of chance for several goroutines.
type dice struct {
	mu   sync.Mutex
	rand *rand.Rand
}

// roll gives 0 to n-1.
func (d *dice) roll(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rand.IntN(n)
}

func newDice(t *testing.T) *dice {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv(seedName); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedName, err)
		}
	}
	t.Logf("to repeat: %s=%d", seedName, seed)
	return &dice{rand: rand.New(rand.NewPCG(seed, 0))}
}

// record makes a log line: one in a hundred is undecodable, one in a hundred
// cannot be mapped.
func (d *dice) record(n int) string {
	switch r := d.roll(200); r {
	case 0:
		return fmt.Sprintf("text %d", n)
	case 1:
		return fmt.Sprintf("{\"n\":%d,\"m\":\"caf\xe9\"}", n)
	case 2, 3:
		return fmt.Sprintf(`{"n":%d,"status":"unmappable"}`, n)
	default:
		return fmt.Sprintf(`{"n":%d,"status":%d,"m":"%s"}`, n, r, strings.Repeat("x", d.roll(400)))
	}
}

func isBad(value string) bool {
	return !strings.HasPrefix(value, "{") || strings.Contains(value, "\xe9") || strings.Contains(value, "unmappable")
}

// trouble answers a request as a server may that has seen better days.
func (d *dice) trouble(r *estest.Request) *estest.Reply {
	if len(r.Body) > 20_000 { // a limit that is lower than the members believe
		return &estest.Reply{Status: http.StatusRequestEntityTooLarge, Empty: true, Header: http.Header{"Connection": {"close"}}}
	}
	judge := func(_ int, doc estest.Doc) estest.Item {
		if strings.Contains(doc.Source, "unmappable") {
			return estest.Item{Status: 400, Type: "mapper_parsing_exception", Reason: "failed to parse field [status] of type [long]"}
		}
		return estest.Item{}
	}
	// With some luck an answer is late, which is when members die in between.
	reply := &estest.Reply{Item: judge}
	switch d.roll(25) {
	case 0:
		return estest.Failure(503, "", "")
	case 1:
		return estest.Failure(429, "es_rejected_execution_exception", "queue")
	case 2: // without any document's fault; one that is refused alone, and twice, would be guilty
		if len(r.Docs) >= 8 {
			return estest.Failure(400, "illegal_argument_exception", "garbled on the way")
		}
	case 3:
		return &estest.Reply{Status: 200, Body: `{"errors":false,"items":[]}`}
	case 4: // stored, and nobody knows
		reply.Drop = true
	case 5: // stored, and known too late
		reply.Late = after(time.Duration(d.roll(400)) * time.Millisecond)
	case 6, 7: // some items refused for now
		reply.Item = func(place int, doc estest.Doc) estest.Item {
			if i := judge(place, doc); i.Status != 0 || d.roll(3) > 0 {
				return i
			}
			return []estest.Item{{Status: 429, Type: "es_rejected_execution_exception"}, {Status: 503, Type: "unavailable_shards_exception"}, {Status: 503, Type: "x"}}[d.roll(3)]
		}
	case 8:
		reply.Wait = after(time.Duration(d.roll(400)) * time.Millisecond)
	}
	return reply
}

// Members of one group are killed, stopped and started while the search server
// fails in every way it can. At the end every good record is stored exactly once,
// the bad ones and no others are dead letters, and all of it is committed.
func TestRandomFaults(t *testing.T) {
	const partitions = 6
	rounds, each := 8, 100
	if testing.Short() {
		rounds = 3
	}
	w := newWorld(t, partitions)
	d := newDice(t)
	w.search.Hook(d.trouble)
	bad := map[place]bool{}
	n := 0
	send := func() {
		for p := range int32(partitions) {
			values := make([]string, each)
			for i := range values {
				n++
				values[i] = d.record(n)
			}
			first := w.send(p, values...)
			for i, v := range values {
				if isBad(v) {
					bad[place{logs, p, first + int64(i)}] = true
				}
			}
		}
	}
	var running []*member
	start := func() {
		running = append(running, w.startBehind(fmt.Sprintf("m%d", len(w.members)), func(c *Config) {
			c.Source.Kafka.SessionTimeout = 3 * time.Second
			c.Source.Kafka.FetchMaxBytes = 64 << 10
			c.Sink.Elasticsearch.RequestTimeout = 300 * time.Millisecond
			c.Batch.Documents = 20 + d.roll(100)
			c.Batch.Bytes = 32 << 10
			c.Delivery.ShutdownGrace = 10 * time.Second
		}))
	}
	start()
	start()
	stop := func(m *member) {
		// The group may have given its partitions away, so that it could not commit.
		if err := m.stop(); err != nil && !errors.Is(err, pipeline.ErrUnfinished) {
			t.Errorf("%s stopped with %v", m.name, err)
		}
		m.balanced()
	}
	for range rounds {
		before := w.witness.count()
		send()
		// Something is to be going on when a member goes.
		w.eventually("records flow", func() bool { return w.witness.count() > before+d.roll(partitions*each/2) })
		victim := d.roll(len(running))
		m := running[victim]
		running = append(running[:victim], running[victim+1:]...)
		if d.roll(3) == 0 {
			stop(m)
		} else {
			m.kill()
		}
		for len(running) < 2+d.roll(2) {
			start()
		}
	}
	send()
	w.awaitEnd()
	for _, m := range running { // a rolling stop
		stop(m)
	}
	w.account(true)
	dead := map[place]bool{}
	for _, l := range w.letters() {
		dead[l.from] = true
		if !bad[l.from] {
			t.Errorf("%v is in the dead letters: %.100q, %s", l.from, l.record.Value, l.header("penstock.error.reason"))
		}
	}
	if len(dead) != len(bad) {
		t.Errorf("%d of %d bad records are in the dead letters", len(dead), len(bad))
	}
	var sum pipeline.Counts
	killed := 0
	for _, m := range w.members {
		sum.Add(m.status().Ledger)
		if m.killed {
			killed++
		}
	}
	t.Logf("%d records, %d bad, %d members, %d of them killed, %d requests, in all %+v", n, len(bad), len(w.members), killed, len(w.search.Requests()), sum)
}

// Package generator makes up a stream of log records and sends it to Kafka.
package generator

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// Record is one made-up log record.
type Record struct {
	Topic string
	Key   []byte
	Value []byte
	Time  time.Time
	Bad   Bad
}

// Bad says what is wrong with a record, if anything is.
type Bad uint8

// The kinds of bad records.
const (
	// Good: nothing.
	Good Bad = iota
	// Undecodable: bytes that are no JSON, or not UTF-8.
	Undecodable
	// Unmappable: JSON with a text in a field that the index has as a number.
	Unmappable
)

// Options of a Generator.
type Options struct {
	// Seed decides on everything but the times.
	Seed uint64
	// Services are written about in turn by chance; each has its topic.
	Services []Service
	// BadShare is the share of bad records, half of each kind: 0.005 is 0.5 %.
	BadShare float64
}

// Service is a made-up source of logs.
type Service struct {
	Name  string
	Topic string
	// Weight is its share of the records among the weights of all.
	Weight int
}

// Generator makes records, one after another. Two with the same options make
// the same records for the same times. It is for one goroutine.
type Generator struct {
	rand     *rand.Rand
	services []Service
	weights  int
	badShare float64
}

// New gives a generator. Options must name at least one service with a weight.
func New(o Options) *Generator {
	g := &Generator{rand: rand.New(rand.NewPCG(o.Seed, 0x70656e73746f636b)), services: o.Services, badShare: o.BadShare}
	for _, s := range o.Services {
		g.weights += s.Weight
	}
	return g
}

var messages = map[string][]string{
	"info":  {"request answered", "order placed", "cart updated", "session opened", "receipt sent", "cache refreshed"},
	"warn":  {"slow answer from the database", "retrying the upstream call", "connection pool is nearly empty", "deprecated client version"},
	"error": {"upstream timed out", "card declined by the bank", "could not write the receipt", "database connection lost"},
}

var routes = []string{"/", "/cart", "/orders", "/orders/items", "/login", "/search", "/pay", "/refund"}

// Next makes the record of one moment.
func (g *Generator) Next(now time.Time) Record {
	s := g.service()
	r := Record{Topic: s.Topic, Time: now}
	r.Key = g.hex(make([]byte, 0, 16))
	kind := Good
	if g.rand.Float64() < g.badShare {
		kind = Undecodable + Bad(g.rand.IntN(2))
	}
	r.Bad = kind
	if kind == Undecodable {
		r.Value = g.undecodable()
		return r
	}
	level, status := g.outcome()
	v := make([]byte, 0, 320)
	v = append(v, `{"@timestamp":"`...)
	v = now.UTC().AppendFormat(v, "2006-01-02T15:04:05.000Z07:00")
	v = append(v, `","level":"`+level+`","service":"`+s.Name+`","host":"`+s.Name+`-0`...)
	v = strconv.AppendInt(v, int64(1+g.rand.IntN(4)), 10)
	v = append(v, `","trace":"`...)
	v = append(v, r.Key...)
	v = append(v, `","route":"`+routes[g.rand.IntN(len(routes))]+`","status":`...)
	v = strconv.AppendInt(v, int64(status), 10)
	v = append(v, `,"latency_ms":`...)
	if kind == Unmappable {
		v = append(v, `"timeout"`...)
	} else {
		v = strconv.AppendInt(v, int64(2+g.rand.ExpFloat64()*40), 10)
	}
	of := messages[level]
	v = append(v, `,"message":"`+of[g.rand.IntN(len(of))]+` for customer `...)
	v = strconv.AppendInt(v, int64(g.rand.IntN(5000)), 10)
	r.Value = append(v, `"}`...)
	return r
}

func (g *Generator) service() Service {
	n := g.rand.IntN(g.weights)
	for _, s := range g.services {
		if n -= s.Weight; n < 0 {
			return s
		}
	}
	return g.services[0]
}

func (g *Generator) outcome() (level string, status int) {
	switch n := g.rand.IntN(100); {
	case n < 3:
		return "error", 500 + g.rand.IntN(4)
	case n < 10:
		return "warn", 429
	}
	return "info", 200 + g.rand.IntN(2)
}

// undecodable gives a line cut in the middle of a character, or no JSON at all.
func (g *Generator) undecodable() []byte {
	if g.rand.IntN(2) == 0 {
		return g.hex([]byte("*** stack dump ***\n0x"))
	}
	return append(g.hex([]byte(`{"level":"error","message":"caf`)), 0xc3)
}

func (g *Generator) hex(b []byte) []byte {
	const digits = "0123456789abcdef"
	for n, i := g.rand.Uint64(), 0; i < 16; i++ {
		b = append(b, digits[n>>60])
		n <<= 4
	}
	return b
}

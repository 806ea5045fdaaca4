// Package load makes up documents and fills Kafka topics with them, the same
// ones for the same seed, so that measurements can be repeated.
package load

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// Kind is a kind of made-up document.
type Kind string

// The kinds of documents.
const (
	// Planes are positions of aircraft: numbers mostly, about 215 bytes.
	Planes Kind = "planes"
	// Logs are log messages with their context, about 438 bytes.
	Logs Kind = "logs"
	// Dense are log messages of 4 KiB that zstd makes over 50 times smaller:
	// a small fetch that is large in memory.
	Dense Kind = "dense"
	// Large are documents of 900 KiB that hardly compress, close to what a
	// broker takes by default (1 MiB).
	Large Kind = "large"
)

// Kinds are all of them.
var Kinds = []Kind{Planes, Logs, Dense, Large}

const (
	denseBytes = 4 << 10
	largeBytes = 900 << 10
	// epoch is the time of the first document: fixed, or two fills with one
	// seed would differ.
	epoch = 1_767_225_600_000 // 2026-01-01 in milliseconds
)

var (
	cities  = []string{"Ostend Bruges", "Kansas City Intl", "Lisbon Portela", "Oslo Gardermoen", "Kansai Intl", "Cape Town Intl"}
	levels  = []string{"debug", "info", "info", "info", "warn", "error"}
	phrases = []string{
		"connection accepted", "upstream timed out", "session renewed", "token expired", "cache miss", "disk flushed",
		"partition moved", "leader elected", "shard recovered", "queue is full", "health check passed", "retry scheduled",
	}
)

// Maker makes documents. It is for one goroutine.
type Maker struct {
	kind  Kind
	rand  *rand.Rand
	n     int64
	buf   []byte
	noise []byte // what large documents are cut from
}

// NewMaker gives the maker of a kind; the seed decides on every byte.
func NewMaker(kind Kind, seed uint64) (*Maker, error) {
	m := &Maker{kind: kind, rand: rand.New(rand.NewPCG(seed, 0x7370656564))}
	switch kind {
	case Planes, Logs, Dense:
	case Large:
		raw := make([]byte, largeBytes)
		for i := range raw {
			raw[i] = byte(m.rand.Uint32())
		}
		m.noise = hex.AppendEncode(nil, raw)
	default:
		return nil, fmt.Errorf("there is no kind of documents %q; there are %v", kind, Kinds)
	}
	return m, nil
}

// Next gives the next document, a JSON object on one line. It is the caller's.
func (m *Maker) Next() []byte {
	at := epoch + m.n
	m.n++
	m.buf = m.buf[:0]
	switch m.kind {
	case Planes:
		m.plane(at)
	case Logs:
		m.log(at)
	case Dense:
		m.dense(at)
	case Large:
		m.large(at)
	}
	return append([]byte(nil), m.buf...)
}

func (m *Maker) plane(at int64) {
	lon, lat := m.between(-180, 180), m.between(-90, 90)
	m.number(`{"id":`, m.n%1000)
	m.number(`,"ts":`, at)
	m.float(`,"speed":`, m.between(0, 300), 2)
	m.float(`,"dist":`, m.between(0, 4000), 2)
	m.float(`,"bearing":`, m.between(-180, 180), 2)
	m.number(`,"rtid":`, m.rand.Int64N(100_000))
	m.text(`,"orig":"`, m.one(cities))
	m.text(`","dest":"`, m.one(cities))
	m.number(`","secsToDep":`, m.rand.Int64N(7200)-1)
	m.float(`,"lon":`, lon, 5)
	m.float(`,"lat":`, lat, 5)
	m.float(`,"geometry":"`, lat, 5)
	m.float(`,`, lon, 5)
	m.buf = append(m.buf, `"}`...)
}

func (m *Maker) log(at int64) {
	m.text(`{"@timestamp":"`, time.UnixMilli(at).UTC().Format("2006-01-02T15:04:05.000Z"))
	m.text(`","level":"`, m.one(levels))
	m.number(`","service":"svc-`, m.rand.Int64N(20))
	m.number(`","host":"node-`, m.rand.Int64N(64))
	m.hex(`.example.internal","pod":"app-`, 6)
	m.hex(`","trace_id":"`, 16)
	m.number(`","status":`, 200+m.rand.Int64N(300))
	m.float(`,"latency_ms":`, m.between(0, 900), 3)
	m.number(`,"bytes":`, m.rand.Int64N(100_000))
	m.number(`,"path":"/api/v1/items/`, m.rand.Int64N(100_000))
	m.number(`?page=`, m.rand.Int64N(40))
	m.text(`","message":"`, m.one(phrases))
	for range 9 {
		m.text(`, `, m.one(phrases))
	}
	m.buf = append(m.buf, `"}`...)
}

func (m *Maker) dense(at int64) {
	m.number(`{"@timestamp":`, at)
	m.text(`,"message":"`, phrases[0])
	for len(m.buf) < denseBytes {
		m.text(` and `, phrases[len(m.buf)/1024%len(phrases)])
	}
	m.buf = append(m.buf, `"}`...)
}

func (m *Maker) large(at int64) {
	m.number(`{"@timestamp":`, at)
	m.buf = append(m.buf, `,"blob":"`...)
	from := m.rand.IntN(len(m.noise) - largeBytes)
	m.buf = append(m.buf, m.noise[from:from+largeBytes]...)
	m.buf = append(m.buf, `"}`...)
}

func (m *Maker) between(low, high float64) float64 { return low + m.rand.Float64()*(high-low) }

func (m *Maker) one(of []string) string { return of[m.rand.IntN(len(of))] }

func (m *Maker) text(before, s string) {
	m.buf = append(append(m.buf, before...), s...)
}

func (m *Maker) number(before string, n int64) {
	m.buf = strconv.AppendInt(append(m.buf, before...), n, 10)
}

func (m *Maker) float(before string, f float64, digits int) {
	m.buf = strconv.AppendFloat(append(m.buf, before...), f, 'f', digits, 64)
}

// hex appends n random bytes, at most 16, as hexadecimal digits.
func (m *Maker) hex(before string, n int) {
	var raw [16]byte
	for i := range raw[:n] {
		raw[i] = byte(m.rand.Uint32())
	}
	m.buf = hex.AppendEncode(append(m.buf, before...), raw[:n])
}

package pipeline

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the pipeline's Prometheus metrics. Labels are bounded: topics by
// the subscription, everything else by lists in this package or by labelCap.
type Metrics struct {
	batches     *prometheus.CounterVec
	skips       *prometheus.CounterVec
	letters     *prometheus.CounterVec
	retries     *prometheus.CounterVec
	requests    *prometheus.CounterVec
	bytesBody   prometheus.Counter
	bytesWire   prometheus.Counter
	latency     prometheus.Histogram
	acknowledge prometheus.Histogram

	reasons    labelCap
	retriedSum atomic.Int64
}

// closeReason is why a batch was handed over.
type closeReason string

const (
	closedBytes  closeReason = "bytes"
	closedCount  closeReason = "documents"
	closedAge    closeReason = "age"
	closedMemory closeReason = "memory"
	closedDrain  closeReason = "drain"
)

func newMetrics(r prometheus.Registerer, p *Pipeline) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "penstock", Name: name, Help: help}, labels)
		r.MustRegister(c)
		return c
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "penstock", Name: name, Help: help, Buckets: buckets})
		r.MustRegister(h)
		return h
	}
	bytes := counter("request_bytes_total", "Bytes of request bodies, as encoded and as sent.", "form")
	m := &Metrics{
		batches:     counter("batches_total", "Batches handed over, by what closed them.", "reason"),
		skips:       counter("skipped_total", "Records left out by a stated policy.", "reason"),
		letters:     counter("dead_letters_total", "Records in the dead letters, acknowledged, by error type.", "reason"),
		retries:     counter("retried_documents_total", "Documents to be sent again, by cause.", "reason"),
		requests:    counter("requests_total", "Requests by result: ok, or the class of failure.", "result"),
		bytesBody:   bytes.WithLabelValues("encoded"),
		bytesWire:   bytes.WithLabelValues("sent"),
		latency:     histogram("request_seconds", "Time from sending a request to the end of its answer.", prometheus.ExponentialBuckets(0.001, 2, 17)),
		acknowledge: histogram("acknowledged_seconds", "Time from a record's timestamp to its acknowledged write, taken at the oldest record of each run in a request.", prometheus.ExponentialBuckets(0.01, 2.5, 16)),
		reasons:     labelCap{most: 50},
	}
	for _, why := range []closeReason{closedBytes, closedCount, closedAge, closedMemory, closedDrain} {
		m.batches.WithLabelValues(string(why))
	}
	r.MustRegister(&collector{p})
	return m
}

func (m *Metrics) closed(why closeReason) { m.batches.WithLabelValues(string(why)).Inc() }

// skipped counts what was left out of one chunk, and gives the sum.
func (m *Metrics) skipped(n [numPolicies]int) int {
	sum := 0
	for p, k := range n {
		if k > 0 {
			m.skips.WithLabelValues(policy(p).String()).Add(float64(k))
			sum += k
		}
	}
	return sum
}

func (m *Metrics) buried(_ string, r Reason) {
	m.letters.WithLabelValues(m.reasons.label(r.Type)).Inc()
}

func (m *Metrics) retried(reason string, n int) {
	m.retries.WithLabelValues(reason).Add(float64(n))
	m.retriedSum.Add(int64(n))
}

func (m *Metrics) retriedItems(o Outcome) {
	var n [len(verdictNames)]int
	for i := range o.Items {
		n[o.Items[i].Verdict]++
	}
	for _, v := range []Verdict{Throttled, Blocked} {
		if n[v] > 0 {
			m.retried("item_"+v.String(), n[v])
		}
	}
}

func (m *Metrics) requestFailed(err error) {
	var re *RequestError
	if errors.As(err, &re) {
		m.requests.WithLabelValues(re.Class.String()).Inc()
	}
}

func (m *Metrics) request(body int, wire int64, took time.Duration) {
	m.latency.Observe(took.Seconds())
	m.bytesBody.Add(float64(body))
	if wire > 0 {
		m.bytesWire.Add(float64(wire))
		m.requests.WithLabelValues("ok").Inc()
	}
}

func (m *Metrics) acknowledged(s *span, now time.Time) {
	if !s.time.IsZero() {
		m.acknowledge.Observe(max(0, now.Sub(s.time).Seconds()))
	}
}

// labelCap keeps the values of a label that others choose from growing without end.
type labelCap struct {
	most int
	seen map[string]bool
}

// label gives v, or "other" when there were too many. Called by one goroutine.
func (l *labelCap) label(v string) string {
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	if !l.seen[v] {
		if len(l.seen) >= l.most {
			return "other"
		}
		l.seen[v] = true
	}
	return v
}

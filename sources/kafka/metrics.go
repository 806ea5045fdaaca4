package kafka

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	commits    *prometheus.CounterVec
	rebalances *prometheus.CounterVec
	errors     *prometheus.CounterVec
	lost       prometheus.Counter
	resets     prometheus.Counter
}

func newMetrics(r prometheus.Registerer) *metrics {
	vec := func(name, help, label string, values ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "penstock", Name: name, Help: help}, []string{label})
		r.MustRegister(c)
		for _, v := range values {
			c.WithLabelValues(v)
		}
		return c
	}
	one := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: "penstock", Name: name, Help: help})
		r.MustRegister(c)
		return c
	}
	return &metrics{
		commits:    vec("commits_total", "Offset commits by result.", "result", "ok", "failed"),
		rebalances: vec("rebalances_total", "Changes of the partitions owned.", "event", "assigned", "revoked", "lost"),
		errors:     vec("source_errors_total", "Errors that reading Kafka gave.", "of", "fetch", "group"),
		lost:       one("source_records_lost_total", "Records that retention deleted before they were read."),
		resets:     one("source_resets_total", "Partitions read again from elsewhere since the broker had lost data or re-created the topic."),
	}
}

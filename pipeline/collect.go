package pipeline

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// collector makes metrics of what the pipeline keeps anyway, when it is asked.
type collector struct{ p *Pipeline }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("penstock_"+name, help, labels, nil)
}

var (
	descRecords  = desc("records_total", "The ledger: records by topic and outcome. fetched = the sum of the others + penstock_records_in_flight.", "topic", "outcome")
	descInFlight = desc("records_in_flight", "Records fetched and not yet final.", "topic")
	descLag      = desc("lag_records", "Records between the watermark and the partition's end.", "topic", "partition")
	descLagTime  = desc("lag_seconds", "Age of the oldest record that is not final.", "topic", "partition")
	descHeadroom = desc("headroom_records", "Records that retention may delete before it deletes what is not final: watermark - log start.", "topic", "partition")
	descState    = desc("partition_state", "1 for the state that the partition is in.", "topic", "partition", "state")
	descMemory   = desc("memory_bytes", "Memory of records in flight with their encoded copies: in use and limit.", "of")
	descNode     = desc("node_requests", "Requests on each node of the sink: in flight and limit.", "node", "of")
	descUsable   = desc("node_usable", "1 if the node takes requests, 0 if it is left alone for now.", "node")
	descBatch    = desc("batch_limit_bytes", "Most bytes of one request, as set or as learned from 413 replies.")
)

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descRecords, descInFlight, descLag, descLagTime, descHeadroom, descState, descMemory, descNode, descUsable, descBatch} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	s := c.p.Status()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for topic, n := range s.Topics {
		for outcome, v := range map[string]int64{
			"fetched": n.Fetched, "stored": n.Stored, "duplicate": n.Duplicate,
			"dead_lettered": n.DeadLettered, "skipped": n.Skipped, "abandoned": n.Abandoned,
		} {
			ch <- prometheus.MustNewConstMetric(descRecords, prometheus.CounterValue, float64(v), topic, outcome)
		}
		gauge(descInFlight, float64(n.InFlight), topic)
	}
	for _, q := range s.Partitions {
		partition := strconv.Itoa(int(q.Partition))
		if q.LagRecords >= 0 {
			gauge(descLag, float64(q.LagRecords), q.Topic, partition)
			gauge(descLagTime, q.LagSeconds, q.Topic, partition)
		}
		if q.Headroom >= 0 {
			gauge(descHeadroom, float64(q.Headroom), q.Topic, partition)
		}
		gauge(descState, 1, q.Topic, partition, string(q.State))
	}
	gauge(descMemory, float64(s.Memory.Records), "records_in_use")
	gauge(descMemory, float64(s.Memory.RecordsLimit), "records_limit")
	gauge(descMemory, float64(s.Memory.Limit), "limit")
	for _, n := range s.Nodes {
		gauge(descNode, float64(n.InFlight), n.Node, "in_flight")
		gauge(descNode, float64(n.Limit), n.Node, "limit")
		usable := 0.0
		if n.Usable {
			usable = 1
		}
		gauge(descUsable, usable, n.Node)
	}
	gauge(descBatch, float64(s.BatchBytesLimit))
}

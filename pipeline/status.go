package pipeline

import (
	"fmt"
	"sort"
	"time"
)

// Status is what the pipeline is doing, for people and probes.
type Status struct {
	// Source is the fault that keeps the source as a whole from reading, if any.
	Source *Fault `json:"source,omitempty"`
	// Partitions that are owned now, by topic and number.
	Partitions []PartitionStatus `json:"partitions"`
	// Ledger is the sum over all partitions since start.
	Ledger Counts `json:"ledger"`
	// Topics has the ledger by topic.
	Topics map[string]Counts `json:"topics"`
	// Memory that is reserved for records in flight with their encoded copies.
	Memory MemoryStatus `json:"memory"`
	// Nodes of the sink.
	Nodes []NodeStatus `json:"nodes"`
	// Retried is how many documents were to be sent again, since start; one that
	// was tried thrice counts twice.
	Retried int64 `json:"retried_documents"`
	// BatchBytesLimit is the most that one request holds, lower than the setting
	// where the sink has refused requests for their size.
	BatchBytesLimit int64 `json:"batch_bytes_limit"`
}

// Fault is something that lasts.
type Fault struct {
	State   State   `json:"state"`
	Reason  string  `json:"reason"`
	HeldFor float64 `json:"held_seconds"`
}

// PartitionStatus is one partition that is owned now.
type PartitionStatus struct {
	Topic      string  `json:"topic"`
	Partition  int32   `json:"partition"`
	State      State   `json:"state"`
	Reason     string  `json:"reason,omitempty"`
	HeldFor    float64 `json:"held_seconds,omitempty"`
	LagRecords int64   `json:"lag_records"` // -1 if not known yet
	LagSeconds float64 `json:"lag_seconds"`
	Watermark  int64   `json:"watermark"` // -1 if not known yet
	// Headroom is how many records retention may still delete before it deletes
	// what is not final: watermark - log start; -1 if not known yet.
	Headroom  int64  `json:"headroom_records"`
	Counts    Counts `json:"ledger"`
	LastError string `json:"last_error,omitempty"`
	// stalled is how long it has made no progress.
	stalled time.Duration
}

// MemoryStatus is the use of the memory limit, in bytes.
type MemoryStatus struct {
	Limit        int64 `json:"limit"`
	Records      int64 `json:"records_in_use"`
	RecordsLimit int64 `json:"records_limit"`
}

// NodeStatus is one node of the sink.
type NodeStatus struct {
	Node     string `json:"node"`
	Usable   bool   `json:"usable"`
	InFlight int    `json:"in_flight"`
	Limit    int    `json:"limit"`
}

// Status gives what is going on now.
func (p *Pipeline) Status() Status {
	now := time.Now()
	holds := p.holds()
	s := Status{
		Partitions: []PartitionStatus{}, Topics: map[string]Counts{},
		Memory:          MemoryStatus{Limit: p.memoryLimit, Records: p.memory.inUse(), RecordsLimit: p.memory.limit},
		Retried:         p.metrics.retriedSum.Load(),
		BatchBytesLimit: p.bodyLimit.load(),
	}
	if h := p.sourceHold.Load(); h != nil {
		s.Source = &Fault{h.State, h.Text, now.Sub(h.Since).Seconds()}
	}
	starved := p.starved.Load()
	for _, a := range p.book.live() {
		var h *Hold
		if held, ok := holds[a]; ok {
			h = &held
		}
		s.Partitions = append(s.Partitions, a.status(h, starved, p.stopping.Load(), now))
	}
	sort.Slice(s.Partitions, func(i, j int) bool {
		x, y := &s.Partitions[i], &s.Partitions[j]
		return x.Topic < y.Topic || x.Topic == y.Topic && x.Partition < y.Partition
	})
	for key, c := range p.book.counts() {
		s.Ledger.Add(c)
		t := s.Topics[key.topic]
		t.Add(c)
		s.Topics[key.topic] = t
	}
	names := p.sink.Nodes()
	nodes, _ := p.limiter.state()
	for i, n := range nodes {
		s.Nodes = append(s.Nodes, NodeStatus{Node: names[i], Usable: p.sink.Usable(i), InFlight: n.InFlight, Limit: n.Limit})
	}
	return s
}

func (a *Assignment) status(h *Hold, starved, stopping bool, now time.Time) PartitionStatus {
	if source := a.sourceHold.Load(); source != nil {
		h = source
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s := PartitionStatus{
		Topic: a.origin.Topic, Partition: a.origin.Partition, State: StateFetching,
		LagRecords: -1, Headroom: -1, Watermark: a.watermark, Counts: a.counts, LastError: a.lastError,
		stalled: now.Sub(a.progressed),
	}
	switch {
	case h != nil:
		s.State, s.Reason, s.HeldFor = h.State, h.Text, now.Sub(h.Since).Seconds()
	case a.draining || stopping:
		s.State = StateDraining
	case starved:
		s.State = StatePausedMemory
	}
	if high := a.highWatermark.Load(); high >= 0 && a.watermark >= 0 {
		s.LagRecords = max(0, high-a.watermark)
	}
	if first := a.logStart.Load(); first >= 0 && a.watermark >= 0 {
		s.Headroom = max(0, a.watermark-first)
	}
	oldest := a.lastTime
	if head := a.open.head(); head != nil {
		oldest = head.time
	}
	if s.LagRecords > 0 && !oldest.IsZero() {
		s.LagSeconds = max(0, now.Sub(oldest).Seconds())
	}
	return s
}

// Unready gives the reasons for which the service is not ready: a partition
// that a hold has kept from making progress for that long, or a source that
// could not be read for that long. None if all is well.
func (s Status) Unready(after time.Duration) []string {
	var reasons []string
	if s.Source != nil && s.Source.HeldFor >= after.Seconds() {
		reasons = append(reasons, fmt.Sprintf("%s for %.0f s: %s", s.Source.State, s.Source.HeldFor, s.Source.Reason))
	}
	for _, q := range s.Partitions {
		if q.State.Held() && q.stalled >= after && q.HeldFor >= after.Seconds() {
			reasons = append(reasons, fmt.Sprintf("%s/%d %s for %.0f s: %s", q.Topic, q.Partition, q.State, q.HeldFor, q.Reason))
		}
	}
	return reasons
}

// UnreadyAfter is the setting delivery.unready_after.
func (p *Pipeline) UnreadyAfter() time.Duration { return p.config.Delivery.UnreadyAfter }

// Alive tells whether the loop goes round: it does every second, whatever the
// source and the sink do, so silence for this long is a deadlock.
func (p *Pipeline) Alive(within time.Duration) bool {
	return p.stopping.Load() || time.Since(time.Unix(0, p.beat.Load())) < within
}

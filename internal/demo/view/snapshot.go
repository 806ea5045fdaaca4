// Package view shows a running pipeline to a person at a terminal, and to
// whoever reads a pipe, one line a second.
package view

import (
	"time"

	"penstock/pipeline"
)

// Snapshot is what a pipeline is doing at one moment.
type Snapshot struct {
	// Ledger of all partitions since start, in records.
	Ledger pipeline.Counts
	// Partitions that are owned now.
	Partitions []Partition
	// Source is why the source as a whole cannot be read, "" if it can.
	Source string
	// Retries is how many documents were sent again, -1 if that is not known.
	Retries int64
	// MemoryUsed and MemoryLimit are of the records in flight, in bytes.
	MemoryUsed, MemoryLimit int64
}

// Partition is one partition and what it is doing.
type Partition struct {
	Topic  string
	Number int32
	State  pipeline.State
	// Reason is why it does not advance; "" if it does.
	Reason string
	// Lag is how many records are not yet final, -1 if that is not known.
	Lag int64
	// LagTime is the age of the oldest of them.
	LagTime time.Duration
}

// FromStatus takes a Snapshot from what the pipeline says of itself. retries
// is the count of documents that were sent again, -1 if that is not known.
func FromStatus(s pipeline.Status, retries int64) Snapshot {
	out := Snapshot{Ledger: s.Ledger, Retries: retries, MemoryUsed: s.Memory.Records, MemoryLimit: s.Memory.RecordsLimit}
	if s.Source != nil {
		out.Source = string(s.Source.State) + ": " + s.Source.Reason
	}
	for _, p := range s.Partitions {
		out.Partitions = append(out.Partitions, Partition{
			Topic: p.Topic, Number: p.Partition, State: p.State, Reason: p.Reason,
			Lag: p.LagRecords, LagTime: time.Duration(p.LagSeconds * float64(time.Second)),
		})
	}
	return out
}

// Lag is the records that are not yet final and the age of the oldest.
func (s Snapshot) Lag() (records int64, age time.Duration) {
	for _, p := range s.Partitions {
		records += max(0, p.Lag)
		age = max(age, p.LagTime)
	}
	return records, age
}

// Held is how many partitions are kept from advancing.
func (s Snapshot) Held() int {
	n := 0
	for _, p := range s.Partitions {
		if p.State.Held() {
			n++
		}
	}
	return n
}

// Frame is all that is shown at one moment.
type Frame struct {
	Snapshot
	// Elapsed since start.
	Elapsed time.Duration
	// In and Out are records a second: sent by the generator, and made final.
	In, Out float64
	// History of In and Out, oldest first.
	InHistory, OutHistory []float64
	// Documents in the index, and how many of them can be searched.
	Documents, Searchable int64
	// Fault that the script plays now, "" if none.
	Fault string
	// Events that happened, oldest first.
	Events []Event
	// Waiting tells that the generator waits for the pipeline.
	Waiting bool
	// Draining tells that the end has begun.
	Draining bool
}

// Event is something that happened at a moment after the start.
type Event struct {
	At   time.Duration
	Text string
}

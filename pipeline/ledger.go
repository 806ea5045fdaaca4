package pipeline

// Counts is the ledger of one partition or topic, in records. At every moment
//
//	Fetched = Stored + Duplicate + DeadLettered + Skipped + Abandoned + InFlight
type Counts struct {
	// Fetched from the source.
	Fetched int64 `json:"fetched"`
	// Stored by the sink for the first time.
	Stored int64 `json:"stored"`
	// Duplicate: the sink had it already, under our own id.
	Duplicate int64 `json:"duplicate"`
	// DeadLettered with the broker's acknowledgement.
	DeadLettered int64 `json:"dead_lettered"`
	// Skipped by a stated policy: tombstones, blanks, transaction markers.
	Skipped int64 `json:"skipped"`
	// Abandoned when the partition was taken away; its next owner has them.
	Abandoned int64 `json:"abandoned"`
	// InFlight is fetched and not yet any of the above. It is counted on its
	// own, not derived, so that the sum is a check.
	InFlight int64 `json:"in_flight"`
}

// Add adds o to c.
func (c *Counts) Add(o Counts) {
	c.Fetched += o.Fetched
	c.Stored += o.Stored
	c.Duplicate += o.Duplicate
	c.DeadLettered += o.DeadLettered
	c.Skipped += o.Skipped
	c.Abandoned += o.Abandoned
	c.InFlight += o.InFlight
}

// Balanced tells whether every record that was fetched is accounted for.
func (c Counts) Balanced() bool {
	return c.Fetched == c.final()+c.Abandoned+c.InFlight
}

func (c Counts) final() int64 { return c.Stored + c.Duplicate + c.DeadLettered + c.Skipped }

package pipeline

import "context"

// Source gives records, a chunk a partition at a time.
//
// Poll, Pause and Resume are called from one goroutine. A chunk belongs to one
// Assignment; an assignment ends by Revoke or Lose and never comes back: the
// same partition assigned again is another Assignment.
type Source interface {
	// Poll waits for records until ctx ends, and returns what there is: possibly
	// nothing, with a nil error, when ctx ended. It returns [ErrDone] when the
	// source has reached the end that its configuration names. Faults of single
	// partitions are reported through Assignment.Hold, not here; any other error
	// ends the pipeline.
	Poll(ctx context.Context) ([]Chunk, error)
	// Pause stops fetching the partitions of these assignments; records that
	// were fetched and not polled may be fetched again later.
	Pause(as []*Assignment)
	// Resume undoes Pause.
	Resume(as []*Assignment)
	// Commit makes the watermarks of all live assignments durable.
	Commit(ctx context.Context) error
	// Close commits what is safe, then gives its partitions up. Nothing may be
	// in flight any more that is to be committed.
	Close(ctx context.Context) error
}

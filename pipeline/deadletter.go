package pipeline

import "context"

// DeadLetter is one record that cannot be stored, and why.
type DeadLetter struct {
	// Record is the original, byte for byte.
	Record Record
	// Destination is the index it was meant for, "" if it was never routed.
	Destination string
	// Reason is why.
	Reason Reason
}

// DeadLetters keeps refused records. One goroutine writes.
type DeadLetters interface {
	// Write returns once each letter is durable or has failed. The result has
	// one error a letter, nil for those that are durable; it is nil if all are.
	Write(ctx context.Context, letters []DeadLetter) []error
	// Close releases connections. No Write is running.
	Close(ctx context.Context) error
}

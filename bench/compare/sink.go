package compare

import (
	"context"
	"time"

	"penstock/bench/nullsink"
	"penstock/bench/procs"
)

// sink is where the documents go, and what knows how many have arrived.
type sink interface {
	// describe names it for the report.
	describe(ctx context.Context) (string, error)
	// prepare makes it empty for a run that waits for so many documents, and
	// gives the index to write to.
	prepare(ctx context.Context, documents int64) (index string, err error)
	// url is where programs send to; it may hold credentials.
	url() string
	// arrived gives the number of documents so far, and their rate between the
	// first and the last of them.
	arrived(ctx context.Context) (documents int64, rate float64, err error)
	// reached is closed when all have arrived; nil where only arrived tells.
	reached() <-chan struct{}
	// used gives the sink's CPU time so far: what it has to work for the same
	// documents tells whether a program makes it hard, or leaves it idle.
	used(ctx context.Context) (time.Duration, error)
	// verify checks after a run that so many are really there, and clears up.
	verify(ctx context.Context, documents int64) error
	close() error
}

// null is the sink that answers at once.
type null struct {
	server *nullsink.Server
	all    <-chan struct{}
}

func newNull() (*null, error) {
	s, err := nullsink.Start("127.0.0.1:0", nullsink.Options{})
	if err != nil {
		return nil, err
	}
	return &null{server: s}, nil
}

func (n *null) describe(context.Context) (string, error) {
	return "a null sink that answers at once", nil
}

func (n *null) prepare(_ context.Context, documents int64) (string, error) {
	n.server.Reset()
	n.all = n.server.Expect(documents)
	return "speed", nil
}

func (n *null) url() string { return n.server.URL() }

func (n *null) arrived(context.Context) (int64, float64, error) {
	s := n.server.Stats()
	return s.Documents, s.DocumentsPerSecond, nil
}

func (n *null) reached() <-chan struct{} { return n.all }

// used is this process's: little but the null sink works in it during a run.
func (n *null) used(context.Context) (time.Duration, error) {
	return procs.Self()
}

// verify has nothing to check: the count itself was what ended the run.
func (n *null) verify(context.Context, int64) error { return nil }

func (n *null) close() error { return n.server.Close() }

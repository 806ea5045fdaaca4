// Package compare measures Penstock against the bare loop, in pairs of runs one
// after the other: what disturbs a machine then disturbs both alike.
package compare

import (
	"errors"
	"fmt"
	"io"
	"net/url"
)

// Null is the sink that answers at once, in this very process.
const Null = "null"

// Options of a comparison.
type Options struct {
	Brokers []string
	Topic   string
	// Documents to wait for in each run; 0 for all that the topic has.
	Documents int64
	Pairs     int
	// WarmUp runs the bare loop once before, unmeasured: then the topic is in the
	// broker's page cache and the servers' code is compiled for all runs alike.
	WarmUp bool
	// Penstock and Speed are the programs' paths; Speed has the subcommand floor.
	Penstock, Speed string
	// Config is Penstock's file; empty for penstock.yaml beside this source.
	Config string
	// Sink is Null or the URL of a real search server.
	Sink string
	// Shards and Refresh (such as 30s, or -1) are settings of the index that is
	// made for each run on a real server. It has no replicas.
	Shards  int
	Refresh string
	// Size and Concurrency are the bare loop's: bytes of a body, and requests in
	// flight. Penstock's own are in its Config.
	Size, Concurrency int
	// Out gets the table, Progress a line for each run.
	Out, Progress io.Writer
}

// Validate reports every option that cannot work.
func (o Options) Validate() error {
	var errs []error
	if o.Topic == "" {
		errs = append(errs, errors.New("-topic must name a topic that has been filled"))
	}
	if o.Pairs < 1 || o.Documents < 0 || o.Shards < 1 || o.Concurrency < 1 {
		errs = append(errs, errors.New("-pairs, -shards and -concurrency must be at least 1, -documents 0 (all of the topic) or more"))
	}
	if u, err := url.Parse(o.Sink); o.Sink != Null && (err != nil || u.Host == "") {
		errs = append(errs, fmt.Errorf("-sink must be %s or the address of a search server, such as http://127.0.0.1:9200", Null))
	}
	return errors.Join(errs...)
}

// Command penstock moves log messages from Kafka into Elasticsearch or
// OpenSearch. It is the only place that names concrete sources and sinks.
package main

import (
	"context"
	"os"
)

func main() {
	a := &app{stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ()}
	os.Exit(a.execute(context.Background(), os.Args[1:]))
}

// Package memory measures how much Penstock holds when nothing leaves it: many
// partitions, full topics, and a sink that takes requests and never answers.
package memory

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/bench/load"
	"penstock/bench/nullsink"
	"penstock/bench/procs"
	"penstock/configs/value"
)

// defaultConfig is Penstock's file unless Options names another.
//
//go:embed penstock.yaml
var defaultConfig []byte

// most is the target: peak resident memory at most this often the limit.
const most = 1.5

// Options of the measurement.
type Options struct {
	Brokers []string
	// Penstock is the program's path, Config its file; empty for penstock.yaml
	// beside this source.
	Penstock, Config string
	Limit            value.Bytes
	// For is how long memory is watched after the first request has arrived.
	For time.Duration
	// Topic is measured alone; empty for the three of Cases, filled if missing.
	Topic string
	// Out gets the table, Progress lines on the way, with a bar if Terminal.
	Out, Progress io.Writer
	Terminal      bool
}

// Cases are the topics that are measured, each about 1 to 2 GiB decompressed.
func Cases() []load.Options {
	return []load.Options{
		{Topic: "speed-64-logs", Kind: load.Logs, Documents: 3_000_000, Compression: "lz4"},
		{Topic: "speed-64-dense", Kind: load.Dense, Documents: 500_000, Compression: "zstd"},
		{Topic: "speed-64-large", Kind: load.Large, Documents: 1600, Compression: "none"},
	}
}

// partitions of each topic, and the seed that it is filled with.
const (
	partitions = 64
	seed       = 1
)

// Measure runs Penstock on each topic and prints what it measured in Markdown.
func Measure(ctx context.Context, o Options) error {
	if o.Limit <= 0 || o.For <= 0 {
		return errors.New("-limit must be a size such as 256MiB, -for a time such as 30s")
	}
	version, err := procs.Version(o.Penstock)
	if err != nil {
		return err
	}
	client, err := load.Connect(ctx, o.Brokers)
	if err != nil {
		return err
	}
	defer client.Close()
	if o.Config == "" {
		dir, err := os.MkdirTemp("", "speed-")
		if err != nil {
			return fmt.Errorf("making a folder for Penstock's configuration: %w", err)
		}
		defer os.RemoveAll(dir)
		o.Config = filepath.Join(dir, "penstock.yaml")
		if err := os.WriteFile(o.Config, defaultConfig, 0o600); err != nil {
			return fmt.Errorf("writing Penstock's configuration: %w", err)
		}
	}
	topics := []load.Options{{Topic: o.Topic}}
	if o.Topic == "" {
		topics = Cases()
		for _, t := range topics {
			t.Brokers, t.Partitions, t.Seed, t.Out, t.Terminal = o.Brokers, partitions, seed, o.Progress, o.Terminal
			if err := load.Fill(ctx, t); err != nil {
				return err
			}
		}
	}
	rows := make([]row, 0, len(topics))
	for i, t := range topics {
		r, err := o.run(ctx, client, t.Topic, fmt.Sprintf("speed-memory-%d-%d", os.Getpid(), i))
		if err != nil {
			return err
		}
		rows = append(rows, r)
	}
	fmt.Fprintf(o.Out, "%s, %s; %s; memory.limit %s, watched for %s.\n\n", time.Now().UTC().Format(time.DateOnly), procs.Machine(), version, o.Limit, o.For)
	writeTable(o.Out, rows, o.Limit)
	return nil
}

// row is what one topic has shown.
type row struct {
	topic      string
	partitions int
	requests   int64 // that the sink has read and not answered
	peak       int64 // bytes
}

func writeTable(w io.Writer, rows []row, limit value.Bytes) {
	fmt.Fprint(w, "| topic | partitions | requests never answered | peak RSS MiB | of the limit | |\n|---|---:|---:|---:|---:|---|\n")
	for _, r := range rows {
		share := float64(r.peak) / float64(limit)
		verdict := "met"
		if share > most {
			verdict = "missed"
		}
		fmt.Fprintf(w, "| %s | %d | %d | %d | %.2f | at most %.1f: %s |\n", r.topic, r.partitions, r.requests, r.peak>>20, share, most, verdict)
	}
}

// run measures one topic.
func (o Options) run(ctx context.Context, client *kgo.Client, topic, group string) (row, error) {
	r := row{topic: topic}
	var err error
	if r.partitions, _, err = load.Size(ctx, client, topic); err != nil {
		return r, err
	}
	sink, err := nullsink.Start("127.0.0.1:0", nullsink.Options{Hang: true})
	if err != nil {
		return r, err
	}
	defer sink.Close()
	child, err := procs.Start("penstock", []string{o.Penstock, "run", "-c", o.Config}, procs.Environment(
		"PENSTOCK_SOURCE_KAFKA_BROKERS="+strings.Join(o.Brokers, ","),
		"PENSTOCK_SOURCE_KAFKA_TOPICS="+topic,
		"PENSTOCK_SOURCE_KAFKA_GROUP="+group,
		"PENSTOCK_SINK_ELASTICSEARCH_URLS="+sink.URL(),
		"PENSTOCK_MEMORY_LIMIT="+o.Limit.String(),
	))
	if err != nil {
		return r, err
	}
	defer load.Forget(context.WithoutCancel(ctx), client, group)
	defer child.Stop(15 * time.Second)
	if err := await(ctx, child, sink.Started(), time.Minute, "sent no request"); err != nil {
		return r, err
	}
	if err := await(ctx, child, nil, o.For, ""); err != nil {
		return r, err
	}
	used, err := child.Usage()
	r.peak, r.requests = used.Peak, sink.Stats().Requests
	fmt.Fprintf(o.Progress, "%s: %d MiB\n", topic, r.peak>>20)
	return r, err
}

// await waits for something, at most for a time. If late says something, it is
// an error that the time is over.
func await(ctx context.Context, child *procs.Child, something <-chan struct{}, most time.Duration, late string) error {
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-child.Done():
		return child.Failure("ended before it was told to")
	case <-something:
		return nil
	case <-t.C:
		if late == "" {
			return nil
		}
		return child.Failure(fmt.Sprintf("%s for %s", late, most))
	}
}

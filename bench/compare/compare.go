package compare

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/bench/load"
	"penstock/bench/procs"
)

// defaultConfig is Penstock's file unless Options names another.
//
//go:embed penstock.yaml
var defaultConfig []byte

// comparison is one that runs.
type comparison struct {
	options   Options
	client    *kgo.Client
	sink      sink
	config    string
	documents int64 // of each run
	runs      int
}

// Compare runs the pairs and prints what it measured in Markdown.
func Compare(ctx context.Context, o Options) (err error) {
	if err := o.Validate(); err != nil {
		return err
	}
	version, err := procs.Version(o.Penstock)
	if err != nil {
		return err
	}
	c := &comparison{options: o, config: o.Config, documents: o.Documents}
	if c.client, err = load.Connect(ctx, o.Brokers); err != nil {
		return err
	}
	defer c.client.Close()
	if c.sink = sink(newSearch(o)); o.Sink == Null {
		if c.sink, err = newNull(); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, c.sink.close()) }()
	if c.config == "" {
		dir, err := os.MkdirTemp("", "speed-")
		if err != nil {
			return fmt.Errorf("making a folder for Penstock's configuration: %w", err)
		}
		defer os.RemoveAll(dir)
		c.config = filepath.Join(dir, "penstock.yaml")
		if err := os.WriteFile(c.config, defaultConfig, 0o600); err != nil {
			return fmt.Errorf("writing Penstock's configuration: %w", err)
		}
	}
	place, err := c.describe(ctx)
	if err != nil {
		return err
	}
	pairs, err := c.pairs(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "%s, %s; %s; %s.\n\n", time.Now().UTC().Format(time.DateOnly), procs.Machine(), version, place)
	targets := searchTargets
	if o.Sink == Null {
		targets = nullTargets
	}
	writeTable(o.Out, pairs, targets)
	return nil
}

// describe checks the topic and says what is moved from where to where.
func (c *comparison) describe(ctx context.Context) (string, error) {
	partitions, records, err := load.Size(ctx, c.client, c.options.Topic)
	if err != nil {
		return "", err
	}
	if c.documents == 0 {
		c.documents = records
	}
	if c.documents > records || records == 0 {
		return "", fmt.Errorf("topic %q has %d records, not the %d that -documents asks for: fill another one", c.options.Topic, records, c.documents)
	}
	to, err := c.sink.describe(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s documents of topic %s (%d partitions) on Kafka %s, to %s", thousands(c.documents), c.options.Topic, partitions,
		load.BrokerVersion(ctx, c.client), to), nil
}

// pairs runs them all, the bare loop first in every other one.
func (c *comparison) pairs(ctx context.Context) ([]Pair, error) {
	if c.options.WarmUp {
		if _, err := c.run(ctx, "warm-up", c.floor); err != nil {
			return nil, err
		}
	}
	pairs := make([]Pair, c.options.Pairs)
	for i := range pairs {
		p := &pairs[i]
		p.FloorFirst = i%2 == 0
		for _, floor := range []bool{p.FloorFirst, !p.FloorFirst} {
			program, start, into := "penstock", c.penstock, &p.Penstock
			if floor {
				program, start, into = "bare loop", c.floor, &p.Floor
			}
			var err error
			if *into, err = c.run(ctx, fmt.Sprintf("pair %d, %s", i+1, program), start); err != nil {
				return nil, err
			}
		}
	}
	return pairs, nil
}

// floor starts the bare loop. The address goes by the environment, where other
// users do not see a password in it.
func (c *comparison) floor(group, index string) (*procs.Child, error) {
	o := c.options
	return procs.Start("the bare loop", []string{
		o.Speed, "floor", "-brokers", strings.Join(o.Brokers, ","), "-topic", o.Topic, "-group", group, "-index", index,
		"-size", fmt.Sprint(o.Size), "-concurrency", fmt.Sprint(o.Concurrency), "-documents", fmt.Sprint(c.documents),
	}, procs.Environment("SPEED_URL="+c.sink.url()))
}

// penstock starts Penstock.
func (c *comparison) penstock(group, index string) (*procs.Child, error) {
	o := c.options
	return procs.Start("penstock", []string{o.Penstock, "run", "-c", c.config}, procs.Environment(
		"PENSTOCK_SOURCE_KAFKA_BROKERS="+strings.Join(o.Brokers, ","),
		"PENSTOCK_SOURCE_KAFKA_TOPICS="+o.Topic,
		"PENSTOCK_SOURCE_KAFKA_GROUP="+group,
		"PENSTOCK_SINK_ELASTICSEARCH_URLS="+c.sink.url(),
		"PENSTOCK_SINK_ELASTICSEARCH_INDEX="+index,
	))
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"go.uber.org/goleak"

	"penstock/bench/compare"
	"penstock/bench/floor"
	"penstock/bench/load"
	"penstock/bench/memory"
	"penstock/configs/value"
)

// TestMain also lets this binary stand in for the programs that are measured.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		os.Exit(standIn(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// standIn is speed itself, and for what speed does not know, penstock: the bare
// loop set up by penstock's variables.
func standIn(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	switch args[0] {
	case "version":
		fmt.Println("penstock stand-in")
		return 0
	case "run":
		if os.Getenv("PENSTOCK_SOURCE_KAFKA_TOPICS") == "broken" {
			fmt.Println("nothing works")
			return 3
		}
		err := floor.Run(ctx, floor.Options{
			Brokers: load.Brokers(os.Getenv("PENSTOCK_SOURCE_KAFKA_BROKERS")), Topic: os.Getenv("PENSTOCK_SOURCE_KAFKA_TOPICS"),
			Group: os.Getenv("PENSTOCK_SOURCE_KAFKA_GROUP"), URL: os.Getenv("PENSTOCK_SINK_ELASTICSEARCH_URLS"), Index: "i", Op: "index",
			Size: 64 << 10, Concurrency: 2,
		})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		return 0
	}
	return execute(ctx, args, os.Stderr)
}

// cluster is an embedded broker with topics of 2000 documents each.
func cluster(t *testing.T, topics ...string) []string {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for _, topic := range topics {
		var out bytes.Buffer
		err := load.Fill(t.Context(), load.Options{
			Brokers: c.ListenAddrs(), Topic: topic, Kind: load.Planes, Documents: 2000, Partitions: 2, Seed: 1, Compression: "lz4", Out: &out,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return c.ListenAddrs()
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCompareRunsPairs(t *testing.T) {
	var out, progress bytes.Buffer
	o := compare.Options{
		Brokers: cluster(t, "t", "broken"), Topic: "t", Pairs: 2, WarmUp: true, Penstock: self(t), Speed: self(t),
		Sink: compare.Null, Shards: 1, Size: 64 << 10, Concurrency: 2, Out: &out, Progress: &progress,
	}
	if err := compare.Compare(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	var order []string
	for line := range strings.Lines(progress.String()) {
		name, _, _ := strings.Cut(line, ":")
		order = append(order, name)
	}
	if got := strings.Join(order, "; "); got != "warm-up; pair 1, bare loop; pair 1, penstock; pair 2, penstock; pair 2, bare loop" {
		t.Errorf("ran %s", got)
	}
	for _, want := range []string{"penstock stand-in; 2,000 documents of topic t (2 partitions)", "| 2 | bare loop |", "| **ratio** |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	o.Topic, o.WarmUp = "broken", false
	err := compare.Compare(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "penstock ended after 0 of 2000") || !strings.Contains(err.Error(), "nothing works") {
		t.Errorf("a program that fails gave %v", err)
	}
	o.Topic, o.Documents = "t", 2001
	if err := compare.Compare(t.Context(), o); err == nil || !strings.Contains(err.Error(), "has 2000 records") {
		t.Errorf("more documents than there are gave %v", err)
	}
}

func TestMemoryWatchesAStuckProgram(t *testing.T) {
	var out, progress bytes.Buffer
	o := memory.Options{
		Brokers: cluster(t, "t"), Penstock: self(t), Limit: 256 * value.MiB, For: 50 * time.Millisecond, Topic: "t", Out: &out, Progress: &progress,
	}
	if err := memory.Measure(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "| t | 2 | ") || !strings.Contains(out.String(), "met") {
		t.Errorf("printed\n%s", out.String())
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, 2, "usage: speed COMMAND"},
		{[]string{"fly"}, 2, "nullsink"},
		{[]string{"fill", "-h"}, 0, "-partitions"},
		{[]string{"fill", "-fast"}, 2, "-fast"},
		{[]string{"fill", "fast"}, 2, "unexpected argument"},
		{[]string{"fill", "-documents", "0"}, 1, "-documents must be"},
		{[]string{"nullsink", "-listen", "0.0.0.0:1"}, 1, "loopback"},
		{[]string{"floor", "-op", "delete"}, 1, "-op must be"},
		{[]string{"compare", "-pairs", "0"}, 1, "-pairs"},
		{[]string{"memory", "-for", "0s"}, 1, "-for"},
	} {
		var stderr bytes.Buffer
		if code := execute(t.Context(), c.args, &stderr); code != c.code || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%v gave code %d and %q; want %d and %q", c.args, code, stderr.String(), c.code, c.says)
		}
	}
}

package broker

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"penstock/internal/demo/generator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestFeedAndTrim feeds the broker, reads all of it in a group, and sees that
// what was committed is deleted and nothing else.
func TestFeedAndTrim(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	b, err := Start([]Topic{{Name: "logs", Partitions: 2}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Trim("g"); err != nil {
		t.Fatalf("trimming before there is a group: %v", err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Addrs()...), kgo.ProducerLinger(40*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	feedCtx, stop := context.WithCancel(ctx)
	defer stop()
	feed := &generator.Feed{
		Generator: generator.New(generator.Options{Seed: 1, Services: []generator.Service{{Name: "s", Topic: "logs", Weight: 1}}}),
		Client:    client, Rate: 20_000,
	}
	done := make(chan error, 1)
	go func() { done <- feed.Run(feedCtx) }()

	group, err := kgo.NewClient(kgo.SeedBrokers(b.Addrs()...), kgo.ConsumerGroup("g"), kgo.ConsumeTopics("logs"),
		kgo.DisableAutoCommit(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	var read int64
	stopped := false
	for {
		fetches := group.PollRecords(ctx, 500)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		read += int64(fetches.NumRecords())
		if !stopped && read > 2000 {
			stopped = true
			stop()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if stopped && read >= feed.Stats().Acknowledged {
			break
		}
		if !stopped && read > 1000 { // commit the first part alone
			if err := group.CommitUncommittedOffsets(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	if end := b.End("logs"); end != read || feed.Stats().Failed != 0 {
		t.Errorf("%d records read, %d in the broker, feed %+v", read, end, feed.Stats())
	}
	before := b.Bytes()
	if err := b.Trim("g"); err != nil {
		t.Fatal(err)
	}
	if after := b.Bytes(); after >= before || after == 0 {
		t.Errorf("%d bytes before, %d after: what is not committed has to stay", before, after)
	}
	if err := group.CommitUncommittedOffsets(ctx); err != nil {
		t.Fatal(err)
	}
	if err := b.Trim("g"); err != nil {
		t.Fatal(err)
	}
	if left := b.Bytes(); left != 0 {
		t.Errorf("%d bytes are left after all was committed", left)
	}
}

// TestAFeedThatHoldsSendsNothing: and goes on, without making up for it.
func TestAFeedThatHoldsSendsNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	b, err := Start([]Topic{{Name: "logs", Partitions: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Addrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	feedCtx, stop := context.WithCancel(ctx)
	defer stop()
	const rate, holds = 1000, 10
	asked := 0
	feed := &generator.Feed{
		Generator: generator.New(generator.Options{Services: []generator.Service{{Name: "s", Topic: "logs", Weight: 1}}}),
		Client:    client, Rate: rate,
	}
	feed.Hold = func() bool {
		if asked++; asked == holds+1 {
			stop() // what this tick is due is sent yet, or not, but no more
		}
		if sent := b.End("logs"); sent != 0 {
			t.Errorf("%d records were sent while holding", sent)
		}
		return asked <= holds
	}
	if err := feed.Run(feedCtx); err != nil {
		t.Fatal(err)
	}
	// Ten ticks were held: half a second's worth would be 500.
	if st := feed.Stats(); st.Acknowledged != b.End("logs") || st.Acknowledged > rate/4 {
		t.Errorf("stats %+v, %d in the broker", st, b.End("logs"))
	}
}

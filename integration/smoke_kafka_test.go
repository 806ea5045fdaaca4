package integration

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/integration/servers"
)

// A broker takes a record and gives it back, and still has it at the same
// address after a stop and after a kill.
func TestKafkaKeepsDataAndPort(t *testing.T) {
	k := servers.StartKafka(t, servers.KafkaOptions{Settings: map[string]string{"num.partitions": "3"}})
	t.Logf("%s at %s", k.Image, k.Address())

	cl := kafkaClient(t, k, kgo.DefaultProduceTopic("smoke"))
	created, err := kadm.NewClient(cl).CreateTopic(t.Context(), -1, -1, nil, "smoke")
	if err != nil {
		t.Fatal(err)
	}
	if created.NumPartitions != 3 {
		t.Errorf("the topic has %d partitions; the broker was set to 3", created.NumPartitions)
	}
	if err := cl.ProduceSync(t.Context(), kgo.StringRecord("one")).FirstErr(); err != nil {
		t.Fatal(err)
	}

	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"restart", k.Restart},
		{"kill", func(ctx context.Context) error {
			if err := k.Kill(ctx); err != nil {
				return err
			}
			return k.Start(ctx)
		}},
	} {
		began, address := time.Now(), k.Address()
		if err := step.do(t.Context()); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		t.Logf("%s took %v", step.name, time.Since(began).Round(time.Millisecond))
		if k.Address() != address {
			t.Errorf("%s moved the broker from %s to %s", step.name, address, k.Address())
		}
		consumer := kafkaClient(t, k, kgo.ConsumeTopics("smoke"), kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		fetches := consumer.PollRecords(ctx, 1)
		cancel()
		if err := fetches.Err(); err != nil {
			t.Fatalf("after %s: %v", step.name, err)
		}
		if got := string(fetches.Records()[0].Value); got != "one" {
			t.Errorf("after %s the record is %q", step.name, got)
		}
	}
}

// kafkaClient gives a client that is closed with the test.
func kafkaClient(t *testing.T, k *servers.Kafka, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(k.Brokers()...))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

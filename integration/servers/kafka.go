package servers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// KafkaOptions are what a test may want to be different. The zero value will do.
type KafkaOptions struct {
	// Settings are the broker's own (log.retention.ms), over those that a single
	// small broker needs.
	Settings map[string]string
	// Heap of the JVM, "512m" by default.
	Heap string
}

// Kafka is a single KRaft broker.
type Kafka struct{ *Server }

// Brokers are its addresses, for a client's seeds.
func (k *Kafka) Brokers() []string { return []string{k.Address()} }

// StartKafka starts a broker for the test.
func StartKafka(t testing.TB, o KafkaOptions) *Kafka {
	t.Helper()
	return &Kafka{start(t, KafkaBroker, spec{
		// The same inside and outside: the broker also calls itself at what it advertises.
		port:  func(host int) int { return host },
		env:   o.env,
		ready: kafkaReady,
	})}
}

// env is what the official image is configured with; the one built here takes the same.
func (o KafkaOptions) env(port int) map[string]string {
	settings := map[string]string{
		"node.id":                        "1",
		"process.roles":                  "broker,controller",
		"listeners":                      fmt.Sprintf("PLAINTEXT://:%d,CONTROLLER://:9093", port),
		"advertised.listeners":           fmt.Sprintf("PLAINTEXT://%s:%d", loopback, port),
		"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"inter.broker.listener.name":     "PLAINTEXT",
		"controller.listener.names":      "CONTROLLER",
		"controller.quorum.voters":       "1@127.0.0.1:9093",
		"log.dirs":                       "/var/lib/kafka/data",
		// One broker can hold one copy.
		"offsets.topic.replication.factor":                 "1",
		"transaction.state.log.replication.factor":         "1",
		"transaction.state.log.min.isr":                    "1",
		"share.coordinator.state.topic.replication.factor": "1",
		"share.coordinator.state.topic.min.isr":            "1",
		// Fifty partitions of each cost a small broker seconds.
		"offsets.topic.num.partitions":         "4",
		"transaction.state.log.num.partitions": "4",
		"group.initial.rebalance.delay.ms":     "0",
		"auto.create.topics.enable":            "false",
	}
	maps.Copy(settings, o.Settings)

	env := map[string]string{
		"CLUSTER_ID":      "cGVuc3RvY2staXQtdGVzdA", // any UUID, base64
		"KAFKA_HEAP_OPTS": heap(o.Heap),
	}
	name := strings.NewReplacer("-", "___", "_", "__", ".", "_")
	for key, value := range settings {
		env["KAFKA_"+strings.ToUpper(name.Replace(key))] = value
	}
	return env
}

// heap gives the JVM's options for a heap of that size.
func heap(size string) string {
	if size == "" {
		size = "512m"
	}
	return fmt.Sprintf("-Xms%s -Xmx%s", size, size)
}

// kafkaReady asks for the cluster's metadata: the broker must be in it, and
// after a restart each partition must have its leader back.
func kafkaReady(ctx context.Context, address string) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.RequestRetries(0))
	if err != nil {
		return err
	}
	defer cl.Close()
	meta, err := kadm.NewClient(cl).Metadata(ctx)
	if err != nil {
		return err
	}
	if len(meta.Brokers) == 0 {
		return errors.New("no broker has registered yet")
	}
	for _, topic := range meta.Topics {
		for _, p := range topic.Partitions {
			if p.Leader < 0 {
				return fmt.Errorf("partition %d of %s has no leader", p.Partition, topic.Topic)
			}
		}
	}
	return nil
}

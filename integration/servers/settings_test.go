package servers

import "testing"

func TestKafkaEnvironment(t *testing.T) {
	env := KafkaOptions{
		Settings: map[string]string{"num.partitions": "12", "node.id": "7", "a_b.c-d": "x"},
		Heap:     "1g",
	}.env(23456)
	// Names as the official image's documentation has them: a dot is _, an underscore __, a dash ___.
	for name, want := range map[string]string{
		"KAFKA_NUM_PARTITIONS":       "12",
		"KAFKA_NODE_ID":              "7",
		"KAFKA_A__B_C___D":           "x",
		"KAFKA_HEAP_OPTS":            "-Xms1g -Xmx1g",
		"KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://127.0.0.1:23456",
		"KAFKA_LISTENERS":            "PLAINTEXT://:23456,CONTROLLER://:9093",
	} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
}

func TestSearchEnvironment(t *testing.T) {
	for kind, want := range map[Kind][2]string{
		Elasticsearch7: {"ES_JAVA_OPTS", "xpack.security.enabled"},
		Elasticsearch9: {"ES_JAVA_OPTS", "xpack.security.enabled"},
		OpenSearch2:    {"OPENSEARCH_JAVA_OPTS", "DISABLE_SECURITY_PLUGIN"},
		OpenSearch3:    {"OPENSEARCH_JAVA_OPTS", "DISABLE_SECURITY_PLUGIN"},
	} {
		env := SearchOptions{Settings: map[string]string{"cluster.name": "mine"}}.env(kind)
		if env[want[0]] != "-Xms512m -Xmx512m" {
			t.Errorf("%s: %s is %q", kind, want[0], env[want[0]])
		}
		if _, ok := env[want[1]]; !ok {
			t.Errorf("%s: %s is not set: security would be on", kind, want[1])
		}
		if env["cluster.name"] != "mine" {
			t.Errorf("%s: the test's own setting is lost", kind)
		}
	}
}

func TestFreePortLeavesThoseOfOutgoingConnections(t *testing.T) {
	for range 50 {
		port, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		// Linux takes 32768 and above for outgoing connections (ip_local_port_range).
		if port < 1024 || port >= 32768 {
			t.Fatalf("port %d", port)
		}
	}
}

package servers

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Kind is a server that the suites know how to start.
type Kind string

// The kinds. Their values are what PENSTOCK_IT_REQUIRED is written with.
const (
	KafkaBroker    Kind = "kafka"
	Elasticsearch7 Kind = "elasticsearch7"
	Elasticsearch9 Kind = "elasticsearch9"
	OpenSearch2    Kind = "opensearch2"
	OpenSearch3    Kind = "opensearch3"
)

// Kinds are all of them, in the order in which they are reported.
var Kinds = []Kind{KafkaBroker, Elasticsearch7, Elasticsearch9, OpenSearch2, OpenSearch3}

// SearchKinds are those that [StartSearch] takes.
var SearchKinds = []Kind{Elasticsearch7, Elasticsearch9, OpenSearch2, OpenSearch3}

// origin is where a kind's image comes from.
type origin struct {
	// override is the environment variable that names another image.
	override string
	// official is the project's own image.
	official string
	// local is the image that images/build makes, "" where that is impossible.
	local string
}

var origins = map[Kind]origin{
	KafkaBroker: {
		override: "PENSTOCK_IT_KAFKA_IMAGE",
		official: "apache/kafka:4.4.0",
		local:    "penstock-it/kafka:4.4.0",
	},
	Elasticsearch7: {
		override: "PENSTOCK_IT_ELASTICSEARCH7_IMAGE",
		official: "docker.elastic.co/elasticsearch/elasticsearch:7.17.28",
		local:    "penstock-it/elasticsearch:7.17.28",
	},
	// Elasticsearch 8 and 9 do not publish their transport module, so no node can be made from jars.
	Elasticsearch9: {
		override: "PENSTOCK_IT_ELASTICSEARCH9_IMAGE",
		official: "docker.elastic.co/elasticsearch/elasticsearch:9.5.6",
	},
	OpenSearch2: {
		override: "PENSTOCK_IT_OPENSEARCH2_IMAGE",
		official: "opensearchproject/opensearch:2.19.6",
		local:    "penstock-it/opensearch:2.19.6",
	},
	OpenSearch3: {
		override: "PENSTOCK_IT_OPENSEARCH3_IMAGE",
		official: "opensearchproject/opensearch:3.9.0",
		local:    "penstock-it/opensearch:3.9.0",
	},
}

// requiredVariable names the kinds whose absence is a failure.
const requiredVariable = "PENSTOCK_IT_REQUIRED"

// required parses PENSTOCK_IT_REQUIRED. A misspelt name is an error: taken
// lightly it would turn a failure into a skip.
func required() ([]Kind, error) {
	var kinds []Kind
	for name := range strings.SplitSeq(os.Getenv(requiredVariable), ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		if !slices.Contains(Kinds, Kind(name)) {
			return nil, fmt.Errorf("%s: unknown server %q: write a list of %v, separated by commas", requiredVariable, name, Kinds)
		}
		kinds = append(kinds, Kind(name))
	}
	return kinds, nil
}

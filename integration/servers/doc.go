// Package servers starts the real servers that the integration suites run
// against: a Kafka broker, Elasticsearch and OpenSearch nodes, each in a
// container of its own that can be stopped, killed and started again with its
// data and its port kept.
//
// A test asks for a server by [StartKafka] or [StartSearch]. Where there is no
// Docker, or the server's image cannot be had, the test is skipped and the suite
// says so once; [Suite] lists at the end what was not run. A server that
// PENSTOCK_IT_REQUIRED names (a list: kafka,elasticsearch7,...) is not skipped:
// its tests fail.
package servers

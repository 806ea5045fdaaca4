// Package elasticsearch stores documents in Elasticsearch (7, 8, 9) and
// OpenSearch by their bulk API.
//
// The sink classifies what the server says and never retries or waits: that is
// the pipeline's business. Requests go through olivere/elastic's client, which
// makes no product check; the choice of the node, its credentials and its
// health are our own (see doer).
package elasticsearch

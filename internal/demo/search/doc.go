// Package search is a search server for demonstrations and tests: it speaks
// the part of the Elasticsearch API that Penstock uses, over a real index
// library (bleve), in memory, in this process.
//
// It answers as Elasticsearch 7.17 and OpenSearch 2.19 were seen to answer,
// down to the error types of single documents, so that a client's handling of
// refusals can be tried without a server. Where it differs it is simpler:
//
//   - a search sees all that was acknowledged (there is no refresh interval);
//   - only the newest [Options.Keep] documents can be searched and fetched;
//     older ones are only counted, and their ids are forgotten;
//   - query strings know terms, phrases, ranges, trailing and inner wildcards,
//     _exists_, AND, OR, NOT, + and -; AND binds tighter than OR;
//   - scripts, updates, aggregations and scrolling are refused.
//
// [Server.SetFault] makes it misbehave.
package search

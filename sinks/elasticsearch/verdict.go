package elasticsearch

import "penstock/pipeline"

// The error types that decide a verdict; all others are judged by the status.
const (
	typeVersionConflict   = "version_conflict_engine_exception"
	typeDocumentExists    = "document_already_exists_exception" // its name before 5.0
	typeClusterBlock      = "cluster_block_exception"
	typeIndexNotFound     = "index_not_found_exception"
	typeIndexClosed       = "index_closed_exception"
	typeUnavailableShards = "unavailable_shards_exception"
	typeNoShard           = "no_shard_available_action_exception"
)

// verdictOf judges one item by its status and, where servers use one status for
// different causes, its error type. It never judges by the text for people. ok
// is false for a status that no item has: then the answer proves nothing.
//
//   - 409 on our own id means "already there", with create and with index;
//     any other conflict is the document's.
//   - A block, a missing or closed index and a missing right are the
//     destination's trouble, whatever the status (a full disk is 403 or 429).
//   - 413 of one item is a document that the server will never take.
func verdictOf(status int, kind string) (v pipeline.Verdict, ok bool) {
	switch {
	case status >= 200 && status < 300:
		return pipeline.Stored, true
	case status < 400 || status > 599:
		return 0, false
	case kind == typeClusterBlock, kind == typeUnavailableShards, kind == typeNoShard:
		return pipeline.Blocked, true
	}
	switch status {
	case 400:
		if kind == typeIndexClosed || kind == typeIndexNotFound {
			return pipeline.Blocked, true
		}
	case 401, 403:
		return pipeline.Blocked, true
	case 404:
		if kind == typeIndexNotFound {
			return pipeline.Blocked, true
		}
	case 408, 429:
		return pipeline.Throttled, true
	case 409:
		if kind == typeVersionConflict || kind == typeDocumentExists {
			return pipeline.Duplicate, true
		}
	}
	if status >= 500 {
		return pipeline.Throttled, true
	}
	return pipeline.Rejected, true
}

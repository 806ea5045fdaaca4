package elasticsearch

import (
	"testing"

	"penstock/pipeline"
)

func TestVerdictOf(t *testing.T) {
	const none = pipeline.Verdict(255)
	for _, test := range []struct {
		status int
		kind   string
		want   pipeline.Verdict
	}{
		{200, "", pipeline.Stored},
		{201, "", pipeline.Stored},
		{409, "version_conflict_engine_exception", pipeline.Duplicate},
		{409, "document_already_exists_exception", pipeline.Duplicate},
		{409, "zzz_exception", pipeline.Rejected},
		{409, "", pipeline.Rejected},

		{400, "mapper_parsing_exception", pipeline.Rejected},
		{400, "document_parsing_exception", pipeline.Rejected},
		{400, "strict_dynamic_mapping_exception", pipeline.Rejected},
		{400, "illegal_argument_exception", pipeline.Rejected},
		{400, "invalid_index_name_exception", pipeline.Rejected},
		{400, "zzz_exception", pipeline.Rejected},
		{400, "", pipeline.Rejected},
		{404, "zzz_exception", pipeline.Rejected},
		{413, "zzz_exception", pipeline.Rejected},
		{499, "", pipeline.Rejected},

		{429, "es_rejected_execution_exception", pipeline.Throttled},
		{429, "circuit_breaking_exception", pipeline.Throttled},
		{429, "", pipeline.Throttled},
		{408, "", pipeline.Throttled},
		{500, "null_pointer_exception", pipeline.Throttled},
		{503, "process_cluster_event_timeout_exception", pipeline.Throttled},
		{503, "", pipeline.Throttled},
		{599, "", pipeline.Throttled},

		{403, "cluster_block_exception", pipeline.Blocked},
		{429, "cluster_block_exception", pipeline.Blocked},
		{503, "cluster_block_exception", pipeline.Blocked},
		{503, "unavailable_shards_exception", pipeline.Blocked},
		{503, "no_shard_available_action_exception", pipeline.Blocked},
		{403, "security_exception", pipeline.Blocked},
		{401, "security_exception", pipeline.Blocked},
		{403, "", pipeline.Blocked},
		{404, "index_not_found_exception", pipeline.Blocked},
		{400, "index_closed_exception", pipeline.Blocked},
		{403, "index_closed_exception", pipeline.Blocked},

		{0, "", none},
		{100, "", none},
		{199, "", none},
		{301, "", none},
		{600, "cluster_block_exception", none},
		{-1, "", none},
	} {
		got, ok := verdictOf(test.status, test.kind)
		if !ok {
			got = none
		}
		if got != test.want {
			t.Errorf("%d %s: got %d, want %d", test.status, test.kind, got, test.want)
		}
	}
}

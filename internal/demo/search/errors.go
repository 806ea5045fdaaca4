package search

import (
	"encoding/json"
	"net/http"
)

// The error types that the server answers with, as Elasticsearch names them.
const (
	typeValidation    = "action_request_validation_exception"
	typeArgument      = "illegal_argument_exception"
	typeBlock         = "cluster_block_exception"
	typeClosed        = "index_closed_exception"
	typeNoIndex       = "index_not_found_exception"
	typeConflict      = "version_conflict_engine_exception"
	typeIndexName     = "invalid_index_name_exception"
	typeIndexExists   = "resource_already_exists_exception"
	typeMapper        = "mapper_parsing_exception"
	typeDocument      = "document_parsing_exception"
	typeStrict        = "strict_dynamic_mapping_exception"
	typeJSON          = "json_parse_exception"
	typeParse         = "parse_exception"
	typeParsing       = "parsing_exception"
	typeTooManyShards = "validation_exception"
)

// apiError is a refusal in the form in which the server reports it, of a
// request or of one item of a bulk request.
type apiError struct {
	Status int    `json:"-"`
	Type   string `json:"type"`
	Reason string `json:"reason"`
	Cause  *cause `json:"caused_by,omitempty"`
}

// cause is what is behind an apiError.
type cause struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

func (e *apiError) Error() string { return e.Type + ": " + e.Reason }

func badRequest(typ, reason string) *apiError {
	return &apiError{Status: http.StatusBadRequest, Type: typ, Reason: reason}
}

func noIndex(name string) *apiError {
	return &apiError{Status: http.StatusNotFound, Type: typeNoIndex, Reason: "no such index [" + name + "]"}
}

// writeError answers a whole request with a refusal.
func writeError(w http.ResponseWriter, e *apiError) {
	type rootCause struct {
		Type   string `json:"type"`
		Reason string `json:"reason"`
	}
	type body struct {
		RootCause []rootCause `json:"root_cause"`
		*apiError
	}
	writeJSON(w, e.Status, struct {
		Error  body `json:"error"`
		Status int  `json:"status"`
	}{body{[]rootCause{{e.Type, e.Reason}}, e}, e.Status})
}

// writeJSON answers with v. What is written to a client that has gone is lost,
// as it must be.
func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil { // only our own types come here
		status, b = http.StatusInternalServerError, []byte(`{"error":"encoding the answer failed","status":500}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

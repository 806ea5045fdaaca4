package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// action is one operation of a bulk request.
type action struct {
	op     string // create, index or delete
	index  string
	id     string
	hasID  bool
	source []byte // aliases the request's body; nil for delete

	version  int64
	external string // version_type: "", "external" or "external_gte"
}

// maxID is the longest id that a server takes, in bytes.
const maxID = 512

// meta is what the action line says of a document.
type meta struct {
	Index       *string `json:"_index"`
	ID          *string `json:"_id"`
	Version     *int64  `json:"version"`
	VersionType string  `json:"version_type"`
}

// ignoredMeta are parameters that are known and change nothing here.
var ignoredMeta = []string{"_type", "routing", "if_seq_no", "if_primary_term", "require_alias", "pipeline", "dynamic_templates", "list_executed_pipelines", "retry_on_conflict"}

// parseBulk splits the body of a bulk request into its actions. An error is
// about the request as a whole: a server then does none of them.
func parseBulk(body []byte, defaultIndex string) ([]action, *apiError) {
	if len(body) == 0 {
		return nil, badRequest(typeParse, "request body is required")
	}
	if body[len(body)-1] != '\n' {
		return nil, badRequest(typeArgument, `The bulk request must be terminated by a newline [\n]`)
	}
	var actions []action
	for line := 1; len(body) > 0; line++ {
		head, rest, _ := bytes.Cut(body, []byte{'\n'})
		body = rest
		if len(bytes.TrimSpace(head)) == 0 {
			continue
		}
		a, e := parseAction(head, line)
		if e != nil {
			return nil, e
		}
		if a.index == "" {
			a.index = defaultIndex
		}
		if a.op != "delete" {
			if len(body) == 0 {
				return nil, badRequest(typeArgument, fmt.Sprintf("Malformed bulk request: the document of line [%d] is missing", line))
			}
			a.source, body, _ = bytes.Cut(body, []byte{'\n'})
			a.source = bytes.TrimPrefix(a.source, []byte("\xef\xbb\xbf")) // a byte-order mark
			line++
		}
		actions = append(actions, a)
	}
	return actions, validate(actions)
}

func parseAction(line []byte, number int) (action, *apiError) {
	malformed := func(what string) (action, *apiError) {
		return action{}, badRequest(typeArgument, fmt.Sprintf("Malformed action/metadata line [%d], %s", number, what))
	}
	var outer map[string]json.RawMessage
	if err := json.Unmarshal(line, &outer); err != nil {
		if !json.Valid(line) {
			return action{}, badRequest(typeJSON, fmt.Sprintf("action/metadata line [%d]: %v", number, err))
		}
		return malformed("expected START_OBJECT but found something else")
	}
	if len(outer) != 1 {
		return malformed(fmt.Sprintf("expected one field but found [%d]", len(outer)))
	}
	var a action
	var inner json.RawMessage
	for a.op, inner = range outer {
	}
	switch a.op {
	case "create", "index", "delete":
	case "update":
		return action{}, badRequest(typeArgument, "this embedded server does not know updates: use create, index or delete")
	default:
		return malformed(fmt.Sprintf("expected field [create], [delete], [index] or [update] but found [%s]", a.op))
	}
	var m meta
	if err := json.Unmarshal(inner, &m); err != nil {
		return malformed("its parameters: " + err.Error())
	}
	if e := unknownMeta(inner, number); e != nil {
		return action{}, e
	}
	if m.Index != nil {
		a.index = *m.Index
	}
	if m.ID != nil {
		a.id, a.hasID = *m.ID, true
	}
	switch m.VersionType {
	case "", "internal":
	case "external", "external_gte":
		if m.Version == nil {
			return malformed("version_type [" + m.VersionType + "] needs a version")
		}
		a.version, a.external = *m.Version, m.VersionType
	default:
		return action{}, badRequest(typeArgument, "No version type match ["+m.VersionType+"]")
	}
	return a, nil
}

// unknownMeta looks for parameters that no server knows. Most lines have only
// the common ones, and cost no parsing.
func unknownMeta(inner []byte, number int) *apiError {
	if n := bytes.Count(inner, []byte{':'}); n == bytes.Count(inner, []byte(`"_index":`))+bytes.Count(inner, []byte(`"_id":`)) {
		return nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(inner, &all); err != nil {
		return nil // seen before: it is an object
	}
	for k := range all {
		if k != "_index" && k != "_id" && k != "version" && k != "version_type" && !slices.Contains(ignoredMeta, k) {
			return badRequest(typeArgument, fmt.Sprintf("Action/metadata line [%d] contains an unknown parameter [%s]", number, k))
		}
	}
	return nil
}

// validate refuses a request as a whole for what a server does not look at
// document by document.
func validate(actions []action) *apiError {
	if len(actions) == 0 {
		return badRequest(typeValidation, "Validation Failed: 1: no requests added;")
	}
	var problems []string
	add := func(what string) { problems = append(problems, fmt.Sprintf("%d: %s;", len(problems)+1, what)) }
	for i := range actions {
		a := &actions[i]
		switch {
		case a.index == "":
			add("index is missing")
		case len(a.id) > maxID:
			add(fmt.Sprintf("id [%s] is too long, must be no longer than %d bytes but was: %d", a.id, maxID, len(a.id)))
		case a.op == "delete" && !a.hasID:
			add("id is missing")
		case a.op == "create" && a.external != "":
			add("create operations only support internal versioning. use index instead")
		}
	}
	if problems != nil {
		return badRequest(typeValidation, "Validation Failed: "+strings.Join(problems, ""))
	}
	return nil
}

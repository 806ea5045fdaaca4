package search

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
)

// entry is one document that is kept, or the version of a deleted one.
type entry struct {
	source  []byte
	version int64
	seq     int64
	deleted bool
	gen     *generation
}

// index is one index of the server. The server's lock guards it.
type index struct {
	name     string
	uuid     string
	created  time.Time
	mapping  *mapping
	declared json.RawMessage // the mapping as it was given, for GET
	settings map[string]string
	closed   bool

	docs        map[string]*entry
	generations []*generation
	seq         int64
	count       int64 // documents that exist, with those that are only counted
	forgotten   int64 // of them, those that are only counted
	bytes       int64
}

// lookup gives the entry of a document that exists.
func (x *index) lookup(id string) (*entry, bool) {
	e, ok := x.docs[id]
	return e, ok && !e.deleted
}

// blocked tells why the index takes no writes now. The statuses and words are
// those of real servers: a full disk is 429, a block that a person set is 403.
func (x *index) blocked() *apiError {
	set := func(name string) bool { return x.settings["index.blocks."+name] == "true" }
	reason := "index [" + x.name + "] blocked by: "
	switch {
	case x.closed:
		return badRequest(typeClosed, "closed")
	case set("read_only_allow_delete"):
		return &apiError{http.StatusTooManyRequests, typeBlock, reason + "[TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];", nil}
	case set("read_only"):
		return &apiError{http.StatusForbidden, typeBlock, reason + "[FORBIDDEN/5/index read-only (api)];", nil}
	case set("write"):
		return &apiError{http.StatusForbidden, typeBlock, reason + "[FORBIDDEN/8/index write (api)];", nil}
	}
	return nil
}

// checkName applies the rules for names of indices.
func checkName(name string) *apiError {
	bad := func(why string) *apiError {
		return badRequest(typeIndexName, fmt.Sprintf("Invalid index name [%s], %s", name, why))
	}
	switch {
	case strings.ContainsAny(name, `\/*?"<>| ,`):
		return bad(`must not contain the following characters [ , ", *, \, <, |, ,, >, /, ?]`)
	case strings.Contains(name, "#"):
		return bad("must not contain '#'")
	case strings.Contains(name, ":"):
		return bad("must not contain ':'")
	case name == "" || strings.ContainsAny(name[:1], "_-+"):
		return bad("must not start with '_', '-', or '+'")
	case name == "." || name == "..":
		return bad("must not be '.' or '..'")
	case len(name) > 255:
		return bad(fmt.Sprintf("index name is too long, (%d > 255)", len(name)))
	case strings.ContainsFunc(name, unicode.IsUpper):
		return bad("must be lowercase")
	}
	return nil
}

package elasticsearch

import (
	"fmt"

	"penstock/pipeline"
)

// item judges the item of document n.
func (r *reply) item(n int, v []byte) error {
	if string(v) == string(r.stored[:len(r.stored)-1]) {
		return nil
	}
	body, ok := itemBody(v)
	if !ok {
		return fmt.Errorf("item %d of the answer is not of the bulk API", n)
	}
	status, failure := 0, []byte(nil)
	m := membersOf(body)
	for key, value, ok := m.next(); ok; key, value, ok = m.next() {
		switch string(key) {
		case "status":
			if status != 0 {
				return fmt.Errorf("item %d of the answer has two statuses", n)
			}
			status = httpStatus(value)
		case "error":
			if string(value) != "null" {
				failure = value
			}
		}
	}
	kind, text, cause := explain(failure)
	verdict, ok := verdictOf(status, r.intern(kind))
	switch {
	case !ok:
		return fmt.Errorf("item %d of the answer has no status that an item can have", n)
	case verdict == pipeline.Stored && failure != nil:
		return fmt.Errorf("item %d of the answer has both status %d and an error", n, status)
	case verdict == pipeline.Stored:
		return nil
	}
	r.items = append(r.items, pipeline.Item{Doc: n, Verdict: verdict, Reason: r.reason(verdict, status, kind, text, cause)})
	return nil
}

// itemBody gives what follows the action's name in {"create":{...}}.
func itemBody(v []byte) (body []byte, ok bool) {
	if v[0] != '{' {
		return nil, false
	}
	m := membersOf(v)
	key, body, ok := m.next()
	if !ok || body[0] != '{' {
		return nil, false
	}
	switch string(key) {
	case "create", "index", "update", "delete":
	default:
		return nil, false
	}
	_, _, more := m.next()
	return body, !more
}

// httpStatus reads a number of three digits, 0 if it is none.
func httpStatus(v []byte) int {
	if len(v) != 3 {
		return 0
	}
	n := 0
	for _, c := range v {
		if c < '0' || c > '9' {
			return 0
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// explain takes an error apart. Servers write an object; some, and some proxies,
// plain text. Each part is a JSON string as written, or nil.
func explain(failure []byte) (kind, text, cause []byte) {
	if len(failure) == 0 {
		return nil, nil, nil
	}
	switch failure[0] {
	case '"':
		return nil, failure, nil
	case '{':
	default:
		return nil, nil, nil
	}
	m := membersOf(failure)
	for key, value, ok := m.next(); ok; key, value, ok = m.next() {
		switch {
		case string(key) == "caused_by" && value[0] == '{':
			_, cause, _ = explain(value)
		case value[0] != '"':
		case string(key) == "type":
			kind = value
		case string(key) == "reason":
			text = value
		}
	}
	return kind, text, cause
}

// maxTypes bounds the error types that are told apart in one answer; there are
// about two hundred in all.
const (
	maxTypes    = 256
	maxTypeText = 128
)

// intern gives one string for all equal error types.
func (r *reply) intern(quoted []byte) string {
	if len(quoted) == 0 {
		return ""
	}
	if s, ok := r.types[string(quoted)]; ok {
		return s
	}
	s := cut(unquote(quoted), maxTypeText)
	if r.types == nil {
		r.types = make(map[string]string)
	}
	if len(r.types) < maxTypes {
		r.types[string(quoted)] = s
	}
	return s
}

// reason says why a document was not newly stored. Only what is said of a
// rejected document is worth keeping one by one, for its dead letter: after a
// burst of 429s thousands of texts would say the same.
func (r *reply) reason(verdict pipeline.Verdict, status int, kind, text, cause []byte) pipeline.Reason {
	reason := pipeline.Reason{Status: status, Type: r.intern(kind)}
	if verdict == pipeline.Duplicate {
		return reason
	}
	if verdict != pipeline.Rejected && len(r.items) > 0 {
		if last := &r.items[len(r.items)-1]; last.Verdict == verdict && last.Reason.Status == status && last.Reason.Type == reason.Type {
			return last.Reason
		}
	}
	most := pipeline.MaxReasonText
	if r.texts > manyTexts {
		most = briefText
	}
	reason.Text = reasonText(text, most)
	if c := reasonText(cause, most); c != "" && reason.Text == "" {
		reason.Text = c
	} else if c != "" {
		reason.Text = cut(reason.Text+": "+c, most)
	}
	r.texts += len(reason.Text)
	return reason
}

// A request of which thousands are rejected would bring more text than
// documents: after manyTexts bytes of it, the rest is brief.
const (
	manyTexts = 1 << 20
	briefText = 200
)

func reasonText(quoted []byte, most int) string {
	if len(quoted) == 0 {
		return ""
	}
	return cut(unquote(quoted), most)
}

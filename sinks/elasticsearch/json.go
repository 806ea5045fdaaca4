package elasticsearch

import (
	"bytes"
	"encoding/json"
)

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// valueLen is the length of the JSON value that b begins with, 0 if b may end
// before the value does. It finds ends and checks nothing.
func valueLen(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"':
		return stringLen(b)
	case '{', '[':
	default:
		if i := bytes.IndexAny(b, ",]}\" \n\r\t{[:"); i > 0 {
			return i
		} else if i == 0 {
			return 1 // no value begins so: the check says so
		}
		return 0
	}
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := stringLen(b[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// stringLen is the length of the JSON string that b begins with, quotes
// included; 0 if it does not end.
func stringLen(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// members walks the members of an object that is known to be valid JSON.
type members struct{ rest []byte }

func membersOf(object []byte) members { return members{object[1 : len(object)-1]} }

// next gives a key, unquoted, and its value as it is written.
func (m *members) next() (key, value []byte, ok bool) {
	m.skip()
	if len(m.rest) == 0 {
		return nil, nil, false
	}
	n := stringLen(m.rest)
	key = m.rest[:n]
	m.rest = m.rest[n:]
	m.skip() // the colon
	if n = valueLen(m.rest); n == 0 {
		n = len(m.rest) // a number at the very end
	}
	value = m.rest[:n]
	m.rest = m.rest[n:]
	if bytes.IndexByte(key, '\\') >= 0 {
		return []byte(unquote(key)), value, true
	}
	return key[1 : len(key)-1], value, true
}

// skip passes white space and separators.
func (m *members) skip() {
	for len(m.rest) > 0 && (isSpace(m.rest[0]) || m.rest[0] == ',' || m.rest[0] == ':') {
		m.rest = m.rest[1:]
	}
}

// unquote gives the text of a valid JSON string.
func unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return ""
	}
	return s
}

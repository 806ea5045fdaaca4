package configs

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// reference is ${NAME} at the start of a text.
var reference = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand replaces ${NAME} by what lookup gives for NAME, and $$ by $. It goes
// through the text once, so what a variable holds stays byte for byte as it
// is. A $ before anything else is itself: "^logs$" needs no escape.
func expand(text string, lookup func(string) (string, bool)) (string, error) {
	var out strings.Builder
	for {
		before, _, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		text = text[len(before):]
		switch {
		case strings.HasPrefix(text, "$$"):
			out.WriteByte('$')
			text = text[2:]
		case strings.HasPrefix(text, "${"):
			m := reference.FindStringSubmatch(text)
			if m == nil {
				return "", errors.New("has a ${ without a variable's name and }: write ${NAME}, or $${ for the characters themselves")
			}
			v, ok := lookup(m[1])
			if !ok {
				return "", fmt.Errorf("refers to ${%s}, but the environment variable %s is not set or is empty: set it, or write $${%s} for the characters themselves", m[1], m[1], m[1])
			}
			out.WriteString(v)
			text = text[len(m[0]):]
		default:
			out.WriteByte('$')
			text = text[1:]
		}
	}
}

// unexpand escapes text so that expand gives it back.
func unexpand(text string) string {
	var out strings.Builder
	for i := range len(text) {
		out.WriteByte(text[i])
		if text[i] == '$' && i+1 < len(text) && (text[i+1] == '$' || text[i+1] == '{') {
			out.WriteByte('$')
		}
	}
	return out.String()
}

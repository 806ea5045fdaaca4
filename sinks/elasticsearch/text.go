package elasticsearch

import (
	"strings"
	"unicode/utf8"
)

// cut shortens s to at most limit bytes, between runes, and makes it UTF-8.
func cut(s string, limit int) string {
	if len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = s[:limit]
	}
	// A byte that is not UTF-8 would become three.
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "?")
	}
	return s
}

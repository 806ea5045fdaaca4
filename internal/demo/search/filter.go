package search

import "strings"

// filter is a parsed filter_path: which parts of an answer to send. A nil
// filter sends all. Exclusions (a leading "-") are not understood and ignored.
type filter [][]string

func parseFilter(s string) filter {
	var f filter
	for p := range strings.SplitSeq(s, ",") {
		if p = strings.TrimSpace(p); p != "" && p[0] != '-' {
			f = append(f, strings.Split(p, "."))
		}
	}
	return f
}

// has tells whether the value at path is sent with all that is below it.
func (f filter) has(path ...string) bool {
	if f == nil {
		return true
	}
	for _, pattern := range f {
		if covers(pattern, path) {
			return true
		}
	}
	return false
}

// covers tells whether pattern names path or one of its parents.
func covers(pattern, path []string) bool {
	if len(pattern) == 0 {
		return true
	}
	if pattern[0] == "**" {
		for i := range len(path) + 1 {
			if covers(pattern[1:], path[i:]) {
				return true
			}
		}
		return false
	}
	return len(path) > 0 && matchWildcard(pattern[0], path[0]) && covers(pattern[1:], path[1:])
}

// reduce gives the part of v that is sent, and whether there is any. Arrays
// are transparent: their elements have the path of the array.
func (f filter) reduce(v any, path ...string) (any, bool) {
	if f.has(path...) && len(path) > 0 {
		return v, true
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any)
		for k, e := range v {
			if r, ok := f.reduce(e, append(path[:len(path):len(path)], k)...); ok {
				out[k] = r
			}
		}
		return out, len(out) > 0
	case []any:
		var out []any
		for _, e := range v {
			if r, ok := f.reduce(e, path...); ok {
				out = append(out, r)
			}
		}
		return out, len(out) > 0
	}
	return nil, false
}

// matchWildcard matches s against a pattern in which * stands for any run of
// characters and ? for one.
func matchWildcard(pattern, s string) bool {
	star, back := -1, 0
	i := 0
	for j := 0; j < len(s); {
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, back = i, j
			i++
		case i < len(pattern) && (pattern[i] == '?' || pattern[i] == s[j]):
			i++
			j++
		case star >= 0: // let the last star take one more character
			back++
			i, j = star+1, back
		default:
			return false
		}
	}
	for i < len(pattern) && pattern[i] == '*' {
		i++
	}
	return i == len(pattern)
}

package configs

import (
	"strings"
)

// suggestKey gives the end of a sentence that names the key that was meant:
// one of the same section that is spelt alike, or the same name elsewhere.
func suggestKey(root, s *field, key string) string {
	if f := descend(root, strings.Split(join(s.path, key), ".")); f != nil {
		return ": write its parts as nested sections, " + strings.ReplaceAll(f.path, ".", ": ")
	}
	lower := strings.ToLower(strings.ReplaceAll(key, "-", "_"))
	if f := s.child(lower); f != nil {
		return ": write " + f.path
	}
	candidates := make([]string, 0, len(s.children))
	for _, c := range s.children {
		candidates = append(candidates, c.key)
	}
	if best := nearest(lower, candidates); best != "" {
		return ": did you mean " + join(s.path, best) + "?"
	}
	if f := elsewhere(root, lower); f != nil {
		return ": did you mean " + f.path + "?"
	}
	return ": known here are " + strings.Join(candidates, ", ")
}

// descend follows a path of keys.
func descend(f *field, keys []string) *field {
	for _, k := range keys {
		if f = f.child(k); f == nil {
			return nil
		}
	}
	return f
}

// elsewhere finds the first key or section of that name, in the order of the structs.
func elsewhere(s *field, key string) *field {
	for _, c := range s.children {
		if c.key == key {
			return c
		}
		if f := elsewhere(c, key); f != nil {
			return f
		}
	}
	return nil
}

// suggestVariable gives the end of a sentence that names the variable that was meant.
func suggestVariable(schema *field, name string) string {
	var candidates []string
	for _, f := range schema.leaves() {
		if strings.HasSuffix(f.env(), strings.TrimPrefix(name, "PENSTOCK")) {
			return ": did you mean " + f.env() + "?"
		}
		candidates = append(candidates, f.env())
	}
	if best := nearest(name, candidates); best != "" {
		return ": did you mean " + best + "?"
	}
	return ""
}

// nearest gives the candidate that takes the fewest changes to reach, "" if
// none takes few enough to be what was meant.
func nearest(word string, candidates []string) string {
	best, least := "", 1+len(strings.TrimPrefix(word, EnvPrefix))/4
	for _, c := range candidates {
		if d := distance(word, c); d <= least {
			best, least = c, d-1
		}
	}
	return best
}

// distance is the Levenshtein distance, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

package elasticsearch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNameBytes is the server's limit for an index name, in bytes.
const maxNameBytes = 255

// illegalInName are the characters that the server refuses in an index name
// (MetadataCreateIndexService.validateIndexOrAliasName of Elasticsearch), and
// braces, so that no name looks like a template.
const illegalInName = `\/*?"<>| ,#:{}`

// appendLegal appends the legal index name that is closest to src. The rules,
// in this order:
//
//   - letters become lower case;
//   - each of \ / * ? " < > | space , # : { } and each control character, white
//     space or byte that is not UTF-8 becomes _;
//   - a first character of - _ + becomes x, and so do the names . and ..;
//   - what is longer than 255 bytes is cut, and ends with - and 16 hexadecimal
//     digits of its SHA-256, so that names that differ later stay apart.
//
// Different sources may so share an index; ids keep their documents apart.
func appendLegal(dst, src []byte) []byte {
	start := len(dst)
	for i := 0; i < len(src); {
		c := src[i]
		if c < utf8.RuneSelf {
			dst = append(dst, legalASCII(c))
			i++
			continue
		}
		r, size := utf8.DecodeRune(src[i:])
		i += size
		if r == utf8.RuneError && size == 1 || unicode.IsSpace(r) || unicode.IsControl(r) {
			dst = append(dst, '_')
			continue
		}
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
	}
	name := dst[start:]
	switch string(name) {
	case ".":
		name[0] = 'x'
	case "..":
		name[0], name[1] = 'x', 'x'
	}
	if len(name) > 0 && strings.IndexByte("-_+", name[0]) >= 0 {
		name[0] = 'x'
	}
	if len(name) <= maxNameBytes {
		return dst
	}
	sum := sha256.Sum256(name)
	keep := maxNameBytes - 1 - 16
	for !utf8.RuneStart(name[keep]) {
		keep--
	}
	dst = append(dst[:start+keep], '-')
	return hex.AppendEncode(dst, sum[:8])
}

func legalASCII(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return c | 0x20
	case c < ' ' || c == 0x7f || strings.IndexByte(illegalInName, c) >= 0:
		return '_'
	}
	return c
}

// checkLiteral refuses text that could never be part of an index name, rather
// than alter what somebody wrote. first: the name begins with it.
func checkLiteral(s string, first bool) error {
	if first && strings.IndexByte("-_+", s[0]) >= 0 {
		return fmt.Errorf("%q: an index name must not begin with %q", s, s[0])
	}
	for _, r := range s {
		if r < utf8.RuneSelf && legalASCII(byte(r)) != byte(r) || r == utf8.RuneError || unicode.IsSpace(r) || unicode.IsControl(r) || unicode.ToLower(r) != r {
			return fmt.Errorf("%q: an index name cannot have %q: use lower-case letters, digits, and . - _", s, r)
		}
	}
	return nil
}

// checkName refuses what is no legal index name.
func checkName(s string) error {
	if strings.ContainsAny(s, "{}") {
		return fmt.Errorf("%q: placeholders are not possible here, for they may be what is missing: write a plain name", s)
	}
	if s == "" {
		return errors.New("is empty")
	}
	if err := checkLiteral(s, true); err != nil {
		return err
	}
	if s == "." || s == ".." || len(s) > maxNameBytes {
		return fmt.Errorf("%q is no index name: write one of at most %d bytes, other than . and .. alone", s, maxNameBytes)
	}
	return nil
}

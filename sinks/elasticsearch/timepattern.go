package elasticsearch

import (
	"fmt"
	"strings"

	"penstock/pipeline"
)

// timePattern writes a record's time as Java's date patterns do.
type timePattern struct {
	tokens []string // letters are fields, anything else stands for itself
	unit   int64    // seconds that share one result
}

const (
	secondsPerHour = 3600
	secondsPerDay  = 86400
)

// parseTimePattern reads yyyy, yy, MM, dd, HH, and xxxx with ww (ISO week).
func parseTimePattern(s string) (*timePattern, error) {
	p := &timePattern{unit: secondsPerDay}
	for rest := s; rest != ""; {
		n := 1
		for n < len(rest) && rest[n] == rest[0] && isLetter(rest[0]) {
			n++
		}
		token := rest[:n]
		rest = rest[n:]
		switch token {
		case "yyyy", "yy", "MM", "dd", "ww", "xxxx":
		case "HH":
			p.unit = secondsPerHour
		case "YYYY":
			return nil, fmt.Errorf("{time:%s}: YYYY is the week's year in Java and wrong around New Year: write yyyy, or xxxx with ww", s)
		default:
			if isLetter(token[0]) {
				return nil, fmt.Errorf("{time:%s}: %q is not known: write yyyy, yy, MM, dd, HH, or xxxx with ww for the ISO week", s, token)
			}
			if err := checkLiteral(token, false); err != nil {
				return nil, fmt.Errorf("{time:%s}: %w", s, err)
			}
		}
		p.tokens = append(p.tokens, token)
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return r < 0x80 && isLetter(byte(r)) }) {
		return nil, fmt.Errorf("{time:%s} has no field: write one such as {time:yyyy.MM.dd}", s)
	}
	return p, nil
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// append writes the record's timestamp in UTC; ok is false without a timestamp.
func (p *timePattern) append(dst []byte, r *pipeline.Record) (_ []byte, ok bool) {
	if r.Timestamp.IsZero() {
		return dst, false
	}
	t := r.Timestamp.UTC()
	year, month, day := t.Date()
	weekYear, week := t.ISOWeek()
	for _, token := range p.tokens {
		switch token {
		case "yyyy":
			dst = appendDigits(dst, year, 4)
		case "yy":
			dst = appendDigits(dst, year%100, 2)
		case "MM":
			dst = appendDigits(dst, int(month), 2)
		case "dd":
			dst = appendDigits(dst, day, 2)
		case "HH":
			dst = appendDigits(dst, t.Hour(), 2)
		case "xxxx":
			dst = appendDigits(dst, weekYear, 4)
		case "ww":
			dst = appendDigits(dst, week, 2)
		default:
			dst = append(dst, token...)
		}
	}
	return dst, true
}

// appendDigits writes v, which is not negative, with leading zeros.
func appendDigits(dst []byte, v, width int) []byte {
	for p := pow10(width - 1); p > 0; p /= 10 {
		dst = append(dst, byte('0'+v/p%10))
	}
	return dst
}

func pow10(n int) int {
	p := 1
	for range n {
		p *= 10
	}
	return p
}

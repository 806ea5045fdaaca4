package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// grouped writes a number with commas between its thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// size writes bytes in MiB, as precise as a glance needs.
func size(b int64) string {
	mib := float64(b) / (1 << 20)
	if mib < 10 {
		return fmt.Sprintf("%.1f MiB", mib)
	}
	return fmt.Sprintf("%.0f MiB", mib)
}

// clock writes the time since start as m:ss.
func clock(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// clean makes text of unknown origin (a server's words) safe for a terminal
// and for a line: no control characters, nothing that is not UTF-8.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, s)
}

// Clean is clean, for texts that are shown beside a view.
func Clean(s string) string { return clean(s) }

// cut shortens a line to a width in characters. It must hold no escape codes.
func cut(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	r := []rune(s)
	return string(r[:width-1]) + "…"
}

// bar draws a share between 0 and 1 in a width of characters.
func bar(share float64, width int) string {
	full := int(min(max(share, 0), 1)*float64(width) + 0.5)
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// spark draws the newest values of a history against a common top.
func spark(history []float64, top float64, width int) string {
	const levels = "▁▂▃▄▅▆▇█"
	steps := []rune(levels)
	if len(history) > width {
		history = history[len(history)-width:]
	}
	var b strings.Builder
	for _, v := range history {
		i := 0
		if top > 0 {
			i = int(min(max(v/top, 0), 1) * float64(len(steps)-1))
		}
		b.WriteRune(steps[i])
	}
	return b.String()
}

package view

import (
	"io"
	"strconv"
	"strings"
)

// Live redraws lines in place at a terminal.
type Live struct {
	w     io.Writer
	drawn int // lines that are on the screen from the last Draw
}

// NewLive hides the cursor; End shows it again.
func NewLive(w io.Writer) (*Live, error) {
	_, err := io.WriteString(w, "\x1b[?25l")
	return &Live{w: w}, err
}

// Draw replaces what it drew before. It writes once, so that nothing flickers.
func (l *Live) Draw(lines []string) error {
	var b strings.Builder
	if l.drawn > 0 {
		b.WriteString("\x1b[" + strconv.Itoa(l.drawn) + "A\r")
	}
	for _, s := range lines {
		b.WriteString(s + "\x1b[K\n") // clear the rest of a longer old line
	}
	b.WriteString("\x1b[J") // and older lines below
	l.drawn = len(lines)
	_, err := io.WriteString(l.w, b.String())
	return err
}

// End leaves the last drawing where it is and shows the cursor.
func (l *Live) End() error {
	l.drawn = 0
	_, err := io.WriteString(l.w, "\x1b[?25h")
	return err
}

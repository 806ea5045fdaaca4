package load

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// progress is a bar at a terminal, and nothing elsewhere: a log needs no bar.
type progress struct {
	out     io.Writer
	total   int64
	started time.Time
	next    time.Time // when to draw again
}

const barWidth = 40

func newProgress(out io.Writer, terminal bool, total int64) *progress {
	p := &progress{total: total, started: time.Now()}
	if terminal {
		p.out = out
	}
	return p
}

// show draws the bar, at most ten times a second. It is called per document,
// so it looks at the clock only now and then.
func (p *progress) show(done int64) {
	if p.out == nil || done%256 != 0 && done != p.total {
		return
	}
	now := time.Now()
	if now.Before(p.next) && done != p.total {
		return
	}
	p.next = now.Add(100 * time.Millisecond)
	fmt.Fprint(p.out, "\r"+bar(done, p.total, now.Sub(p.started)))
}

// end clears the bar away.
func (p *progress) end() {
	if p.out != nil {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// bar is the bar's text for a state.
func bar(done, total int64, elapsed time.Duration) string {
	full := int(done * barWidth / total)
	rate := 0.0
	if elapsed > 0 {
		rate = float64(done) / elapsed.Seconds()
	}
	return fmt.Sprintf("[%s%s] %3d %%  %.0f documents/s ", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), done*100/total, rate)
}

package demo

import (
	"os"

	"golang.org/x/term"
)

// WriteTo fills in what Options has to know of where it writes: f is a
// terminal if it can redraw in place and the environment does not say
// otherwise (TERM=dumb); colours are left out with NO_COLOR (no-color.org).
func (o *Options) WriteTo(f *os.File, getenv func(string) string) {
	fd := int(f.Fd())
	o.Out = f
	o.Terminal = term.IsTerminal(fd) && getenv("TERM") != "dumb"
	o.Colour = o.Terminal && getenv("NO_COLOR") == ""
	o.Size = func() (int, int) {
		width, height, err := term.GetSize(fd)
		if err != nil || width <= 0 || height <= 0 {
			return 80, 24
		}
		return width, height
	}
}

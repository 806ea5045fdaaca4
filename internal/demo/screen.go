package demo

import (
	"fmt"
	"io"
	"time"

	"penstock/internal/demo/view"
)

// screen shows frames in one of two ways.
type screen interface {
	every() time.Duration
	show(view.Frame) error
	end() error
}

func (e *embedded) screen() (screen, error) {
	if !e.opts.Terminal {
		s := &plainScreen{e: e, meter: view.Meter{Every: plainEvery / 2}}
		s.meter.Update(time.Since(e.began), 0, 0)
		return s, nil
	}
	live, err := view.NewLive(e.opts.Out)
	if err != nil {
		return nil, fmt.Errorf("writing to the terminal: %w", err)
	}
	s := &liveScreen{e: e, live: live, meter: view.Meter{Every: time.Second}}
	s.meter.Update(time.Since(e.began), 0, 0)
	return s, nil
}

func (e *embedded) rates(f *view.Frame, m *view.Meter) {
	f.In, f.Out, f.InHistory, f.OutHistory = m.Update(f.Elapsed, e.feed.Stats().Acknowledged, final(f.Snapshot))
}

// liveScreen redraws in place.
type liveScreen struct {
	e     *embedded
	live  *view.Live
	meter view.Meter
}

func (s *liveScreen) every() time.Duration { return liveEvery }

func (s *liveScreen) show(f view.Frame) error {
	s.e.rates(&f, &s.meter)
	width, height := s.e.opts.Size()
	// The last line of the terminal stays free for the cursor.
	return s.live.Draw(view.Render(f, view.Style{Width: width, Height: max(1, height-1), Colour: s.e.opts.Colour}))
}

func (s *liveScreen) end() error { return s.live.End() }

// plainScreen writes a line a second, and one for each event.
type plainScreen struct {
	e     *embedded
	meter view.Meter
}

func (s *plainScreen) every() time.Duration { return plainEvery }

func (s *plainScreen) show(f view.Frame) error {
	s.e.rates(&f, &s.meter)
	for _, ev := range s.e.events.take() {
		if _, err := fmt.Fprintf(s.e.opts.Out, "%d:%02d == %s\n", int(ev.At.Minutes()), int(ev.At.Seconds())%60, ev.Text); err != nil {
			return err
		}
	}
	_, err := io.WriteString(s.e.opts.Out, view.Line(f)+"\n")
	return err
}

func (s *plainScreen) end() error { return nil }

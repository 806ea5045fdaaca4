package demo

import (
	"sync"
	"time"

	"penstock/internal/demo/view"
)

// shownEvents is how many events a live view shows.
const shownEvents = 4

// events keeps what happened: the newest for a live view, and those that a
// plain view has yet to print.
type events struct {
	mu      sync.Mutex
	newest  []view.Event
	unseen  []view.Event // bounded by shownEvents too: they are taken every second
	current string
}

func (e *events) add(ev view.Event, current string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.current = current
	e.newest = last(append(e.newest, ev))
	e.unseen = last(append(e.unseen, ev))
}

func last(evs []view.Event) []view.Event { return evs[max(0, len(evs)-shownEvents):] }

func (e *events) fault(at time.Duration, what string) { e.add(view.Event{At: at, Text: what}, what) }

func (e *events) mended(at time.Duration, what string) { e.add(view.Event{At: at, Text: what}, "") }

// show gives the fault that lasts, and the newest events.
func (e *events) show() (fault string, newest []view.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.current, append([]view.Event(nil), e.newest...)
}

// take gives the events that were not taken before.
func (e *events) take() []view.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	evs := e.unseen
	e.unseen = nil
	return evs
}

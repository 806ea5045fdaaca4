package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"penstock/internal/demo/view"
)

// The rhythm of the views, and of deleting what was committed.
const (
	liveEvery  = 200 * time.Millisecond
	plainEvery = time.Second
	trimEvery  = time.Second
)

// errEnded is the error of a pipeline that ended before it was told to.
var errEnded = errors.New("the pipeline ended by itself")

// play feeds the pipeline and shows it until ctx or the duration ends, then
// waits until everything that was sent is final, or the grace period is over.
func (e *embedded) play(ctx context.Context) error {
	feedCtx, stopFeed := context.WithCancel(ctx)
	defer stopFeed()
	if e.opts.Duration > 0 {
		feedCtx, stopFeed = context.WithTimeout(ctx, e.opts.Duration)
		defer stopFeed()
	}
	var wg sync.WaitGroup
	if e.opts.Fail {
		wg.Go(func() { e.misbehave(feedCtx) })
	}
	fed := make(chan error, 1)
	wg.Go(func() { fed <- e.feed.Run(feedCtx) })
	defer wg.Wait()
	defer stopFeed()

	screen, err := e.screen()
	if err != nil {
		return err
	}
	err = e.watch(feedCtx, screen, fed)
	return errors.Join(err, screen.end())
}

// watch shows frames until all is done. fed has the feed's end.
func (e *embedded) watch(feedCtx context.Context, s screen, fed <-chan error) error {
	show := time.NewTicker(s.every())
	defer show.Stop()
	trim := time.NewTicker(trimEvery)
	defer trim.Stop()
	var grace <-chan time.Time
	ended := feedCtx.Done()
	complete := false // all that was sent is known
	for {
		select {
		case <-e.running.Done():
			return errEnded
		case <-ended:
			ended = nil
			t := time.NewTimer(e.opts.Grace)
			defer t.Stop()
			grace = t.C
		case err := <-fed:
			if err != nil {
				return err
			}
			complete = true
		case <-grace:
			return s.show(e.frame(true)) // the ledger tells what is left
		case <-trim.C:
			if err := e.broker.Trim(e.target.Group); err != nil {
				return err
			}
			continue
		case <-show.C:
			f := e.frame(ended == nil)
			if err := s.show(f); err != nil {
				return fmt.Errorf("writing the view: %w", err)
			}
			if complete && final(f.Snapshot) >= e.feed.Stats().Acknowledged {
				return nil
			}
		}
	}
}

// final is how many records need nothing more.
func final(s view.Snapshot) int64 {
	c := s.Ledger
	return c.Stored + c.Duplicate + c.DeadLettered + c.Skipped
}

// frame is what to show now, without rates, which belong to a screen.
func (e *embedded) frame(draining bool) view.Frame {
	f := view.Frame{Snapshot: e.running.Snapshot(), Elapsed: time.Since(e.began), Draining: draining}
	st := e.search.Stats()
	f.Documents, f.Searchable = st.Documents, st.Searchable
	f.Waiting = e.feed.Stats().Waiting
	f.Fault, f.Events = e.events.show()
	return f
}

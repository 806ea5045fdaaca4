package elasticsearch

import (
	"fmt"
	"math"
	"time"

	"go.uber.org/zap"

	"penstock/pipeline"
)

// The reason types of records that no index can be named for.
const (
	reasonMissing = "index_placeholder_missing"
	reasonWindow  = "timestamp_out_of_window"
	reasonMany    = "too_many_indices"
)

// router names the destination of each record. One goroutine uses it.
//
// A record of the same partition and the same day (or hour) as the one before
// costs two comparisons: names are cached by the address of the Origin.
type router struct {
	template *template
	fallback string
	oldest   time.Duration
	newest   time.Duration
	max      int
	now      func() time.Time
	log      *zap.Logger

	origins origins
	names   map[string]*destination
	// Idle destinations make room for new ones: a round lasts a minute or more.
	round uint32
	began time.Time

	raw, name []byte // scratch
}

// destination is an index that records went to lately.
type destination struct {
	name   string
	topic  string // of the record that named it first
	used   uint32 // the router's round when it was used last
	warned bool
}

const (
	roundEvery = time.Minute
	// idleRounds without a record make a destination forgotten.
	idleRounds = 3
	// year10000 is 10000-01-01 in Unix seconds.
	year10000 = 253402300800
)

func newRouter(c Config, t *template, log *zap.Logger) *router {
	return &router{
		template: t, fallback: c.FallbackIndex, oldest: c.Oldest, newest: c.Newest, max: c.MaxIndices,
		now: time.Now, log: log, names: make(map[string]*destination),
	}
}

// route gives the destination, or a *pipeline.DocumentError.
func (t *router) route(r *pipeline.Record) (string, error) {
	if (t.oldest > 0 || t.newest > 0) && !t.inWindow(r) {
		return t.refuse(reasonWindow, r, "")
	}
	o := t.origins.of(r.Origin)
	seconds := r.Timestamp.Unix()
	if o.dest != nil && o.from <= seconds && seconds < o.until {
		o.dest.used = t.round
		return o.dest.name, nil
	}
	// Years of more than four digits come from times in the wrong unit.
	if t.template.usesTime() && !r.Timestamp.IsZero() && (seconds < 0 || seconds >= year10000) {
		return t.refuse(reasonWindow, r, "")
	}
	var missing string
	if t.raw, missing = t.template.render(t.raw[:0], r); missing != "" {
		return t.refuse(reasonMissing, r, missing)
	}
	t.name = appendLegal(t.name[:0], t.raw)
	d := t.named(t.name, r.Topic)
	if d == nil {
		return t.refuse(reasonMany, r, "")
	}
	if !t.template.perRecord {
		o.dest, o.from, o.until = d, math.MinInt64, math.MaxInt64
		if unit := t.template.unit; unit > 0 {
			o.from = seconds - seconds%unit // not negative: checked above
			o.until = o.from + unit
		}
	}
	return d.name, nil
}

// named finds or adds the destination of that name; nil if there is no room.
func (t *router) named(name []byte, topic string) *destination {
	d := t.names[string(name)]
	if d == nil {
		if t.nextRound(); len(t.names) >= t.max {
			t.forgetIdle()
		}
		if len(t.names) >= t.max {
			return nil
		}
		d = &destination{name: string(name), topic: topic}
		t.names[d.name] = d
	}
	d.used = t.round
	if t.template.topic && d.topic != topic && !d.warned {
		d.warned = true
		t.log.Warn("two topics share one index: index names are lower case and take few characters; ids keep their documents apart",
			zap.String("index", d.name), zap.String("topic", topic), zap.String("other_topic", d.topic))
	}
	return d
}

// nextRound begins another round if the last one is old enough. New names are
// rare, so the clock is read rarely.
func (t *router) nextRound() {
	if now := t.now(); now.Sub(t.began) >= roundEvery {
		t.began = now
		t.round++
	}
}

// forgetIdle makes room. What an origin still caches of a forgotten destination
// stays valid; it is counted again on its next use.
func (t *router) forgetIdle() {
	for name, d := range t.names {
		if t.round-d.used > idleRounds {
			delete(t.names, name)
		}
	}
}

// inWindow tells whether the timestamp is where oldest and newest allow. A
// record without one is the template's business.
func (t *router) inWindow(r *pipeline.Record) bool {
	if r.Timestamp.IsZero() {
		return true
	}
	age := t.now().Sub(r.Timestamp)
	return (t.oldest == 0 || age <= t.oldest) && (t.newest == 0 || -age <= t.newest)
}

// refuse gives the fallback index or, without one, the reason why none was found.
func (t *router) refuse(kind string, r *pipeline.Record, missing string) (string, error) {
	if t.fallback != "" {
		return t.fallback, nil
	}
	var text string
	switch kind {
	case reasonMissing:
		text = fmt.Sprintf("the record has nothing for %s of index %q", missing, t.template.text)
	case reasonMany:
		text = fmt.Sprintf("index %q would be one more than max_indices (%d) allows", t.name, t.max)
	case reasonWindow:
		text = fmt.Sprintf("the record's timestamp %s is outside of what oldest (%s) and newest (%s) allow, or in the wrong unit",
			r.Timestamp.UTC().Format(time.RFC3339), t.oldest, t.newest)
	}
	text += "; fallback_index would store such records"
	return "", &pipeline.DocumentError{Reason: pipeline.Reason{Type: kind, Text: cut(text, pipeline.MaxReasonText)}}
}

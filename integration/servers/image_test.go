package servers

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moby/moby/api/types/jsonstream"
	"github.com/moby/moby/client"
)

// A pull gives up when nothing moves, and only then.
func TestPullIsBounded(t *testing.T) {
	refused := errors.New("no such host")
	for _, c := range []struct {
		name     string
		open     error
		progress []time.Duration // the pause before each message
		says     error
		want     string
		took     time.Duration
	}{
		{name: "refused at once", open: refused, want: "no such host"},
		{name: "a registry that never answers", progress: []time.Duration{time.Hour}, want: "does not answer", took: firstByte},
		{name: "slow, but it moves", progress: []time.Duration{19 * time.Second, 50 * time.Second, 50 * time.Second}, took: 119 * time.Second},
		{name: "stuck half-way", progress: []time.Duration{time.Second, time.Hour}, want: "does not answer", took: time.Second + stall},
		{name: "broken off", progress: []time.Duration{time.Second}, says: io.ErrUnexpectedEOF, want: "unexpected EOF", took: time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := pull(t.Context(), registry{open: c.open, pauses: c.progress, end: c.says}, "some/image:1")
				if took := time.Since(began); took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
			})
		})
	}
}

// registry is a Docker daemon that can only pull.
type registry struct {
	client.APIClient
	open   error
	pauses []time.Duration
	end    error
}

func (r registry) ImagePull(context.Context, string, client.ImagePullOptions) (client.ImagePullResponse, error) {
	if r.open != nil {
		return nil, r.open
	}
	return stream{registry: r}, nil
}

// stream is the daemon's report on a pull.
type stream struct {
	io.ReadCloser
	registry
}

func (stream) Close() error               { return nil }
func (stream) Wait(context.Context) error { return nil }

func (s stream) JSONMessages(ctx context.Context) iter.Seq2[jsonstream.Message, error] {
	return func(yield func(jsonstream.Message, error) bool) {
		for _, pause := range s.pauses {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				yield(jsonstream.Message{}, ctx.Err())
				return
			}
			if !yield(jsonstream.Message{Status: "Downloading"}, nil) {
				return
			}
		}
		if s.end != nil {
			yield(jsonstream.Message{}, s.end)
		}
	}
}

package demo

import (
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"penstock/internal/demo/search"
	"penstock/internal/demo/view"
	"penstock/pipeline"
)

// stall is how long the demo of a test lasts.
const stall = 1500 * time.Millisecond

func TestMain(m *testing.M) {
	// bleve starts four workers when it is loaded, and keeps them.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"))
}

func TestRunPlain(t *testing.T) {
	var out bytes.Buffer
	var p *toy
	err := Run(t.Context(), Options{
		Out: &out, Rate: 3000, Duration: stall, Seed: 1, Fail: true,
		Start: func(ctx context.Context, target Target) (_ Running, err error) {
			p, err = startToy(ctx, target)
			return p, err
		},
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	c := p.Snapshot().Ledger
	if c.Stored < 1000 || c.DeadLettered == 0 || c.InFlight != 0 || !c.Balanced() {
		t.Errorf("ledger %+v", c)
	}
	text := out.String()
	for _, want := range []string{
		"made up", "in=", "GET /_search?q=level:error AND service:payments", `"level":"error","service":"payments"`,
		"every record is accounted for", "Dead letters:", "reason                       refused", "penstock run -c penstock.yaml",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the output", want)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Error("there are escape codes in plain output")
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestRunAtATerminalUntilCancelled: Ctrl-C is no error, and drains.
func TestRunAtATerminalUntilCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	var p *toy
	err := Run(ctx, Options{
		Out: &out, Terminal: true, Rate: 2000,
		Start: func(pctx context.Context, target Target) (_ Running, err error) {
			p, err = startToy(pctx, target)
			time.AfterFunc(stall, cancel)
			return p, err
		},
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if c := p.Snapshot().Ledger; c.Stored < 100 || c.InFlight != 0 {
		t.Errorf("ledger %+v", c)
	}
	text := out.String()
	if !strings.Contains(text, "\x1b[?25l") || !strings.HasSuffix(text[:strings.LastIndex(text, "\x1b")+6], "\x1b[?25h") || !strings.Contains(text, "draining") {
		t.Errorf("the cursor is not shown again, or the end is not: %q", text)
	}
}

func TestALostRecordIsNoticed(t *testing.T) {
	var out bytes.Buffer
	err := Run(t.Context(), Options{
		Out: &out, Rate: 500, Duration: 500 * time.Millisecond, Grace: time.Second,
		Start: func(ctx context.Context, target Target) (Running, error) {
			p, err := startToy(ctx, target)
			if err == nil {
				p.count(func(*pipeline.Counts) { p.lose = 1 })
			}
			return p, err
		},
	})
	if !errors.Is(err, ErrUnaccounted) || !strings.Contains(out.String(), "DOES NOT BALANCE") {
		t.Errorf("error %v\n%s", err, &out)
	}
}

// ended is a pipeline that ends at once.
type ended struct{ done chan struct{} }

func (ended) Snapshot() view.Snapshot    { return view.Snapshot{} }
func (e ended) Done() <-chan struct{}    { return e.done }
func (ended) Stop(context.Context) error { return errBroken }

var errBroken = errors.New("no such broker")

func TestAPipelineThatEndsEndsTheDemo(t *testing.T) {
	e := ended{make(chan struct{})}
	close(e.done)
	err := Run(t.Context(), Options{Out: &bytes.Buffer{}, Start: func(context.Context, Target) (Running, error) { return e, nil }})
	if !errors.Is(err, errEnded) || !errors.Is(err, errBroken) {
		t.Errorf("error %v", err)
	}
	err = Run(t.Context(), Options{Out: &bytes.Buffer{}, Start: func(context.Context, Target) (Running, error) { return nil, errBroken }})
	if !errors.Is(err, errBroken) {
		t.Errorf("error %v", err)
	}
}

func TestOptionsThatCannotWork(t *testing.T) {
	ok := func(context.Context, Target) (Running, error) { return nil, errBroken }
	for _, o := range []Options{{}, {Out: &bytes.Buffer{}}, {Out: &bytes.Buffer{}, Start: ok, Rate: -1}, {Out: &bytes.Buffer{}, Start: ok, Duration: -1}} {
		if err := Run(t.Context(), o); err == nil || errors.Is(err, errBroken) {
			t.Errorf("%+v: error %v", o, err)
		}
	}
}

// TestScript plays all of the script, twice and a half, in no time: each step
// is announced, takes effect, and ends; and the end leaves the server well.
func TestScript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &embedded{search: search.New(search.Options{}), began: time.Now()}
		defer e.search.Close()
		var cycle time.Duration
		for _, s := range script {
			cycle += calm + s.lasts
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*cycle+calm+time.Second)
		defer cancel()
		over := make(chan struct{})
		go func() { e.misbehave(ctx); close(over) }()
		announced, refused := map[string]int{}, 0
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for running := true; running; {
			select {
			case <-over:
				running = false
			case <-tick.C:
				synctest.Wait()
				fault, _ := e.events.show()
				if fault != "" {
					announced[fault]++
				}
				w := httptest.NewRecorder()
				if strings.Contains(fault, "503") {
					e.search.ServeHTTP(w, httptest.NewRequest("HEAD", "/", nil))
					if w.Code == 503 {
						refused++
					}
				}
			}
		}
		if len(announced) != len(script) || refused < 8 {
			t.Errorf("%d of %d steps were announced, %d requests refused", len(announced), len(script), refused)
		}
		fault, newest := e.events.show()
		w := httptest.NewRecorder()
		e.search.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if fault != "" || w.Code != 200 || !strings.Contains(newest[len(newest)-1].Text, "well again") {
			t.Errorf("at the end: fault %q, status %d, %v", fault, w.Code, newest)
		}
	})
}

// TestAPipeIsNoTerminal: there are no escape codes, and a size is given all the same.
func TestAPipeIsNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	var o Options
	o.WriteTo(w, func(string) string { return "" })
	width, height := o.Size()
	if o.Terminal || o.Colour || o.Out != w || width != 80 || height != 24 {
		t.Errorf("%+v, %d x %d", o, width, height)
	}
}

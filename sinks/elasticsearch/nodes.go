package elasticsearch

import (
	"context"
	"io"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// probeTimeout is how long a node may take to answer a probe.
const probeTimeout = 5 * time.Second

// node is one address that requests go to.
type node struct {
	url  *url.URL // without userinfo; the path is a prefix without a final slash
	name string   // for people

	usable atomic.Bool

	mu       sync.Mutex
	failures int // connection errors and time-outs in a row
	probing  bool
}

// nodes leaves a node alone after a connection error or time-out, and probes it
// until it answers. The pauses double with each failure in a row; answers to
// real requests end the row, answers to probes do not, for a node that hangs in
// its bulk API may well answer those.
type nodes struct {
	all      []*node
	min, max time.Duration
	ping     func(context.Context, *node) error
	log      *zap.Logger

	ctx    context.Context // ends the probes
	cancel context.CancelFunc
	probes sync.WaitGroup
}

func newNodes(c Config, log *zap.Logger) (*nodes, error) {
	ns := &nodes{min: c.Eject.Min, max: c.Eject.Max, log: log}
	ns.ctx, ns.cancel = context.WithCancel(context.Background())
	for _, u := range c.URLs {
		p, err := u.parse()
		if err != nil {
			return nil, err
		}
		p.User = nil
		n := &node{url: p, name: p.String()}
		n.usable.Store(true)
		ns.all = append(ns.all, n)
	}
	return ns, nil
}

// answered notes that the node answered a request, whatever it said.
func (ns *nodes) answered(n *node) {
	n.mu.Lock()
	n.failures = 0
	back := !n.usable.Swap(true)
	n.mu.Unlock()
	if back {
		ns.log.Info("node answers again", zap.String("node", n.name))
	}
}

// failed notes a connection error or time-out, and takes the node out of use.
func (ns *nodes) failed(n *node, cause error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.usable.Swap(false) {
		return // requests that were under way when it was ejected tell nothing new
	}
	n.failures++
	if n.probing || ns.ctx.Err() != nil {
		return
	}
	n.probing = true
	pause := ns.pause(n.failures)
	ns.log.Warn("node cannot be reached, leaving it alone", zap.String("node", n.name), zap.Duration("pause", pause), zap.Error(cause))
	ns.probes.Go(func() { ns.probe(n, pause) })
}

// pause is how long a node is left alone after so many failures in a row.
func (ns *nodes) pause(failures int) time.Duration {
	p := ns.min
	for i := 1; i < failures && p < ns.max; i++ {
		p *= 2
	}
	return min(p, ns.max)
}

// probe waits, asks, and waits longer, until the node answers.
func (ns *nodes) probe(n *node, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ns.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(ns.ctx, probeTimeout)
		err := ns.ping(ctx, n)
		cancel()
		if err == nil {
			n.mu.Lock()
			n.probing = false
			back := !n.usable.Swap(true)
			n.mu.Unlock()
			if back {
				ns.log.Info("node answers again", zap.String("node", n.name))
			}
			return
		}
		pause = min(2*pause, ns.max)
		ns.log.Debug("node still cannot be reached", zap.String("node", n.name), zap.Duration("pause", pause), zap.Error(err))
		timer.Reset(pause)
	}
}

// close ends the probes and waits for them.
func (ns *nodes) close() {
	ns.cancel()
	ns.probes.Wait()
}

// drain reads the rest of a small answer, so that its connection can be used
// again, and closes it.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, maxErrorBytes)
	_ = body.Close()
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"penstock/pipeline"
)

// member is one service, run as the command run does.
type member struct {
	world   *world
	name    string
	service *service
	logs    *observer.ObservedLogs
	kafka   *wire // its connections to Kafka
	search  *wire // its connections to the search server, if it has a front

	stopping context.CancelFunc
	done     chan struct{}
	err      error // of run, once done
	killed   bool
}

// start runs a service under the configuration, changed as given.
func (w *world) start(name string, changes ...func(*Config)) *member {
	w.Helper()
	m, err := w.tryStart(name, changes...)
	if err != nil {
		w.Fatal(err)
	}
	return m
}

func (w *world) tryStart(name string, changes ...func(*Config)) (*member, error) {
	w.Helper()
	c := w.config(name)
	for _, change := range changes {
		change(&c)
	}
	for _, v := range []interface{ Validate() error }{c, c.Source.Kafka, c.Sink.Elasticsearch, c.DeadLetter, c.Documents, c.Batch, c.Memory, c.Delivery, c.Delivery.Backoff, c.Delivery.Concurrency} {
		if err := v.Validate(); err != nil {
			return nil, err
		}
	}
	core, observed := observer.New(zapcore.InfoLevel)
	m := &member{world: w, name: name, logs: observed, kafka: newWire(), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	m.stopping = cancel
	var err error
	// Heartbeats tell of rebalances. The setting that they follow from is long, so
	// that a busy machine ends no session.
	beat := kgo.HeartbeatInterval(300 * time.Millisecond)
	if m.service, err = newService(ctx, c, zap.New(core), kgo.Dialer(m.kafka.dial), beat); err != nil {
		cancel()
		return nil, err
	}
	// The limit is of the whole process, which here is the brokers too.
	debug.SetMemoryLimit(math.MaxInt64)
	w.members = append(w.members, m)
	go func() {
		defer close(m.done)
		m.err = m.service.run(ctx)
		m.service.close()
	}()
	return m, nil
}

// stop does what SIGTERM does, and gives what run returned.
func (m *member) stop() error {
	m.world.Helper()
	m.stopping()
	return m.wait()
}

// wait waits until run has returned.
func (m *member) wait() error {
	m.world.Helper()
	select {
	case <-m.done:
	case <-time.After(patience):
		m.world.describe()
		m.world.Fatalf("%s does not stop", m.name)
	}
	return m.err
}

// kill ends a member as SIGKILL does: from one moment on, nothing that it does
// is seen from outside. Its remains are waited for.
func (m *member) kill() {
	m.killed = true
	m.kafka.cut()
	if m.search != nil {
		m.search.cut()
	}
	m.stopping()
	_ = m.wait()
}

// reap ends the sessions of killed members, as a broker does by itself. The one
// in these tests forgets to for members that died while they were joining.
func (w *world) reap() {
	g := w.kafka.GroupInfo(group)
	if g == nil {
		return
	}
	for _, m := range w.members {
		for _, seen := range g.Members {
			if !m.killed || seen.ClientID != m.name {
				continue
			}
			leave := kmsg.NewPtrLeaveGroupRequest()
			leave.Group, leave.MemberID = group, seen.MemberID
			leave.Members = []kmsg.LeaveGroupRequestMember{{MemberID: seen.MemberID}}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			_, _ = leave.RequestWith(ctx, w.client)
			cancel()
		}
	}
}

// abandon ends what is left of the members when a test ends early.
func (w *world) abandon() {
	for _, m := range w.members {
		m.stopping()
		m.kafka.cut()
		w.search.CloseClientConnections()
		<-m.done
	}
}

// describe logs what the members are at.
func (w *world) describe() {
	w.Helper()
	for _, m := range w.members {
		w.Logf("%s: %+v", m.name, m.status())
		for _, e := range m.logs.All() {
			w.Logf("%s: %s %s %s %v", m.name, e.Time.Format("05.000"), e.Level, e.Message, e.ContextMap())
		}
	}
	w.Logf("%d requests; documents %v; group %+v", len(w.search.Requests()), w.search.Indices(), w.kafka.GroupInfo(group))
}

func (m *member) status() pipeline.Status { return m.service.pipeline.Status() }

// states gives the state of each partition.
func (m *member) states() map[int32]pipeline.State {
	states := map[int32]pipeline.State{}
	for _, p := range m.status().Partitions {
		states[p.Partition] = p.State
	}
	return states
}

// awaitState waits until a partition is in a state.
func (m *member) awaitState(partition int32, state pipeline.State) {
	m.world.Helper()
	m.world.eventually(fmt.Sprintf("%s has partition %d %s", m.name, partition, state), func() bool { return m.states()[partition] == state })
}

// owns tells how many partitions the member has.
func (m *member) owns() int { return len(m.status().Partitions) }

// get asks the member's HTTP port.
func (m *member) get(path string) (code int, body string) {
	m.world.Helper()
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + m.service.http.Addr() + path)
	if err != nil {
		m.world.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		m.world.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// metric gives a line of /metrics: the value as written.
func (m *member) metric(series string) string {
	m.world.Helper()
	_, body := m.get("/metrics")
	for line := range strings.Lines(body) {
		if v, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// wire is a way out of the process that can be cut.
type wire struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
	isCut bool
}

func newWire() *wire { return &wire{conns: map[net.Conn]bool{}} }

var errCut = errors.New("the wire is cut")

func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return c, w.add(c)
}

// add makes c one of the connections that cut closes.
func (w *wire) add(c net.Conn) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isCut {
		c.Close()
		return errCut
	}
	w.conns[c] = true
	return nil
}

// cut closes all connections, and lets none be made.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = true
	for c := range w.conns {
		c.Close()
	}
}

// mend lets connections be made again.
func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut, w.conns = false, map[net.Conn]bool{}
}

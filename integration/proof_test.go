package integration

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"penstock/integration/servers"
)

// The proof's size. PENSTOCK_IT_RECORDS sets another number of records: a laptop
// in a hurry does with 20000, of which every check is made just the same.
const (
	proofRecords    = 200_000
	recordsVariable = "PENSTOCK_IT_RECORDS"
	leastRecords    = 20_000 // of fewer, nothing would be in flight when a fault comes
)

const (
	proofPartitions = 12
	proofDocuments  = 500 // of one request at most
)

// Nothing is lost and nothing is stored twice, whatever is killed or restarted
// while the log lines flow: two members of one group write from one broker to
// one search server. One member is killed, the search server and the broker are
// restarted, then each member is restarted in good order. Each fault comes at a
// point of the work, and only after the one before has been caught up with.
func TestProof(t *testing.T) {
	var table figures
	for _, kind := range servers.SearchKinds {
		t.Run(string(kind), func(t *testing.T) {
			// The dear part first: without the search server there is nothing to do.
			s := newSearch(t, kind, servers.SearchOptions{})
			p := newProof(t, s, newBroker(t, servers.KafkaOptions{}))
			p.run()
			table.add(p)
		})
	}
	table.print(t)
}

// proof is one run.
type proof struct {
	t        *testing.T
	search   *search
	broker   *broker
	records  int
	began    time.Time
	took     time.Duration
	lines    *producer
	config   config
	members  [2]*process
	all      []*process // those that have ended, too
	killed   map[*process]bool
	rows     []row
	letters  int // dead letters, copies included
	distinct int // source places in them
}

// The names in a proof.
const (
	proofTopic = "lines"
	proofGroup = proofTopic + "-group"
	proofIndex = proofTopic
	proofDead  = proofTopic + "-dead"
)

func newProof(t *testing.T, s *search, b *broker) *proof {
	t.Helper()
	p := &proof{t: t, search: s, broker: b, records: proofRecords, killed: map[*process]bool{}}
	if text := os.Getenv(recordsVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < leastRecords {
			t.Fatalf("%s: %q must be a number of records, at least %d", recordsVariable, text, leastRecords)
		}
		p.records = n
	}
	s.must(http.MethodPut, "/"+proofIndex, mapping, nil)
	b.create(proofPartitions, proofTopic)
	b.create(3, proofDead)
	p.config = configFor(b.Brokers(), proofTopic, s.URL()).with(config{
		"batch.documents":          proofDocuments,
		"delivery.concurrency.max": 4,
		// Longer than the broker is away, or each restart would cost the members
		// their partitions, and shorter than the patience after a kill.
		"source.kafka.session_timeout": "20s",
	})
	return p
}

func (p *proof) run() {
	p.began = time.Now()
	p.lines = newProducer(p.t, p.broker, newLogLines(proofTopic, proofPartitions, p.began), p.records)
	for i := range p.members {
		p.join(i)
	}
	p.faults()
	p.lines.allow(p.records)
	p.lines.wait()
	p.broker.awaitLag0(5*time.Minute, proofGroup, proofTopic)
	for i := range p.members {
		p.leave(i)
	}
	p.took = time.Since(p.began)
	p.check()
}

// join starts a member and waits until it has partitions.
func (p *proof) join(i int) {
	p.t.Helper()
	name := fmt.Sprintf("member %d.%d", i+1, len(p.all))
	m := running(p.t, name, p.config)
	p.members[i] = m
	p.all = append(p.all, m)
	eventually(p.t, name+" to have partitions", func() error {
		s, err := m.status()
		if err == nil && len(s.Partitions) == 0 {
			err = fmt.Errorf("it has none")
		}
		return err
	})
}

// leave ends a member by SIGTERM.
func (p *proof) leave(i int) {
	p.t.Helper()
	m := p.members[i]
	if _, err := m.readMetrics(); err != nil {
		p.t.Fatal(err)
	}
	l := m.stop()
	if l.InFlight != 0 {
		p.t.Errorf("%s: %d records are still in flight in its ledger", m.name, l.InFlight)
	}
}

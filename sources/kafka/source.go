package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/zap"

	"penstock/pipeline"
)

// Options are what a source is made of besides its Config.
type Options struct {
	// Partitions is told what is assigned and revoked: the pipeline.
	Partitions pipeline.Partitions
	// FetchBudget bounds fetched records that were not polled, in bytes after decompression.
	FetchBudget int64
	// BatchLimit bounds one compressed batch after decompression, in bytes.
	BatchLimit int64
	// RevokeTimeout bounds how long a revoke waits for what is in flight.
	RevokeTimeout time.Duration
	// Exclude are topics that a pattern must not match: the dead letters.
	Exclude []string
	// Version is Penstock's, for the brokers' logs.
	Version  string
	Logger   *zap.Logger
	Registry prometheus.Registerer
	// Client has extra options for the Kafka client, for tests.
	Client []kgo.Opt
}

// Source is one member of a consumer group.
type Source struct {
	config     Config
	options    Options
	partitions pipeline.Partitions
	client     *kgo.Client
	admin      *kadm.Client
	log        *zap.Logger
	limited    *zap.Logger
	metrics    *metrics
	sizer      *fetchSizer
	start      startPolicy
	stop       stopPolicy

	commits commitLock
	closing atomic.Bool

	mu      sync.Mutex
	owned   map[partition]*owned
	joined  bool                // a group session has begun
	session bool                // and none of its errors has come since
	stops   map[partition]int64 // decided once for the life of the process
	asked   time.Time           // when groupDone was last asked
	// existing are the topics that there were when the process started; nil if
	// that is not known yet, or of no interest.
	existing map[string]bool

	// Of the polling goroutine alone.
	errors    int                // polls in a row that gave errors and no records
	groupEnds kadm.ListedOffsets // where the group is done, once asked for

	// made is closed when New is through: the client joins the group, and calls
	// back, before New has so much as its address.
	made        chan struct{}
	abort       context.CancelFunc // ends all that the client waits for
	refreshStop context.CancelFunc
	refreshed   chan struct{}
}

type partition struct {
	topic  string
	number int32
}

// owned is a partition that this member has now.
type owned struct {
	assignment *pipeline.Assignment
	position   int64 // next offset to be handed to the pipeline
	committed  int64 // last offset known to be committed, -1 for none
	stop       int64 // offset to end at, or noStop
	faulty     bool  // an error was reported and no records came since
	gone       bool  // the topic, as it was assigned, does not exist any more
}

// New makes a source and starts its client; it works while no broker can be
// reached, and says so through Partitions.Hold.
func New(c Config, o Options) (*Source, error) {
	start, err := newStartPolicy(c.Start)
	if err != nil {
		return nil, err
	}
	stop, err := newStopPolicy(c.Stop)
	if err != nil {
		return nil, err
	}
	s := &Source{
		config: c, options: o, partitions: o.Partitions,
		log: o.Logger, limited: limited(o.Logger),
		metrics: newMetrics(o.Registry), start: start, stop: stop,
		owned: map[partition]*owned{}, stops: map[partition]int64{}, commits: newCommitLock(),
		made: make(chan struct{}), refreshed: make(chan struct{}),
	}
	if start.latest {
		s.log.Warn("source.kafka.start is latest: should the group's offsets expire while no member runs (the brokers' offsets.retention.minutes), what was written meanwhile is skipped; earliest skips nothing")
	}
	s.sizer = newFetchSizer(o.FetchBudget, int64(c.FetchMaxBytes))
	clientCtx, abort := context.WithCancel(context.Background())
	s.abort = abort
	s.client, err = kgo.NewClient(append(s.clientOptions(), kgo.WithContext(clientCtx))...)
	if err != nil {
		abort()
		return nil, fmt.Errorf("making Kafka client: %w", err)
	}
	s.admin = kadm.NewClient(s.client)
	close(s.made)
	ctx, cancel := context.WithCancel(context.Background())
	s.refreshStop = cancel
	go func() {
		defer close(s.refreshed)
		s.refreshLoop(ctx)
	}()
	return s, nil
}

func (s *Source) clientOptions() []kgo.Opt {
	c := s.config
	fetch, perPartition := s.sizer.current()
	isolation := kgo.ReadCommitted()
	if c.IsolationLevel == ReadUncommitted {
		isolation = kgo.ReadUncommitted()
	}
	opts := []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...),
		kgo.ClientID(c.ClientID),
		kgo.SoftwareNameAndVersion("penstock", softwareVersion(s.options.Version)),
		kgo.ConsumerGroup(c.Group),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.DisableAutoCommit(),
		// A chunk must be bound to the assignment under which it was fetched.
		kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(s.onAssigned),
		kgo.OnPartitionsRevoked(s.onRevoked),
		kgo.OnPartitionsLost(s.onLost),
		kgo.AdjustFetchOffsetsFn(s.adjust),
		// Both, since the reset default changed and would set the start too. The
		// reset is only for loss that the broker cannot locate: read all again.
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(isolation),
		// Transaction markers have offsets; without them the end is never reached.
		kgo.KeepControlRecords(),
		kgo.FetchMaxBytes(fetch),
		kgo.FetchMaxPartitionBytes(perPartition),
		kgo.MaxConcurrentFetches(concurrentFetches),
		kgo.MaxDecompressBatchBytes(int(s.options.BatchLimit)),
		kgo.FetchMaxWait(c.FetchMaxWait),
		kgo.SessionTimeout(c.SessionTimeout),
		kgo.HeartbeatInterval(min(3*time.Second, c.SessionTimeout/3)),
		kgo.RebalanceTimeout(c.RebalanceTimeout),
		kgo.MetadataMaxAge(c.MetadataMaxAge),
		kgo.MetadataMinAge(min(250*time.Millisecond, c.MetadataMaxAge)),
		// A restarting broker behind a proxy, a load balancer or a Service takes
		// connections and closes them. The client's default is to believe that TLS
		// is missing and to give up, which costs the session and all that is in flight.
		kgo.AlwaysRetryEOF(),
		kgo.WithLogger(clientLog{s.limited.Named("client")}),
		kgo.WithHooks(s),
	}
	if c.TopicPattern != "" {
		opts = append(opts, kgo.ConsumeRegex(), kgo.ConsumeTopics("^(?:"+c.TopicPattern+")$"))
		for _, topic := range s.options.Exclude {
			opts = append(opts, kgo.ConsumeExcludeTopics("^"+quoteTopic(topic)+"$"))
		}
	} else {
		opts = append(opts, kgo.ConsumeTopics(c.Topics...))
	}
	if c.InstanceID != "" {
		opts = append(opts, kgo.InstanceID(c.InstanceID))
	}
	return append(opts, s.options.Client...)
}

// Poll implements pipeline.Source.
func (s *Source) Poll(ctx context.Context) ([]pipeline.Chunk, error) {
	if s.done(ctx) {
		return nil, pipeline.ErrDone
	}
	fetches := s.client.PollFetches(ctx)
	var chunks []pipeline.Chunk
	faults := 0
	s.mu.Lock()
	var finished []partition
	for _, f := range fetches {
		for _, t := range f.Topics {
			for i := range t.Partitions {
				c, fault, end := s.bindLocked(t.Topic, &t.Partitions[i])
				if fault {
					faults++
				}
				if c != nil {
					chunks = append(chunks, *c)
				}
				if end {
					finished = append(finished, partition{t.Topic, t.Partitions[i].Partition})
				}
			}
		}
	}
	s.mu.Unlock()
	if finished != nil {
		s.client.PauseFetchPartitions(byTopic(finished))
	}
	// The chunks carry their assignments: from here on, losing a partition only
	// makes its chunks worthless.
	s.client.AllowRebalance()
	if len(chunks) > 0 {
		s.errors = 0
		s.sizer.update(s.client)
		return chunks, nil
	}
	if faults > 0 {
		// An error that comes back at once must not become a busy loop.
		s.errors++
		s.rest(ctx, min(time.Second, 50*time.Millisecond<<min(s.errors, 5)))
	}
	if fetches.IsClientClosed() {
		return nil, errors.New("the Kafka client was closed")
	}
	return nil, nil
}

// bindLocked makes a chunk of what was fetched of one partition.
func (s *Source) bindLocked(topic string, p *kgo.FetchPartition) (c *pipeline.Chunk, fault, end bool) {
	o := s.owned[partition{topic, p.Partition}]
	if p.Err != nil && !errors.Is(p.Err, context.DeadlineExceeded) && !errors.Is(p.Err, context.Canceled) {
		fault = true
		s.fault(topic, p.Partition, o, p.Err)
	}
	if o == nil {
		return nil, fault, false
	}
	s.seen(o, p)
	if len(p.Records) == 0 {
		return nil, fault, false
	}
	if o.faulty {
		o.faulty = false
		o.assignment.SetHold(nil)
	}
	of := p.Records
	if o.stop != noStop {
		for len(of) > 0 && of[len(of)-1].Offset >= o.stop {
			of = of[:len(of)-1]
		}
		end = len(of) < len(p.Records)
	}
	if end {
		o.position = o.stop
	} else {
		o.position = of[len(of)-1].Offset + 1
		end = o.stop != noStop && o.position >= o.stop
	}
	if len(of) == 0 {
		return nil, fault, end
	}
	made := chunk(o.assignment, of)
	return &made, fault, end
}

// seen notes the partition's end for the lag.
func (s *Source) seen(o *owned, p *kgo.FetchPartition) {
	end := p.HighWatermark
	if s.config.IsolationLevel == ReadCommitted && p.LastStableOffset >= 0 {
		end = p.LastStableOffset
	}
	if end >= 0 && len(p.Records) > 0 {
		o.assignment.SetHighWatermark(end)
	}
}

func (s *Source) rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Pause implements pipeline.Source.
func (s *Source) Pause(as []*pipeline.Assignment) {
	s.client.PauseFetchPartitions(byTopic(places(as)))
}

// Resume implements pipeline.Source.
func (s *Source) Resume(as []*pipeline.Assignment) {
	s.mu.Lock()
	var resume []partition
	for _, place := range places(as) {
		if o := s.owned[place]; o != nil && (o.stop == noStop || o.position < o.stop) {
			resume = append(resume, place)
		}
	}
	s.mu.Unlock()
	s.client.ResumeFetchPartitions(byTopic(resume))
}

func places(as []*pipeline.Assignment) []partition {
	all := make([]partition, len(as))
	for i, a := range as {
		all[i] = partition{a.Origin().Topic, a.Origin().Partition}
	}
	return all
}

func byTopic(all []partition) map[string][]int32 {
	m := map[string][]int32{}
	for _, p := range all {
		m[p.topic] = append(m[p.topic], p.number)
	}
	return m
}

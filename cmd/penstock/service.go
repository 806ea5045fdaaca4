package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/zap"

	"penstock/internal/status"
	"penstock/pipeline"
	"penstock/sinks/deadletter"
	"penstock/sinks/elasticsearch"
	"penstock/sources/kafka"
)

// service is one running ingester: a source, a pipeline, a sink, dead letters
// and the HTTP port, as the configuration says.
type service struct {
	config   Config
	log      *zap.Logger
	registry *prometheus.Registry
	sink     pipeline.Sink
	letters  pipeline.DeadLetters
	pipeline *pipeline.Pipeline
	http     *status.Server
	client   []kgo.Opt // for the Kafka clients
}

// newService makes all parts but the source, which begins to work when it is
// made. What it made it closes again if it fails. Tests give options for the
// Kafka clients, such as a dialer whose connections they can cut.
func newService(ctx context.Context, c Config, log *zap.Logger, client ...kgo.Opt) (_ *service, err error) {
	s := &service{config: c, log: log, registry: newRegistry(), client: client}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	sink, err := elasticsearch.New(c.Sink.Elasticsearch, elasticsearch.Options{Version: buildVersion(), Logger: log.Named("elasticsearch")})
	if err != nil {
		return nil, &exitError{exitUsage, fmt.Errorf("sink.elasticsearch: %w", err)}
	}
	s.sink = sink // only now: a nil *Sink in the interface would be closed
	if err = s.openLetters(ctx); err != nil {
		return nil, err
	}
	s.pipeline = pipeline.New(pipeline.Options{
		Config: pipeline.Config{Decode: c.Decode, Documents: c.Documents, Batch: c.Batch, Memory: c.Memory, Delivery: c.Delivery},
		Sink:   s.sink, Letters: s.letters, Logger: log.Named("pipeline"), Registry: s.registry,
	})
	pipeline.SetMemoryLimit(s.pipeline.MemoryLimit())
	if c.HTTP.Listen != "" {
		s.http, err = status.Start(c.HTTP, status.Options{Pipeline: s.pipeline, Gatherer: s.registry, Version: buildVersion(), Started: time.Now()})
		if err != nil {
			return nil, err
		}
		log.Info("serving /livez, /readyz, /status and /metrics", zap.String("address", s.http.Addr()))
	}
	return s, nil
}

func newRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "penstock", Name: "build_info", Help: "1, with the version of this build."}, []string{"version"})
	build.WithLabelValues(buildVersion()).Set(1)
	r.MustRegister(build)
	return r
}

// lettersCheck bounds the look for the dead-letter topic at start.
const lettersCheck = 10 * time.Second

// openLetters makes the dead letters, if there is a topic for them. A topic
// that is known to be missing stops the start: the first bad record would hold
// everything. Brokers that cannot be reached do not: the source waits for them too.
func (s *service) openLetters(ctx context.Context) error {
	if s.config.DeadLetter.Topic == "" {
		s.log.Warn("dead_letter.topic is not set: a record that cannot be stored will hold its partition")
		return nil
	}
	topic, err := deadletter.New(s.config.DeadLetter, deadletter.Options{Brokers: s.config.Source.Kafka.Brokers, ClientID: s.config.Source.Kafka.ClientID, Client: s.client})
	if err != nil {
		return fmt.Errorf("dead_letter: %w", err)
	}
	s.letters = topic
	ctx, cancel := context.WithTimeout(ctx, lettersCheck)
	defer cancel()
	switch err := topic.Check(ctx); {
	case errors.Is(err, deadletter.ErrMissing):
		return &exitError{exitUsage, err}
	case err != nil && ctx.Err() == nil:
		s.log.Warn("the dead-letter topic could not be checked", zap.Error(err))
	case err != nil:
		s.log.Warn("the dead-letter topic could not be checked: no broker answered in time", zap.Strings("brokers", s.config.Source.Kafka.Brokers))
	}
	return nil
}

// run reads Kafka until ctx ends or the source's configured end.
func (s *service) run(ctx context.Context) error {
	source, err := kafka.New(s.config.Source.Kafka, kafka.Options{
		Partitions:    s.pipeline,
		FetchBudget:   s.pipeline.FetchBudget(),
		BatchLimit:    s.pipeline.MemoryLimit(),
		RevokeTimeout: s.config.Delivery.RevokeTimeout,
		Exclude:       s.excluded(),
		Version:       buildVersion(),
		Logger:        s.log.Named("kafka"),
		Registry:      s.registry,
		Client:        s.client,
	})
	if err != nil {
		return fmt.Errorf("source.kafka: %w", err)
	}
	err = s.pipeline.Run(ctx, source)
	if errors.Is(err, pipeline.ErrUnfinished) || errors.Is(err, pipeline.ErrUncommitted) {
		return &exitError{exitUndone, err}
	}
	return err
}

func (s *service) excluded() []string {
	if s.config.DeadLetter.Topic == "" {
		return nil
	}
	return []string{s.config.DeadLetter.Topic}
}

// close releases what newService made.
func (s *service) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if s.letters != nil {
		_ = s.letters.Close(ctx)
	}
	if s.sink != nil {
		_ = s.sink.Close(ctx)
	}
	if s.http != nil {
		_ = s.http.Close(ctx)
	}
}

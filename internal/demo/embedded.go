package demo

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/internal/demo/broker"
	"penstock/internal/demo/generator"
	"penstock/internal/demo/search"
)

// services that the made-up logs come from.
var services = []generator.Service{
	{Name: "web", Topic: "logs-web", Weight: 3},
	{Name: "payments", Topic: "logs-payments", Weight: 1},
}

// indexBody is how the indices are made beforehand: a text in latency_ms is
// then refused from the first record on.
const indexBody = `{"settings":{"number_of_shards":1,"number_of_replicas":0},"mappings":{"properties":{
"@timestamp":{"type":"date"},"level":{"type":"keyword"},"service":{"type":"keyword"},"host":{"type":"keyword"},"trace":{"type":"keyword"},
"route":{"type":"keyword"},"status":{"type":"long"},"latency_ms":{"type":"long"},"message":{"type":"text"}}}}`

// embedded is everything that a demo runs in this process.
type embedded struct {
	opts    Options
	broker  *broker.Broker
	search  *search.Server
	http    *http.Server
	served  chan struct{}
	client  *kgo.Client
	web     *http.Client
	feed    *generator.Feed
	target  Target
	running Running
	began   time.Time
	events  events
}

// start starts everything but the pipeline.
func start(o Options) (_ *embedded, err error) {
	e := &embedded{opts: o, began: time.Now(), served: make(chan struct{})}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	topics := []broker.Topic{{Name: deadLetter, Partitions: 1, Retain: 16 << 20}}
	e.target = Target{Group: group, Index: "{topic}", DeadLetterTopic: deadLetter}
	for _, s := range services {
		topics = append(topics, broker.Topic{Name: s.Topic, Partitions: partitions})
		e.target.Topics = append(e.target.Topics, s.Topic)
	}
	if e.broker, err = broker.Start(topics); err != nil {
		return nil, err
	}
	e.target.Brokers = e.broker.Addrs()
	if err := e.serve(); err != nil {
		return nil, err
	}
	e.client, err = kgo.NewClient(
		kgo.SeedBrokers(e.target.Brokers...),
		kgo.ClientID("penstock-demo-generator"),
		kgo.ProducerLinger(20*time.Millisecond),
	)
	if err != nil {
		return nil, fmt.Errorf("connecting to the embedded Kafka: %w", err)
	}
	share := 0.0
	if o.Fail {
		share = badShare
	}
	e.feed = &generator.Feed{
		Generator: generator.New(generator.Options{Seed: o.Seed, Services: services, BadShare: share}),
		Client:    e.client, Rate: o.Rate,
		Hold: func() bool { return e.feed.Stats().Acknowledged-final(e.running.Snapshot()) > maxBacklog },
	}
	return e, nil
}

// serve listens on a free port of 127.0.0.1 and makes the indices.
func (e *embedded) serve() error {
	e.search = search.New(search.Options{Keep: searchable})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening for the embedded search server: %w", err)
	}
	e.http = &http.Server{
		Handler: e.search, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: log.New(io.Discard, "", 0), // it would write into the view
	}
	go func() {
		defer close(e.served)
		_ = e.http.Serve(l) // ends with close
	}()
	e.target.SearchURL = "http://" + l.Addr().String()
	e.web = &http.Client{Transport: &http.Transport{}, Timeout: 30 * time.Second}
	for _, s := range services {
		req, err := http.NewRequest(http.MethodPut, e.target.SearchURL+"/"+s.Topic, strings.NewReader(indexBody))
		if err != nil {
			return fmt.Errorf("creating index %s: %w", s.Topic, err)
		}
		req.Header.Set("Content-Type", "application/json")
		if err := e.fetch(req, nil); err != nil {
			return fmt.Errorf("creating index %s: %w", s.Topic, err)
		}
	}
	return nil
}

// close ends everything that start began, in any state.
func (e *embedded) close() {
	if e.client != nil {
		e.client.Close()
	}
	if e.http != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		e.web.CloseIdleConnections()
		if e.http.Shutdown(ctx) != nil { // a client still holds a connection
			_ = e.http.Close()
		}
		<-e.served
	}
	if e.search != nil {
		e.search.Close()
	}
	if e.broker != nil {
		e.broker.Close()
	}
}

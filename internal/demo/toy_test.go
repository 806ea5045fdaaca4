package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/internal/demo/view"
	"penstock/pipeline"
)

// toy is the simplest pipeline that the demo can be run with: one request at a
// time, sent again until every document has its verdict.
type toy struct {
	client *kgo.Client
	web    *http.Client
	target Target
	cancel context.CancelFunc
	done   chan struct{}
	err    error

	mu     sync.Mutex
	ledger pipeline.Counts
	// lose makes the toy forget records, to see that it is noticed.
	lose int64
}

func startToy(ctx context.Context, t Target) (*toy, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(t.Brokers...), kgo.ConsumerGroup(t.Group), kgo.ConsumeTopics(t.Topics...),
		kgo.DisableAutoCommit(), kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &toy{client: client, web: &http.Client{Transport: &http.Transport{}}, target: t, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = p.run(ctx)
	}()
	return p, nil
}

func (p *toy) Snapshot() view.Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return view.Snapshot{Ledger: p.ledger, Retries: -1}
}

func (p *toy) Done() <-chan struct{} { return p.done }

func (p *toy) Stop(context.Context) error {
	p.cancel()
	<-p.done
	p.client.Close()
	p.web.CloseIdleConnections()
	return p.err
}

func (p *toy) count(f func(*pipeline.Counts)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.ledger)
}

func (p *toy) run(ctx context.Context) error {
	for {
		records := p.client.PollRecords(ctx, 1000).Records()
		if ctx.Err() != nil {
			return nil
		}
		p.count(func(c *pipeline.Counts) { c.Fetched += int64(len(records)); c.InFlight += int64(len(records)) })
		for len(records) > 0 {
			left, err := p.send(ctx, records)
			if ctx.Err() != nil {
				return nil
			}
			if err == nil {
				records = left
			}
		}
		if err := p.client.CommitUncommittedOffsets(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// send gives the records that have no final verdict yet.
func (p *toy) send(ctx context.Context, records []*kgo.Record) ([]*kgo.Record, error) {
	var body bytes.Buffer
	for _, r := range records {
		fmt.Fprintf(&body, `{"create":{"_index":%q,"_id":"%s-%d-%d"}}`+"\n%s\n", r.Topic, r.Topic, r.Partition, r.Offset, bytes.ReplaceAll(r.Value, []byte("\n"), []byte("\t")))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.target.SearchURL+"/_bulk?filter_path=items.*.status", &body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	resp, err := p.web.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var reply struct {
		Items []map[string]struct{ Status int }
	}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
		return nil, err
	}
	if len(reply.Items) != len(records) {
		return nil, errors.New("not one item for each document")
	}
	var left, dead []*kgo.Record
	var stored, duplicates int64
	for i, item := range reply.Items {
		switch item["create"].Status {
		case 201:
			stored++
		case 409:
			duplicates++
		case 400:
			dead = append(dead, &kgo.Record{Topic: p.target.DeadLetterTopic, Value: records[i].Value, Headers: []kgo.RecordHeader{{Key: "reason", Value: []byte("refused")}}})
		default:
			left = append(left, records[i])
		}
	}
	if err := p.client.ProduceSync(ctx, dead...).FirstErr(); err != nil {
		return nil, err
	}
	p.count(func(c *pipeline.Counts) {
		c.Stored += stored - p.lose
		c.Duplicate += duplicates
		c.DeadLettered += int64(len(dead))
		c.InFlight -= stored + duplicates + int64(len(dead))
	})
	return left, nil
}

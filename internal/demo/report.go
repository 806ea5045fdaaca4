package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"penstock/internal/demo/view"
)

// banner says what this is, before anything is seen of it.
func (e *embedded) banner() {
	e.print("Penstock demo. Everything here is embedded in this process, in memory, and made up:")
	e.print("  log stream   made up, %d records/s in topics %s (seed %d)", e.opts.Rate, strings.Join(e.target.Topics, " and "), e.opts.Seed)
	e.print("  Kafka        kfake on %s", strings.Join(e.target.Brokers, ","))
	e.print("  search       bleve behind an Elasticsearch API on %s", e.target.SearchURL)
	e.print("               (the newest %d documents can be searched, older ones are only counted)", searchable)
	e.print("Between them runs the same pipeline as in `penstock run`.")
	if e.opts.Fail {
		e.print("With --fail the search server misbehaves on a schedule, and %.1f %% of the records are bad.", badShare*100)
	}
	e.print("")
}

// print writes a line. Where a person is to see it and cannot, nothing is lost.
func (e *embedded) print(format string, args ...any) {
	_, _ = fmt.Fprintf(e.opts.Out, format+"\n", args...)
}

const query = "level:error AND service:payments"

// report shows what was done, from the index and the ledger, and whether they
// agree with what was sent.
func (e *embedded) report(ctx context.Context) error {
	ledger := e.running.Snapshot().Ledger
	var count struct {
		Count int64 `json:"count"`
	}
	if err := e.get(ctx, "/_count", nil, &count); err != nil {
		return fmt.Errorf("counting the documents: %w", err)
	}
	e.print("")
	if err := e.showHits(ctx); err != nil {
		return err
	}
	if n := e.broker.End(deadLetter); n > 0 {
		e.print("")
		e.print("Dead letters: %d records in topic %s, each with its reason in its headers, such as", n, deadLetter)
		e.showDeadLetter(ctx)
	}
	e.print("")
	e.print("The ledger, in records:")
	for _, l := range view.LedgerTable(ledger) {
		e.print("%s", l)
	}
	sent := e.feed.Stats()
	e.print("")
	e.print("  sent to Kafka      %d", sent.Acknowledged)
	e.print("  in the index       %d (stored %d + found there already %d)", count.Count, ledger.Stored, ledger.Duplicate)
	e.print("")
	for _, l := range strings.Split(strings.TrimSpace(realServers), "\n") {
		e.print("%s", l)
	}
	switch left := sent.Acknowledged - (ledger.Fetched - ledger.InFlight); {
	case !ledger.Balanced():
		return fmt.Errorf("%w: the ledger does not balance", ErrUnaccounted)
	case left > 0:
		return fmt.Errorf("%w: %d records were still to be stored after %s; they would be on the next start, but the embedded Kafka ends here", ErrUnaccounted, left, e.opts.Grace)
	case count.Count != ledger.Stored+ledger.Duplicate:
		return fmt.Errorf("%w: %d documents are in the index, the ledger says %d", ErrUnaccounted, count.Count, ledger.Stored+ledger.Duplicate)
	}
	return nil
}

func (e *embedded) get(ctx context.Context, path string, params url.Values, v any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.target.SearchURL+path+"?"+params.Encode(), nil)
	if err != nil {
		return err
	}
	return e.fetch(req, v)
}

// showHits asks the search server a question.
func (e *embedded) showHits(ctx context.Context) error {
	params := url.Values{"q": {query}, "sort": {"@timestamp:desc"}, "size": {"3"}}
	var answer struct {
		Hits struct {
			Total struct {
				Value int64 `json:"value"`
			} `json:"total"`
			Hits []struct {
				Source json.RawMessage `json:"_source"`
			} `json:"hits"`
		} `json:"hits"`
	}
	began := time.Now()
	if err := e.get(ctx, "/_search", params, &answer); err != nil {
		return fmt.Errorf("searching: %w", err)
	}
	e.print("GET /_search?q=%s", query)
	e.print("  %d documents in %s, the newest:", answer.Hits.Total.Value, time.Since(began).Round(time.Millisecond))
	for _, h := range answer.Hits.Hits {
		e.print("  %s", view.Clean(string(h.Source)))
	}
	return nil
}

// deadLetterWait is how long is waited for one to be read back.
const deadLetterWait = 3 * time.Second

// showDeadLetter reads one back. It is a courtesy: a failure only says so.
func (e *embedded) showDeadLetter(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, deadLetterWait)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(e.target.Brokers...), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{deadLetter: {0: kgo.NewOffset().AtStart()}}))
	if err != nil {
		e.print("  (could not be read back: %v)", err)
		return
	}
	defer client.Close()
	fetches := client.PollRecords(ctx, 1)
	records := fetches.Records()
	if len(records) == 0 {
		e.print("  (could not be read back: %v)", fetches.Err())
		return
	}
	for _, h := range records[0].Headers {
		e.print("  %-28s %s", view.Clean(h.Key), shorten(view.Clean(string(h.Value))))
	}
	e.print("  %-28s %s", "(value)", shorten(view.Clean(string(records[0].Value))))
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 120 {
		return string(r[:119]) + "…"
	}
	return s
}

// realServers is how to leave the demo.
const realServers = `
To move your own logs, write penstock.yaml:

  source:
    kafka:
      brokers: [kafka-1:9092]
      topics: [logs]
      group: penstock
  sink:
    elasticsearch:
      urls: ["https://search-1:9200"]
      username: penstock
      password: ${SEARCH_PASSWORD}
      index: "logs-{topic}"
  dead_letter:
    topic: logs-dead

and start it:

  penstock validate -c penstock.yaml
  penstock run -c penstock.yaml
`

package main

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"penstock/pipeline"
	"penstock/sinks/elasticsearch"
	"penstock/sinks/elasticsearch/estest"
)

// A hold that lasts makes the service unready, with its reason, and never dead;
// when it is over, it is ready again.
func TestHoldIsSeenFromOutside(t *testing.T) {
	w := newWorld(t, 1)
	var up atomic.Bool
	w.search.Hook(func(*estest.Request) *estest.Reply {
		if up.Load() {
			return nil
		}
		return estest.Failure(401, "security_exception", "unable to authenticate user")
	})
	m := w.start("a")
	code, _ := m.get("/readyz")
	w.same("ready at first", code, 200)
	w.send(0, docs(3)...)
	w.eventually("it is unready", func() bool {
		code, body := m.get("/readyz")
		return code == 503 && strings.Contains(body, "logs/0 held:auth") && strings.Contains(body, "check username and password")
	})
	code, _ = m.get("/livez")
	w.same("live", code, 200)
	var page struct {
		Ready      bool     `json:"ready"`
		Unready    []string `json:"unready"`
		Partitions []struct {
			State     string          `json:"state"`
			Reason    string          `json:"reason"`
			Held      float64         `json:"held_seconds"`
			Lag       int64           `json:"lag_records"`
			Ledger    pipeline.Counts `json:"ledger"`
			LastError string          `json:"last_error"`
		} `json:"partitions"`
	}
	_, body := m.get("/status")
	if err := json.Unmarshal([]byte(body), &page); err != nil {
		t.Fatal(err)
	}
	if page.Ready || len(page.Unready) != 1 || len(page.Partitions) != 1 {
		t.Fatalf("/status: %s", body)
	}
	p := page.Partitions[0]
	if p.State != "held:auth" || p.Reason == "" || p.Held < 1 || p.Lag != 3 || p.Ledger.InFlight != 3 || p.LastError == "" {
		t.Errorf("/status: %s", body)
	}
	w.same("metric", m.metric(`penstock_partition_state{partition="0",state="held:auth",topic="logs"}`), "1")
	up.Store(true)
	w.eventually("it is ready again", func() bool {
		code, _ := m.get("/readyz")
		return code == 200 && m.states()[0] == pipeline.StateFetching
	})
	w.finish()
}

// A hold that hits some records only, while others of the partition are stored,
// is a hold of the partition all the same: its watermark stands still.
func TestHoldOfOneDocumentIsSeen(t *testing.T) {
	w := newWorld(t, 1)
	var up atomic.Bool
	w.search.Hook(func(*estest.Request) *estest.Reply {
		return &estest.Reply{Item: func(_ int, d estest.Doc) estest.Item {
			if !up.Load() && strings.Contains(d.Source, "low") {
				return estest.Item{Status: 503, Type: "unavailable"}
			}
			return estest.Item{}
		}}
	})
	w.send(0, `{"low":0}`)
	m := w.start("a")
	w.eventually("it is unready", func() bool {
		w.send(0, `{"n":0}`) // the flow goes on
		code, body := m.get("/readyz")
		return code == 503 && strings.Contains(body, "held:sink")
	})
	up.Store(true)
	w.eventually("it is ready again", func() bool {
		code, _ := m.get("/readyz")
		return code == 200
	})
	w.finish()
}

// A topic without new records changes nothing, however long.
func TestQuietTopicStaysReady(t *testing.T) {
	w := newWorld(t, 1)
	w.send(0, docs(3)...)
	m := w.start("a")
	w.awaitEnd()
	began := time.Now()
	w.eventually("some time has passed", func() bool {
		for _, path := range []string{"/readyz", "/livez"} {
			if code, body := m.get(path); code != 200 {
				t.Fatalf("%s: %s", path, body)
			}
		}
		return time.Since(began) > 2500*time.Millisecond // unready_after is one second
	})
	w.same("state", m.states()[0], pipeline.StateFetching)
	w.finish()
}

// What cannot start says why.
func TestFailedStartSaysWhy(t *testing.T) {
	w := newWorld(t, 1)
	for want, change := range map[string]func(*Config){
		"ca: cannot be used": func(c *Config) {
			c.Sink.Elasticsearch.URLs = elasticsearch.NewURLs("https://127.0.0.1:1")
			c.Sink.Elasticsearch.CA = "/does/not/exist.pem"
		},
		"http.listen": func(c *Config) { c.HTTP.Listen = strings.TrimPrefix(w.search.URL, "http://") },
	} {
		if _, err := w.tryStart("a", change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}

// Kafka cannot be reached: the partitions are held by their source.
func TestLostBrokerIsSeen(t *testing.T) {
	w := newWorld(t, 1)
	w.send(0, docs(3)...)
	m := w.start("a")
	w.awaitEnd()
	m.kafka.cut()
	w.eventually("it is unready", func() bool {
		code, body := m.get("/readyz")
		return code == 503 && strings.Contains(body, "held:source")
	})
	m.kafka.mend()
	w.send(0, docs(3)...)
	w.eventually("it is ready again", func() bool {
		code, _ := m.get("/readyz")
		return code == 200
	})
	w.finish()
}

package integration

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"

	"penstock/pipeline"
)

// held checks what an index that takes nothing leads to: its partition is held,
// seen to be so, and not committed, while its neighbour's goes on. When the
// index takes documents again, they are stored. Nothing goes to the dead letters.
func (c *court) held(block, lift func(index string)) {
	c.t.Helper()
	blocked, free := c.topic+"-0", c.topic+"-1"
	c.search.must(http.MethodPut, "/"+free, `{}`, nil)
	block(blocked)
	p := running(c.t, "ingester", c.config().with(config{"sink.elasticsearch.index": "{topic}-{partition}", "delivery.unready_after": "2s"}))
	before, after := documents("before", 60), documents("after", 60)
	c.values(0, before...)
	c.values(1, before...)
	if q := p.awaitState(pipeline.StateHeldIndex); q.Partition != 0 {
		c.t.Errorf("partition %d is held, want 0: %+v", q.Partition, q)
	}
	c.values(0, after...)
	c.values(1, after...)
	eventually(c.t, "the other partition to go on", func() error {
		got, err := c.committed(c.group, c.topic)
		if err == nil && got[1] != 120 {
			err = fmt.Errorf("committed: %v", got)
		}
		return err
	})
	eventually(c.t, "the ingester to be unready", func() error {
		if ok, reasons := p.ready(); ok || !strings.Contains(reasons, "held:index") || !strings.Contains(reasons, blocked) {
			return fmt.Errorf("ready: %v, %s", ok, reasons)
		}
		return nil
	})
	if got, err := c.committed(c.group, c.topic); err != nil || got[0] != 0 {
		c.t.Errorf("committed %v (%v) of what is not stored", got, err)
	}
	lift(blocked)
	c.lag0()
	eventually(c.t, "the ingester to be ready", func() error {
		if ok, reasons := p.ready(); !ok {
			return errors.New(reasons)
		}
		return nil
	})
	p.stop()
	all := append(before, after...)
	c.mustContain(blocked, all...)
	c.mustContain(free, all...)
	c.mustLetters(nil)
}

func documents(text string, n int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = fmt.Appendf(nil, `{"message":%q,"n":%d}`, text, i)
	}
	return all
}

// setting changes one setting of an index.
func (c *court) setting(name, value string) func(index string) {
	return func(index string) {
		c.search.must(http.MethodPut, "/"+index+"/_settings", fmt.Sprintf(`{%q:%s}`, name, value), nil)
	}
}

// A full disk makes the server forbid writes.
func testReadOnly(c *court) {
	c.held(func(index string) {
		c.search.must(http.MethodPut, "/"+index, `{}`, nil)
		c.setting("index.blocks.read_only_allow_delete", "true")(index)
	}, c.setting("index.blocks.read_only_allow_delete", "null"))
}

func testWriteBlock(c *court) {
	c.held(func(index string) {
		c.search.must(http.MethodPut, "/"+index, `{}`, nil)
		c.setting("index.blocks.write", "true")(index)
	}, c.setting("index.blocks.write", "null"))
}

func testClosed(c *court) {
	c.held(func(index string) {
		c.search.must(http.MethodPut, "/"+index, `{}`, nil)
		c.search.must(http.MethodPost, "/"+index+"/_close", "", nil)
	}, func(index string) { c.search.must(http.MethodPost, "/"+index+"/_open", "", nil) })
}

// An index that is missing where the server makes none by itself.
func testMissing(c *court) {
	auto := func(value string) {
		c.search.must(http.MethodPut, "/_cluster/settings", `{"persistent":{"action.auto_create_index":`+value+`}}`, nil)
	}
	c.held(func(string) { auto(`"false"`) }, func(index string) {
		// The index first: once the server makes indices by itself, the ingester's
		// next try is enough.
		c.search.must(http.MethodPut, "/"+index, `{}`, nil)
		auto("null")
	})
}

// When an index refuses every document alike, it is the index that is wrong: the
// documents are held, and stored when it is mended (here by pointing the alias
// that they are written to at another index).
func testSystematic(c *court) {
	c.search.must(http.MethodPut, "/"+c.topic+"-wrong", fmt.Sprintf(`{"mappings":{"properties":{"message":{"type":"long"}}},"aliases":{%q:{}}}`, c.topic), nil)
	c.search.must(http.MethodPut, "/"+c.topic+"-right", `{"mappings":{"properties":{"message":{"type":"text"}}}}`, nil)
	p := running(c.t, "ingester", c.config().with(config{"delivery.shutdown_grace": "2s"}))
	values := documents("text", 200)
	c.values(0, values...)
	p.awaitState(pipeline.StateHeldSystematic)
	if got, err := c.committed(c.group, c.topic); err != nil || got[0] != 0 {
		c.t.Errorf("committed %v (%v) of what is not stored", got, err)
	}
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 3 {
		c.t.Errorf("SIGTERM during the hold: exit code %d, want 3", code)
	}
	c.mustLetters(nil)

	p = running(c.t, "ingester again", c.config())
	p.awaitState(pipeline.StateHeldSystematic)
	c.search.must(http.MethodPost, "/_aliases", fmt.Sprintf(`{"actions":[{"remove":{"index":"%[1]s-wrong","alias":%[1]q}},{"add":{"index":"%[1]s-right","alias":%[1]q}}]}`, c.topic), nil)
	c.lag0()
	p.stop()
	c.mustContain(c.topic+"-right", values...)
	c.mustContain(c.topic + "-wrong")
	c.mustLetters(nil)
}

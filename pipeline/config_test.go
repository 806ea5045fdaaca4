package pipeline

import (
	"strings"
	"testing"
	"time"
)

type validator interface{ Validate() error }

func TestConfigValidate(t *testing.T) {
	batch := func(f func(*BatchConfig)) validator { c := DefaultBatchConfig(); f(&c); return c }
	delivery := func(f func(*DeliveryConfig)) validator { c := DefaultDeliveryConfig(); f(&c); return c }
	documents := func(f func(*DocumentsConfig)) validator { c := DefaultDocumentsConfig(); f(&c); return c }
	for _, c := range []struct {
		key    string // "" if the configuration is good
		config validator
	}{
		{"", DefaultBatchConfig()},
		{"", DefaultMemoryConfig()},
		{"", DefaultDeliveryConfig()},
		{"", DefaultDeliveryConfig().Concurrency},
		{"", DefaultDeliveryConfig().Backoff},
		{"", DefaultDocumentsConfig()},
		{"", batch(func(c *BatchConfig) { c.Documents = 0 })},
		{"bytes", batch(func(c *BatchConfig) { c.Bytes = 0 })},
		{"bytes", batch(func(c *BatchConfig) { c.Bytes = 2 << 30 })},
		{"documents", batch(func(c *BatchConfig) { c.Documents = -1 })},
		{"age", batch(func(c *BatchConfig) { c.Age = 0 })},
		{"limit", MemoryConfig{Limit: 1}},
		{"fixed", ConcurrencyConfig{Fixed: -1, Max: 1}},
		{"max", ConcurrencyConfig{}},
		{"min", BackoffConfig{Max: time.Second}},
		{"max", BackoffConfig{Min: time.Second, Max: time.Millisecond}},
		{"commit_interval", delivery(func(c *DeliveryConfig) { c.CommitInterval = 0 })},
		{"shutdown_grace", delivery(func(c *DeliveryConfig) { c.ShutdownGrace = 0 })},
		{"revoke_timeout", delivery(func(c *DeliveryConfig) { c.RevokeTimeout = 5 * time.Second })},
		{"unready_after", delivery(func(c *DeliveryConfig) { c.UnreadyAfter = 0 })},
		{"systematic_from", delivery(func(c *DeliveryConfig) { c.SystematicFrom = 1 })},
		{"check", documents(func(c *DocumentsConfig) { c.Check = "x" })},
		{"invalid_utf8", documents(func(c *DocumentsConfig) { c.InvalidUTF8 = "x" })},
		{"tombstones", documents(func(c *DocumentsConfig) { c.Tombstones = "delete" })},
		{"blank", documents(func(c *DocumentsConfig) { c.Blank = "" })},
	} {
		err := c.config.Validate()
		if c.key == "" && err != nil || c.key != "" && (err == nil || !strings.HasPrefix(err.Error(), c.key+":")) {
			t.Errorf("%T %+v gives %v, want a problem with %q", c.config, c.config, err, c.key)
		}
	}
}

package elasticsearch

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"penstock/configs/value"
)

func TestDefaultConfigNeedsOnlyURLs(t *testing.T) {
	c := DefaultConfig()
	var problem *value.Problem
	if err := c.Validate(); !errors.As(err, &problem) || problem.Key != "urls" || strings.Contains(err.Error(), "\n") {
		t.Errorf("without urls: %v", err)
	}
	c.URLs = NewURLs("http://127.0.0.1:9200")
	if err := c.Validate(); err != nil {
		t.Errorf("with urls: %v", err)
	}
}

func TestValidateNamesKeyAndRemedy(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Config)
		key    string
		remedy string
	}{
		"no scheme":           {func(c *Config) { c.URLs = NewURLs("es:9200") }, "urls[0]", "http:// or https://"},
		"no host":             {func(c *Config) { c.URLs = NewURLs("http:///x") }, "urls[0]", "host"},
		"query":               {func(c *Config) { c.URLs = NewURLs("http://es/?a=b") }, "urls[0]", "?"},
		"second bad":          {func(c *Config) { c.URLs = NewURLs("http://es", "ftp://es") }, "urls[1]", "http://"},
		"zstd":                {func(c *Config) { c.Compression = "zstd" }, "compression", "gzip or none"},
		"unknown compression": {func(c *Config) { c.Compression = "brotli" }, "compression", "gzip or none"},
		"level":               {func(c *Config) { c.CompressionLevel = 0 }, "compression_level", "1 (fast)"},
		"op":                  {func(c *Config) { c.Op = "upsert" }, "op", "create or index"},
		"index":               {func(c *Config) { c.Index = "app-{tenant}" }, "index", "{field:tenant}"},
		"fallback":            {func(c *Config) { c.FallbackIndex = "Late" }, "fallback_index", "lower-case"},
		"fallback template":   {func(c *Config) { c.FallbackIndex = "late-{topic}" }, "fallback_index", "plain name"},
		"oldest without time": {func(c *Config) { c.Oldest = time.Hour }, "oldest", "{time:"},
		"negative newest":     {func(c *Config) { c.Newest = -1 }, "newest", "0s"},
		"max_indices":         {func(c *Config) { c.MaxIndices = 0 }, "max_indices", "500"},
		"request_timeout":     {func(c *Config) { c.RequestTimeout = 0 }, "request_timeout", "60s"},
		"max_response":        {func(c *Config) { c.MaxResponse = 1 }, "max_response", "64KiB"},
		"eject":               {func(c *Config) { c.Eject.Max = c.Eject.Min / 2 }, "eject.max", "eject.min"},
		"key and user":        {func(c *Config) { c.Username, c.Password, c.APIKey = "u", value.NewSecret("p"), value.NewSecret("k") }, "api_key", "remove one"},
		"user alone":          {func(c *Config) { c.Username = "u" }, "password", "required"},
		"password alone":      {func(c *Config) { c.Password = value.NewSecret("p") }, "username", "required"},
		"line feed":           {func(c *Config) { c.APIKey = value.NewSecret("abc\n") }, "password", "line feed"},
		"two users":           {func(c *Config) { c.URLs = NewURLs("http://a:b@es", "http://a:c@es2") }, "urls", "once"},
		"ca over http":        {func(c *Config) { c.CA = "ca.pem" }, "urls", "https://"},
		"ca and skip": {func(c *Config) {
			c.URLs, c.CA, c.InsecureSkipVerify = NewURLs("https://es"), "ca.pem", true
		}, "insecure_skip_verify", "remove one"},
		"shards unused": {func(c *Config) { c.CreateIndex.Shards = 3 }, "create_index.enabled", "true"},
		"replicas":      {func(c *Config) { c.CreateIndex = CreateIndexConfig{Enabled: true, Replicas: -2} }, "create_index.replicas", "-1"},
		"refresh":       {func(c *Config) { c.CreateIndex = CreateIndexConfig{Enabled: true, RefreshInterval: "5"} }, "create_index.refresh_interval", "30s"},
	} {
		t.Run(name, func(t *testing.T) {
			c := DefaultConfig()
			c.URLs = NewURLs("http://127.0.0.1:9200")
			test.change(&c)
			err := c.Validate()
			var problem *value.Problem
			if !errors.As(err, &problem) || problem.Key != test.key || !strings.Contains(problem.Message, test.remedy) {
				t.Errorf("got %v, want key %s and a remedy with %q", err, test.key, test.remedy)
			}
		})
	}
}

func TestValidateReportsAllAtOnce(t *testing.T) {
	c := DefaultConfig()
	c.Op, c.MaxIndices, c.Compression = "x", 0, "zstd"
	if got := strings.Count(c.Validate().Error(), "\n"); got != 3 {
		t.Errorf("%d line feeds, want 3 for urls, op, max_indices and compression", got)
	}
}

func TestURLPrintsNoUserinfo(t *testing.T) {
	for _, raw := range []string{
		"https://user:s3cr%2Ft@es:9200/prefix", "https://user:s3cr/t@es:9200", "user:s3cr@es", "https://user:s3cr@t@es", "https://user:s3cr?x@es",
		"http://user:s3cr%zz@es",
	} {
		u := NewURL(raw)
		text, _ := json.Marshal([]URL{u})
		all := fmt.Sprintf("%v %+v %#v %s %q %s", u, u, u, u, u, text)
		c := DefaultConfig()
		c.URLs = []URL{u}
		all += fmt.Sprintf("%+v %v", c, c.Validate())
		if strings.Contains(all, "s3cr") || strings.Contains(all, "user:") {
			t.Errorf("%s is printed as %s", raw, all)
		}
	}
	if got := NewURL("https://es:9200/a").String(); got != "https://es:9200/a" {
		t.Errorf("got %s", got)
	}
}

func TestCredentials(t *testing.T) {
	for name, test := range map[string]struct {
		config Config
		want   string
	}{
		"none":           {Config{URLs: NewURLs("http://es")}, ""},
		"basic":          {Config{Username: "u", Password: value.NewSecret("p")}, "Basic dTpw"},
		"decoded once":   {Config{URLs: NewURLs("http://u:a%252Fb%2F@es")}, "Basic dTphJTJGYi8="}, // u:a%2Fb/
		"same twice":     {Config{URLs: NewURLs("http://u:p@a", "http://u:p@b", "http://c")}, "Basic dTpw"},
		"encoded key":    {Config{APIKey: value.NewSecret("aWQ6a2V5")}, "ApiKey aWQ6a2V5"},
		"key with colon": {Config{APIKey: value.NewSecret("id:key")}, "ApiKey aWQ6a2V5"},
	} {
		if got, err := test.config.credentials(); err != nil || got != test.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, test.want)
		}
	}
}

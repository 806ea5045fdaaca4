package elasticsearch

import (
	"fmt"
	"strconv"
	"time"

	"penstock/configs/value"
)

// Config is everything that can be set about the sink.
type Config struct {
	URLs               []URL             `yaml:"urls" doc:"Addresses of the nodes, such as https://es-1:9200. A path is kept as a prefix; user:password@ counts as username and password."`
	Username           string            `yaml:"username" doc:"User for basic authentication."`
	Password           value.Secret      `yaml:"password" doc:"Password for basic authentication."`
	APIKey             value.Secret      `yaml:"api_key" doc:"API key, as id:key or in its base64 form; instead of username and password."`
	CA                 string            `yaml:"ca" doc:"Path of a PEM file with the certificate authorities to trust instead of the system's."`
	InsecureSkipVerify bool              `yaml:"insecure_skip_verify" doc:"Accept any certificate. Whoever sits between can then read and forge everything."`
	Compression        string            `yaml:"compression" doc:"Compression of request bodies: none or gzip."`
	CompressionLevel   int               `yaml:"compression_level" unit:"level" doc:"gzip level from 1 (fast) to 9 (small)."`
	Op                 string            `yaml:"op" doc:"Bulk action: create never overwrites and suits data streams; index overwrites a document of the same id."`
	Index              string            `yaml:"index" doc:"Index, alias or data stream of a record: text with {topic}, {partition}, {header:name}, {field:path}, {time:yyyy.MM.dd} (UTC, the record's timestamp). A field costs a look into every document."`
	FallbackIndex      string            `yaml:"fallback_index" doc:"Index for records that index cannot be worked out for, that are outside oldest and newest, or beyond max_indices. Without one they go to the dead letters."`
	Oldest             time.Duration     `yaml:"oldest" doc:"Records older than this go to fallback_index; 0s for no limit. Needs {time:...} in index."`
	Newest             time.Duration     `yaml:"newest" doc:"Records whose timestamp is further ahead than this go to fallback_index; 0s for no limit. Needs {time:...} in index."`
	MaxIndices         int               `yaml:"max_indices" unit:"indices" doc:"Most indices written to at about the same time; records for further ones go to fallback_index."`
	RequestTimeout     time.Duration     `yaml:"request_timeout" doc:"Longest that one request may take, reading its answer included."`
	MaxResponse        value.Bytes       `yaml:"max_response" doc:"Most bytes read of one answer; a longer one proves nothing, and the request is sent again."`
	Eject              EjectConfig       `yaml:"eject" doc:"How long a node that cannot be reached is left alone."`
	CreateIndex        CreateIndexConfig `yaml:"create_index" doc:"Creation of a missing index on its first use."`
}

// EjectConfig says how long a node that cannot be reached is left alone before
// it is probed.
type EjectConfig struct {
	Min time.Duration `yaml:"min" doc:"First pause of a node after a connection error or time-out; it doubles up to max."`
	Max time.Duration `yaml:"max" doc:"Longest pause of a node between two probes."`
}

// CreateIndexConfig says how a missing index is made.
type CreateIndexConfig struct {
	Enabled         bool   `yaml:"enabled" doc:"Create each index on its first use. Leave it off for data streams and aliases."`
	Shards          int    `yaml:"shards" unit:"shards" doc:"Primary shards of a new index; 0 leaves it to templates and the server."`
	Replicas        int    `yaml:"replicas" unit:"copies" doc:"Copies of each shard of a new index; -1 leaves it to templates and the server."`
	RefreshInterval string `yaml:"refresh_interval" doc:"How often new documents become searchable, such as 30s, or -1 for never; empty leaves it to templates and the server."`
}

// The values of Config.Op and Config.Compression.
const (
	OpCreate        = "create"
	OpIndex         = "index"
	CompressionNone = "none"
	CompressionGzip = "gzip"
)

// DefaultConfig suits log messages; only the URLs are missing.
func DefaultConfig() Config {
	return Config{
		Compression:      CompressionGzip,
		CompressionLevel: 1,
		Op:               OpCreate,
		Index:            "logs-{topic}",
		MaxIndices:       500,
		RequestTimeout:   time.Minute,
		MaxResponse:      64 * value.MiB,
		Eject:            EjectConfig{Min: time.Second, Max: time.Minute},
		CreateIndex:      CreateIndexConfig{Replicas: -1},
	}
}

// Validate reports every setting that cannot work, each with its remedy.
func (c Config) Validate() error {
	var p value.Problems
	if len(c.URLs) == 0 {
		p.Add("urls", "is required: write the nodes' addresses, such as [\"https://es-1:9200\"]")
	}
	secure := false
	for i, u := range c.URLs {
		key := "urls[" + strconv.Itoa(i) + "]"
		parsed, err := u.parse()
		if err != nil {
			p.Add(key, err.Error())
			continue
		}
		secure = secure || parsed.Scheme == "https"
	}
	if _, problem := c.credentials(); problem != nil {
		p = append(p, problem)
	}
	if !secure && len(c.URLs) > 0 && (c.CA != "" || c.InsecureSkipVerify) {
		p.Add("urls", "ca and insecure_skip_verify need an https:// address: write one, or remove them")
	}
	if c.CA != "" && c.InsecureSkipVerify {
		p.Add("insecure_skip_verify", "makes ca useless: remove one of them")
	}
	if _, err := newTLSConfig(c); err != nil {
		p.Add("ca", "cannot be used: "+err.Error())
	}
	c.validateRequests(&p)
	c.validateRouting(&p)
	return p.Err()
}

func (c Config) validateRequests(p *value.Problems) {
	switch c.Compression {
	case CompressionNone, CompressionGzip:
	case "zstd":
		p.Add("compression", "the server does not understand zstd bodies and refuses every request: write gzip or none")
	default:
		p.Add("compression", fmt.Sprintf("%q is not known: write gzip or none", c.Compression))
	}
	if c.CompressionLevel < 1 || c.CompressionLevel > 9 {
		p.Add("compression_level", "must be from 1 (fast) to 9 (small); write compression: none to send plain bodies")
	}
	if c.Op != OpCreate && c.Op != OpIndex {
		p.Add("op", fmt.Sprintf("%q is not known: write create or index", c.Op))
	}
	if c.RequestTimeout < 100*time.Millisecond || c.RequestTimeout > time.Hour {
		p.Add("request_timeout", "must be from 100ms to 1h, such as 60s")
	}
	if c.MaxResponse < 64*value.KiB || c.MaxResponse > value.GiB {
		p.Add("max_response", "must be from 64KiB to 1GiB; a document needs about 30 bytes of answer when it is stored and about 500 when it is refused")
	}
	if c.Eject.Min < 10*time.Millisecond {
		p.Add("eject.min", "must be at least 10ms")
	}
	if c.Eject.Max < c.Eject.Min || c.Eject.Max > time.Hour {
		p.Add("eject.max", "must be from eject.min to 1h")
	}
}

func (c Config) validateRouting(p *value.Problems) {
	t, err := parseTemplate(c.Index)
	if err != nil {
		p.Add("index", err.Error())
	}
	if c.FallbackIndex != "" {
		if err := checkName(c.FallbackIndex); err != nil {
			p.Add("fallback_index", err.Error())
		}
	}
	for _, w := range []struct {
		key   string
		value time.Duration
	}{{"oldest", c.Oldest}, {"newest", c.Newest}} {
		if w.value < 0 {
			p.Add(w.key, "must be 0s (no limit) or more")
		} else if w.value > 0 && err == nil && !t.usesTime() {
			p.Add(w.key, "works on the timestamp in the index's name: add {time:yyyy.MM.dd} to index, or write 0s")
		}
	}
	if c.MaxIndices < 1 {
		p.Add("max_indices", "must be at least 1; 500 is the default")
	}
	c.CreateIndex.validate(p)
}

func (c CreateIndexConfig) validate(p *value.Problems) {
	if c.Shards < 0 || c.Shards > 1024 {
		p.Add("create_index.shards", "must be 0 (left to the server) or from 1 to 1024")
	}
	if c.Replicas < -1 || c.Replicas > 100 {
		p.Add("create_index.replicas", "must be -1 (left to the server) or from 0 to 100")
	}
	if r := c.RefreshInterval; r != "" && r != "-1" {
		if _, err := time.ParseDuration(r); err != nil {
			p.Add("create_index.refresh_interval", fmt.Sprintf("%q is not an interval: write one such as 30s, or -1 for never", r))
		}
	}
	if !c.Enabled && (c.Shards != 0 || c.Replicas != -1 || c.RefreshInterval != "") {
		p.Add("create_index.enabled", "is false, so that shards, replicas and refresh_interval have no effect: write true, or remove them")
	}
}

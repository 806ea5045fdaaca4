// Package status is what is seen of Penstock from outside over HTTP: liveness,
// readiness, metrics and a page of JSON.
package status

import (
	"net"

	"penstock/configs/value"
)

// Config is everything that can be set about the HTTP port.
type Config struct {
	Listen string `yaml:"listen" doc:"Address of /livez, /readyz, /metrics and /status; empty for none. It is read-only and shows no secrets."`
}

// DefaultConfig listens on all addresses, as Kubernetes probes need it.
func DefaultConfig() Config { return Config{Listen: ":8080"} }

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	var p value.Problems
	if c.Listen != "" {
		if _, _, err := net.SplitHostPort(c.Listen); err != nil {
			p.Add("listen", "must be host:port or :port, such as :8080 or 127.0.0.1:8080")
		}
	}
	return p.Err()
}

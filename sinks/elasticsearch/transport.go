package elasticsearch

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

const (
	transportBuffer = 64 << 10
	// maxHeaderBytes bounds the headers of an answer.
	maxHeaderBytes = 64 << 10
	// maxConnsPerNode is above any sensible number of requests in flight.
	maxConnsPerNode = 1024
	// idleTimeout is shorter than the minute after which many load balancers
	// drop a connection in silence.
	idleTimeout = 45 * time.Second
)

// newTransport makes the HTTP/1.1 transport. Redirects are not followed: it is
// no http.Client.
func newTransport(c Config) (*http.Transport, error) {
	tlsConfig, err := newTLSConfig(c)
	if err != nil {
		return nil, err
	}
	d := &dialer{net: net.Dialer{Timeout: dialTimeout}, tls: tlsConfig}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		DialContext:            d.plain,
		DialTLSContext:         d.secure,
		Protocols:              &protocols,
		MaxIdleConns:           0, // bounded per host, and hosts are few
		MaxIdleConnsPerHost:    maxConnsPerNode,
		MaxConnsPerHost:        maxConnsPerNode,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		WriteBufferSize:        transportBuffer,
		ReadBufferSize:         transportBuffer,
		// A bulk answer is a tenth of the request. Where bodies need no
		// compression, answers do not either, and both sides save the work.
		DisableCompression: c.Compression == CompressionNone,
	}, nil
}

func newTLSConfig(c Config) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.InsecureSkipVerify {
		config.InsecureSkipVerify = true // asked for by name, and documented
	}
	if c.CA == "" {
		return config, nil
	}
	pem, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, err // names the file
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no certificate in %s: a PEM file has -----BEGIN CERTIFICATE----- lines", c.CA)
	}
	return config, nil
}

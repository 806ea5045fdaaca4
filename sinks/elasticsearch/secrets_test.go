package elasticsearch

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"penstock/configs/value"
	"penstock/sinks/elasticsearch/estest"
)

// lockedText is a log that can be read while it is written.
type lockedText struct {
	mu sync.Mutex
	strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Builder.Write(p)
}

func (l *lockedText) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.String()
}

// TestCredentialsAreSentAndNeverShown goes through each kind of failure, with
// servers that quote what they were sent.
func TestCredentialsAreSentAndNeverShown(t *testing.T) {
	const password, key = "s3cr/t p@s", "abcIdxyz:k3yk3yk3y"
	basic := base64.StdEncoding.EncodeToString([]byte("user:" + password))
	for name, test := range map[string]struct {
		change func(c *Config, url string)
		header string
	}{
		"password": {func(c *Config, url string) {
			c.URLs, c.Username, c.Password = NewURLs(url), "user", value.NewSecret(password)
		}, "Basic " + basic},
		"in the address": {func(c *Config, url string) {
			c.URLs = NewURLs(strings.Replace(url, "://", "://user:s3cr%2Ft%20p%40s@", 1))
		}, "Basic " + basic},
		"key": {func(c *Config, url string) {
			c.URLs, c.APIKey = NewURLs(url), value.NewSecret(key)
		}, "ApiKey " + base64.StdEncoding.EncodeToString([]byte(key))},
	} {
		t.Run(name, func(t *testing.T) {
			server := estest.New(t)
			server.Hook(func(r *estest.Request) *estest.Reply {
				got := r.Header.Get("Authorization")
				if got != test.header {
					t.Errorf("Authorization is %q, want %q", got, test.header)
				}
				_, token, _ := strings.Cut(got, " ")
				plain, _ := base64.StdEncoding.DecodeString(token)
				return estest.Failure(401, "security_exception", fmt.Sprintf("no %s, %s, %s", got, plain, strings.TrimPrefix(string(plain), "user:")))
			})
			var log lockedText
			logger := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewDevelopmentEncoderConfig()), zapcore.AddSync(&log), zap.DebugLevel))
			shown := ""
			write := func(url string, timeout time.Duration) {
				c := testConfig("")
				test.change(&c, url)
				c.RequestTimeout = timeout
				s := newSink(t, c, logger)
				_, err := s.store(t.Context(), s.nodes.all[0], threeDocuments(t, s))
				if err == nil {
					t.Error("no error")
				}
				for e := err; e != nil; e = errors.Unwrap(e) {
					shown += fmt.Sprintf("%v %+v %#v\n", e, e, c)
				}
				shown += fmt.Sprint(s.Nodes())
				if err := s.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}
			write(server.URL, time.Minute)
			write("http://127.0.0.1:1", time.Minute)
			write("http://no.such.host.invalid:9200", time.Minute)
			write("https"+strings.TrimPrefix(server.URL, "http"), time.Minute)
			silent := &slowAnswer{}
			write(newHTTPServer(t, http.HandlerFunc(silent.silent)), 100*time.Millisecond)
			shown += log.text()
			for _, secret := range []string{"s3cr", "p@s", "p%40s", "k3yk3y", basic, test.header[7:]} {
				if strings.Contains(shown, secret) {
					t.Errorf("%q is shown in %s", secret, shown)
				}
			}
			if !strings.Contains(shown, value.Stars) {
				t.Errorf("nothing was starred, so nothing was tried: %s", shown)
			}
		})
	}
}

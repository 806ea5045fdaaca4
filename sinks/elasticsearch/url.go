package elasticsearch

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"

	"penstock/configs/value"
)

// URL is a node's address as configured. It may carry user:password@, so it
// prints without: every formatting verb and encoding shows stars in its place.
type URL struct{ raw string }

// NewURL wraps an address.
func NewURL(s string) URL { return URL{s} }

// NewURLs wraps addresses, for configurations made in code.
func NewURLs(s ...string) []URL {
	urls := make([]URL, len(s))
	for i := range s {
		urls[i] = URL{s[i]}
	}
	return urls
}

// String gives the address with stars for the userinfo.
func (u URL) String() string {
	scheme, rest, found := strings.Cut(u.raw, "://")
	if !found {
		scheme, rest = "", u.raw
	}
	// Without parsing: what does not parse must not leak either. Everything up
	// to the last @ is hidden, for a password may hold a raw "/", "?" or "@".
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = value.Stars + rest[at:]
	}
	if !found {
		return rest
	}
	return scheme + "://" + rest
}

// GoString gives what String gives.
func (u URL) GoString() string { return u.String() }

// MarshalText gives what String gives.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText takes the address as it is.
func (u *URL) UnmarshalText(text []byte) error {
	u.raw = strings.TrimSpace(string(text))
	return nil
}

// parse gives the address, with its userinfo. The error quotes no part of it,
// for url.Parse's own quotes the password.
func (u URL) parse() (*url.URL, error) {
	p, err := url.Parse(u.raw)
	switch {
	case err != nil:
		return nil, errors.New("is not a URL: write one such as https://es-1:9200, with special characters of a password percent-encoded")
	case p.Scheme != "http" && p.Scheme != "https":
		return nil, errors.New("must start with http:// or https://, such as https://es-1:9200")
	case p.Hostname() == "":
		return nil, errors.New("names no host: write one such as https://es-1:9200")
	case p.RawQuery != "" || p.Fragment != "":
		return nil, errors.New("must end after the path: remove ? and #")
	}
	p.Path = strings.TrimRight(p.Path, "/")
	p.RawPath = strings.TrimRight(p.RawPath, "/")
	return p, nil
}

// credentials gives the value of the Authorization header, "" for none. The
// problem is a *value.Problem.
func (c Config) credentials() (string, error) {
	user, password, fromURL := c.Username, c.Password.Reveal(), false
	for _, u := range c.URLs {
		p, err := u.parse()
		if err != nil || p.User == nil {
			continue
		}
		// The URL's userinfo is percent-decoded here, once.
		urlPassword, _ := p.User.Password()
		if (user != "" || password != "") && (user != p.User.Username() || password != urlPassword) {
			return "", &value.Problem{Key: "urls", Message: "credentials in an address differ from the others or from username and password: all nodes take the same; set username and password once and remove them from the addresses"}
		}
		user, password, fromURL = p.User.Username(), urlPassword, true
	}
	key := c.APIKey.Reveal()
	if hasControl(user) || hasControl(password) || hasControl(key) {
		return "", &value.Problem{Key: "password", Message: "username, password or api_key has a line feed or another control character: remove it (a file with a secret often ends with one)"}
	}
	switch {
	case key != "" && fromURL:
		return "", &value.Problem{Key: "api_key", Message: "cannot be combined with credentials in urls: remove one of them"}
	case key != "" && (user != "" || password != ""):
		return "", &value.Problem{Key: "api_key", Message: "cannot be combined with username and password: remove one of them"}
	case strings.Contains(key, ":"):
		return "ApiKey " + base64.StdEncoding.EncodeToString([]byte(key)), nil
	case key != "":
		return "ApiKey " + key, nil
	case user == "" && password == "":
		return "", nil
	case user == "":
		return "", &value.Problem{Key: "username", Message: "is required with a password"}
	case password == "":
		return "", &value.Problem{Key: "password", Message: "is required with a username"}
	case strings.Contains(user, ":"):
		return "", &value.Problem{Key: "username", Message: "must not contain a colon: basic authentication cannot carry it"}
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password)), nil
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

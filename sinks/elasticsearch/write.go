package elasticsearch

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"strings"

	"penstock/pipeline"
)

// bulkQuery reduces the answer to what verdicts need. It keeps one entry for
// each document.
const bulkQuery = "filter_path=items.*.status,items.*.error"

// bulk is one bulk request.
type bulk struct {
	destination string
	body        []byte
	documents   int
}

// write sends the request once. When it returns, nothing reads the body.
func (s *Sink) write(ctx context.Context, n *node, b bulk) (pipeline.Outcome, error) {
	r := request{method: "POST", path: bulkPath(b.destination), query: bulkQuery, contentType: "application/x-ndjson", body: b.body}
	if s.compressors != nil {
		c, err := s.compressors.compress(b.body)
		if err != nil {
			return pipeline.Outcome{}, err
		}
		defer s.compressors.release(c)
		r.body, r.encoding = c.out.Bytes(), "gzip"
	}
	out := pipeline.Outcome{Wire: int64(len(r.body))}
	err := s.exchange(ctx, n, r, "to store documents", func(status int, answer io.Reader) error {
		var err error
		out.Items, err = s.replies.read(answer, s.config.Op, b.documents, int64(s.config.MaxResponse))
		var broken *ioError
		if err != nil && !errors.As(err, &broken) {
			return unproven(n.name, status, err)
		}
		return err
	})
	if err != nil {
		return pipeline.Outcome{}, err
	}
	return out, nil
}

// exchange sends a request and hands the answer to read if it is 2xx. It
// returns ctx's error, a *pipeline.RequestError, or nil; by then, nothing reads
// the request's body.
func (s *Sink) exchange(ctx context.Context, n *node, r request, description string, read func(status int, answer io.Reader) error) error {
	limited, cancel := context.WithTimeout(ctx, s.config.RequestTimeout)
	res, done, err := s.client.send(limited, n, r)
	if err == nil {
		s.nodes.answered(n)
		if res.StatusCode >= 200 && res.StatusCode < 300 {
			err = read(res.StatusCode, res.BodyReader)
		} else {
			// What cannot be read of it, the status makes up for.
			body, _ := io.ReadAll(io.LimitReader(res.BodyReader, maxErrorBytes))
			err = refusal{
				node: n.name, status: res.StatusCode, header: res.Header, body: body,
				compressed: r.encoding != "", description: description,
			}.classify()
		}
		res.BodyReader.Close()
	}
	timedOut := limited.Err() != nil
	// Also ends what still sends the body, where the answer came early.
	cancel()
	done()
	var known *pipeline.RequestError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return s.mask(known)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	s.nodes.failed(n, err)
	remedy := remedyFor(err)
	if timedOut {
		remedy = "no answer within request_timeout, " + s.config.RequestTimeout.String()
	}
	return s.mask(unreachable(n.name, remedy, err))
}

// remedyFor says what to do about a transport error, where that is known.
func remedyFor(err error) string {
	var (
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
	)
	switch {
	case errors.As(err, &authority):
		return "its certificate is of no authority that is trusted: name the authority's PEM file in ca"
	case errors.As(err, &hostname):
		return "its certificate is for another name: write that name in urls"
	case strings.Contains(err.Error(), "first record does not look like a TLS handshake"):
		return "it does not speak TLS: write http:// in urls"
	case errors.Is(err, io.EOF), strings.Contains(err.Error(), "malformed HTTP response"):
		return "if this lasts: does it want https:// in urls?"
	}
	return ""
}

// mask puts stars over credentials, should a server or proxy quote them.
func (s *Sink) mask(e *pipeline.RequestError) *pipeline.RequestError {
	if s.secrets == nil {
		return e
	}
	e.Reason.Text = s.secrets.Replace(e.Reason.Text)
	e.Reason.Type = s.secrets.Replace(e.Reason.Type)
	if e.Err != nil {
		if text := e.Err.Error(); s.secrets.Replace(text) != text {
			e.Err = errors.New(s.secrets.Replace(text))
		}
	}
	return e
}

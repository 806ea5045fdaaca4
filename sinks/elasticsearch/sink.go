package elasticsearch

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"go.uber.org/zap"

	"penstock/configs/value"
	"penstock/pipeline"
)

// Options are what a sink needs besides its settings.
type Options struct {
	// Version of the program, for the User-Agent.
	Version string
	// Logger takes what operators should know; nil for none.
	Logger *zap.Logger
}

// Sink stores documents by the bulk API. It implements pipeline.Sink.
type Sink struct {
	config      Config
	router      *router
	encoder     *encoder
	indices     *indices // nil unless indices are to be created
	compressors *compressors
	transport   *http.Transport
	client      *client
	nodes       *nodes
	replies     replies
	secrets     *strings.Replacer // nil without credentials
}

var _ pipeline.Sink = (*Sink)(nil)

// New makes a sink. It sends nothing, so it works while the servers are down.
// The error is of the settings, or of the file that ca names.
func New(c Config, o Options) (*Sink, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	log := o.Logger
	if log == nil {
		log = zap.NewNop()
	}
	authorization, err := c.credentials()
	if err != nil {
		return nil, err
	}
	t, err := parseTemplate(c.Index)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	transport, err := newTransport(c)
	if err != nil {
		return nil, err
	}
	version := o.Version
	if version == "" {
		version = "dev"
	}
	d := &doer{transport: transport, authorization: authorization, userAgent: "penstock/" + version}
	s := &Sink{config: c, transport: transport, router: newRouter(c, t, log), secrets: secretsOf(c, authorization)}
	s.encoder = newEncoder(c.Op, &s.router.origins)
	if c.Compression == CompressionGzip {
		s.compressors = &compressors{level: c.CompressionLevel}
	}
	if c.CreateIndex.Enabled {
		if s.indices, err = newIndices(c.CreateIndex, s.createIndex); err != nil {
			return nil, err
		}
	}
	if s.client, err = newClient(d); err != nil {
		return nil, err
	}
	if s.nodes, err = newNodes(c, log); err != nil {
		return nil, err
	}
	s.nodes.ping = d.ping
	return s, nil
}

// secretsOf replaces each form of the credentials by stars.
func secretsOf(c Config, authorization string) *strings.Replacer {
	const least = 4 // shorter ones would star out ordinary text
	secrets := []string{c.Password.Reveal(), c.APIKey.Reveal()}
	for _, u := range c.URLs {
		if p, err := u.parse(); err == nil && p.User != nil {
			password, _ := p.User.Password()
			secrets = append(secrets, password, p.User.String())
		}
	}
	if _, key, ok := strings.Cut(c.APIKey.Reveal(), ":"); ok {
		secrets = append(secrets, key)
	}
	if _, token, ok := strings.Cut(authorization, " "); ok {
		secrets = append(secrets, token)
	}
	var pairs []string
	for _, secret := range secrets {
		if len(secret) >= least {
			pairs = append(pairs, secret, value.Stars)
		}
	}
	if pairs == nil {
		return nil
	}
	return strings.NewReplacer(pairs...)
}

// Route implements pipeline.Sink.
func (s *Sink) Route(r *pipeline.Record) (string, error) { return s.router.route(r) }

// Append implements pipeline.Sink.
func (s *Sink) Append(b *pipeline.Batch, r *pipeline.Record, doc pipeline.Document, destination string) error {
	if s.indices != nil {
		s.indices.note(destination)
	}
	s.encoder.append(b, r, doc, destination)
	return nil
}

// Nodes implements pipeline.Sink.
func (s *Sink) Nodes() []string {
	names := make([]string, len(s.nodes.all))
	for i, n := range s.nodes.all {
		names[i] = n.name
	}
	return names
}

// Usable implements pipeline.Sink: a node that could not be reached is not,
// until it answers again.
func (s *Sink) Usable(node int) bool { return s.nodes.all[node].usable.Load() }

// Write implements pipeline.Sink.
func (s *Sink) Write(ctx context.Context, node int, b *pipeline.Batch) (pipeline.Outcome, error) {
	return s.store(ctx, s.nodes.all[node], bulk{destination: b.Destination, body: b.Body, documents: b.Len()})
}

// store creates what indices are missing and writes the documents. Those whose
// index is refused are left out, so that they hold up no others.
func (s *Sink) store(ctx context.Context, n *node, b bulk) (pipeline.Outcome, error) {
	if b.documents == 0 {
		return pipeline.Outcome{}, nil // an empty body would be refused
	}
	if s.indices == nil || s.indices.missing.Load() == 0 {
		return s.write(ctx, n, b)
	}
	refused, err := s.indices.ensure(ctx, n, s.encoder.destinations(b))
	if err != nil {
		return pipeline.Outcome{}, err
	}
	if len(refused) == 0 {
		return s.write(ctx, n, b)
	}
	kept, positions, items := s.encoder.without(b, refused)
	if kept.documents == 0 {
		return pipeline.Outcome{Items: items}, nil
	}
	out, err := s.write(ctx, n, kept)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	for i := range out.Items {
		out.Items[i].Doc = positions[out.Items[i].Doc]
	}
	out.Items = append(out.Items, items...)
	slices.SortFunc(out.Items, func(a, b pipeline.Item) int { return a.Doc - b.Doc })
	return out, nil
}

// Close implements pipeline.Sink. It ends the probes of nodes that are down.
func (s *Sink) Close(context.Context) error {
	s.nodes.close()
	s.transport.CloseIdleConnections()
	return nil
}

package elasticsearch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"unsafe"

	"github.com/olivere/elastic/v7"
)

// placeholderURL is the one address that olivere's client knows; doer puts the
// node's in its place.
const placeholderURL = "http://node.invalid"

// noAnswer is the status of the response that stands for a transport error.
const noAnswer = 599

// doer sends the requests of olivere's client.
//
// The client's own pool never takes a hung node out of use, and once a request
// to its only node failed, it fails the next one without sending it. So doer
// chooses the node (the pipeline did, in fact), and never returns an error: a
// transport error travels in the exchange, and the client sees a made-up answer.
type doer struct {
	transport     *http.Transport
	authorization string // the header's value, "" for none
	userAgent     string
}

// exchange is one request, passed to doer through its context.
type exchange struct {
	node *node
	body []byte // nil for none
	// open counts readers of body that net/http has not closed.
	open sync.WaitGroup
	// err is why there is no answer.
	err error
}

type exchangeKey struct{}

// Do implements elastic.Doer.
func (d *doer) Do(req *http.Request) (*http.Response, error) {
	x := req.Context().Value(exchangeKey{}).(*exchange)
	d.address(req, x.node)
	if req.Body = nil; len(x.body) > 0 {
		req.ContentLength = int64(len(x.body))
		req.Body = x.reader()
		// net/http asks for the body again only if nothing of it was sent: then
		// an idle connection had been closed by the node.
		req.GetBody = func() (io.ReadCloser, error) { return x.reader(), nil }
	}
	res, err := d.transport.RoundTrip(req)
	if err == nil && (res.StatusCode < 200 || res.StatusCode > 599) {
		// The client would read such a body whole, whatever its size.
		res.Body.Close()
		err = fmt.Errorf("the status %d of the answer is none of HTTP", res.StatusCode)
	}
	if err != nil {
		x.err = err
		return &http.Response{StatusCode: noAnswer, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	}
	return res, nil
}

// address turns a request to the placeholder into one to the node.
func (d *doer) address(req *http.Request, n *node) {
	u := *n.url
	u.RawPath = n.url.EscapedPath() + req.URL.EscapedPath()
	u.Path = n.url.Path + req.URL.Path
	u.RawQuery = req.URL.RawQuery
	req.URL, req.Host = &u, u.Host
	if d.authorization != "" {
		req.Header.Set("Authorization", d.authorization)
	}
	req.Header.Set("User-Agent", d.userAgent)
}

func (x *exchange) reader() *requestBody {
	x.open.Add(1)
	return &requestBody{data: x.body, done: x.open.Done}
}

// ping asks the node's root; any HTTP answer means that it is alive.
func (d *doer) ping(ctx context.Context, n *node) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, placeholderURL+"/", nil)
	if err != nil {
		return err
	}
	d.address(req, n)
	res, err := d.transport.RoundTrip(req)
	if err != nil {
		return err
	}
	drain(res.Body)
	return nil
}

// client sends requests to nodes.
type client struct {
	elastic *elastic.Client
}

func newClient(d *doer) (*client, error) {
	e, err := elastic.NewSimpleClient(
		elastic.SetURL(placeholderURL),
		elastic.SetHttpClient(d),
		elastic.SetSniff(false),
		elastic.SetHealthcheck(false),
		elastic.SetRetrier(elastic.NewStopRetrier()),
		elastic.SetGzip(false), // it would allocate a compressor a request
	)
	if err != nil {
		return nil, fmt.Errorf("setting up the client: %w", err)
	}
	return &client{elastic: e}, nil
}

// request is what client sends.
type request struct {
	method, path, query string
	contentType         string
	encoding            string // of body, "" for none
	body                []byte
}

// send sends one request to the node. The caller closes the answer's body, and
// then waits for done before it reuses the request's: done is never nil.
func (c *client) send(ctx context.Context, n *node, r request) (res *elastic.Response, done func(), err error) {
	x := &exchange{node: n, body: r.body}
	options := elastic.PerformRequestOptions{
		Method: r.method, Path: r.path, ContentType: r.contentType,
		IgnoreErrors: anyError, // else it reads their bodies, whole
		Stream:       true,
	}
	if r.query != "" {
		options.Path += "?" + r.query
	}
	if len(r.body) > 0 {
		options.Body = unsafe.String(unsafe.SliceData(r.body), len(r.body)) // nothing writes to it until done
	}
	if r.encoding != "" {
		options.Headers = http.Header{"Content-Encoding": {r.encoding}}
	}
	res, err = c.elastic.PerformRequest(context.WithValue(ctx, exchangeKey{}, x), options)
	if x.err != nil {
		err = x.err
	}
	if err != nil {
		if res != nil && res.BodyReader != nil {
			res.BodyReader.Close()
		}
		return nil, x.open.Wait, err
	}
	return res, x.open.Wait, nil
}

// anyError lists the statuses that are ours to judge.
var anyError = func() (all []int) {
	for s := 300; s <= 599; s++ {
		all = append(all, s)
	}
	return all
}()

// bulkPath is the path of the bulk API of one index.
func bulkPath(index string) string { return "/" + url.PathEscape(index) + "/_bulk" }

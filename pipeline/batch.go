package pipeline

import (
	"slices"
	"time"
)

// Batch is the documents of one bulk request.
type Batch struct {
	// Body holds the encoded documents, one after another, as the sink's Append
	// wrote them. Sinks read it in Write and append to it in Append.
	Body []byte
	// Destination is the destination of the first document that was appended.
	// A sink may leave it out of each document that goes there and name it once
	// for the request instead. It survives splits and retries.
	Destination string

	docs         []document
	spans        []*span
	destinations []*destination
	base         uint32 // docs' places count from here: not 0 in a part of a batch

	// own is the destination in trouble that all documents go to, charged the
	// bytes that count towards its share while the batch is delivered.
	own     *destination
	charged int64
	counted bool // among own's batches

	opened time.Time // when the first document came
	failed time.Time // when it, or a document of it, was first refused; zero if never
	// refused is whether the whole of it was refused, succeeded how many requests
	// to the sink had succeeded when it first was.
	refused   bool
	succeeded int64
	attempts  int    // tries in a row that left all of it unsettled
	watch     *watch // shown in /status while it is being delivered
}

// document is one document's place in a batch. A batch remembers this much of
// each, so that a retry or a split encodes nothing again.
type document struct {
	start, end  uint32 // in the body of the batch it was first put in
	record      uint32 // in its span's chunk
	span        uint32 // in spans
	destination uint32 // in destinations
}

// Len is the number of documents.
func (b *Batch) Len() int { return len(b.docs) }

// part is documents lo to hi of b as a batch of their own. It shares b's bytes:
// b may not be changed while the part is in use.
func (b *Batch) part(lo, hi int) *Batch {
	p := *b
	p.docs = b.docs[lo:hi:hi]
	p.base = p.docs[0].start
	p.Body = b.Body[p.docs[0].start-b.base : p.docs[hi-lo-1].end-b.base]
	return &p
}

// keep leaves only the documents whose positions are listed, in ascending
// order, and moves their bytes together.
func (b *Batch) keep(positions []int) {
	if len(positions) == len(b.docs) {
		return
	}
	at := 0
	for i, p := range positions {
		d := b.docs[p]
		n := copy(b.Body[at:], b.Body[d.start-b.base:d.end-b.base])
		d.start, d.end = uint32(at), uint32(at+n)
		b.docs[i] = d
		at += n
	}
	b.docs, b.Body, b.base = b.docs[:len(positions)], b.Body[:at], 0
}

// extract copies the documents at these positions into a batch of their own.
func (b *Batch) extract(positions []int) *Batch {
	size := 0
	for _, p := range positions {
		size += int(b.docs[p].end - b.docs[p].start)
	}
	e := &Batch{
		Body:        make([]byte, 0, size),
		Destination: b.Destination,
		docs:        make([]document, 0, len(positions)),
		// Clones, since b's are cleared and used again when b is done.
		spans: slices.Clone(b.spans), destinations: slices.Clone(b.destinations),
		opened: b.opened, failed: b.failed, refused: b.refused, succeeded: b.succeeded, attempts: b.attempts,
	}
	for _, p := range positions {
		d := b.docs[p]
		start := len(e.Body)
		e.Body = append(e.Body, b.Body[d.start-b.base:d.end-b.base]...)
		d.start, d.end = uint32(start), uint32(len(e.Body))
		e.docs = append(e.docs, d)
	}
	return e
}

// destination adds d to those that the batch goes to, and gives its place.
func (b *Batch) destination(d *destination) uint32 {
	// Runs of one destination are the rule, and few in all.
	for i := len(b.destinations) - 1; i >= 0; i-- {
		if b.destinations[i] == d {
			return uint32(i)
		}
	}
	b.destinations = append(b.destinations, d)
	return uint32(len(b.destinations) - 1)
}

// charge counts b's bytes as of now towards the share of d, nil for none.
func (b *Batch) charge(d *destination) {
	if b.counted {
		b.own.inFlight.Add(-b.charged)
		b.own.batches.Add(-1)
	}
	b.own, b.charged, b.counted = d, 0, d != nil
	if d != nil {
		b.charged = int64(len(b.Body))
		d.inFlight.Add(b.charged)
		d.batches.Add(1)
	}
}

// reset empties b for another use, keeping its buffers and letting go of
// everything that they point to.
func (b *Batch) reset() {
	clear(b.spans)
	clear(b.destinations)
	*b = Batch{Body: b.Body[:0], docs: b.docs[:0], spans: b.spans[:0], destinations: b.destinations[:0]}
}

// batchPool keeps a few batches for reuse, so that their bodies need not grow again.
type batchPool struct {
	free chan *Batch
	most int // a body larger than this is not kept
}

func newBatchPool(n, most int) *batchPool {
	return &batchPool{free: make(chan *Batch, n), most: most}
}

func (p *batchPool) get() *Batch {
	select {
	case b := <-p.free:
		return b
	default:
		return &Batch{}
	}
}

func (p *batchPool) put(b *Batch) {
	if cap(b.Body) > p.most {
		return
	}
	b.reset()
	select {
	case p.free <- b:
	default:
	}
}

// without gives 0..n-1 less the positions in gone, which is ascending.
func without(n int, gone []int) []int {
	left := make([]int, 0, n-len(gone))
	for i := range n {
		if _, is := slices.BinarySearch(gone, i); !is {
			left = append(left, i)
		}
	}
	return left
}

package pipeline

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// testBatch has one document for each word, of one span and destination.
func testBatch(words ...string) *Batch {
	b := &Batch{destinations: []*destination{{name: "d", refused: map[string]int{}}}, spans: []*span{{}}}
	for i, w := range words {
		start := len(b.Body)
		b.Body = append(b.Body, w...)
		b.docs = append(b.docs, document{start: uint32(start), end: uint32(len(b.Body)), record: uint32(i)})
	}
	return b
}

func documentsOf(b *Batch) []string {
	var all []string
	for _, d := range b.docs {
		all = append(all, string(b.Body[d.start-b.base:d.end-b.base]))
	}
	return all
}

// Keeping, extracting and parting in any order never mixes documents up.
func TestBatchPartsModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var words []string
		for range 1 + r.IntN(12) {
			words = append(words, strings.Repeat(string(rune('a'+r.IntN(26))), 1+r.IntN(5)))
		}
		b := testBatch(words...)
		for len(words) > 0 {
			lo := r.IntN(len(words))
			hi := lo + 1 + r.IntN(len(words)-lo)
			p := b.part(lo, hi)
			if got := documentsOf(p); !slices.Equal(got, words[lo:hi]) || string(p.Body) != strings.Join(words[lo:hi], "") {
				t.Fatalf("part %d to %d of %q is %q in body %q", lo, hi, words, got, p.Body)
			}
			if hi-lo > 1 {
				q := p.part(1, hi-lo)
				if got := documentsOf(q); !slices.Equal(got, words[lo+1:hi]) {
					t.Fatalf("a part of a part is %q, want %q", got, words[lo+1:hi])
				}
			}
			var gone []int
			var left []string
			for i, w := range words {
				if r.IntN(3) == 0 {
					gone = append(gone, i)
				} else {
					left = append(left, w)
				}
			}
			keep := without(len(words), gone)
			if len(keep) == 0 {
				break
			}
			if got := documentsOf(b.extract(keep)); !slices.Equal(got, left) {
				t.Fatalf("extract gives %q, want %q", got, left)
			}
			b.keep(keep)
			if got := documentsOf(b); !slices.Equal(got, left) || string(b.Body) != strings.Join(left, "") {
				t.Fatalf("keep leaves %q in body %q, want %q", got, b.Body, left)
			}
			words = left
			if len(gone) == 0 {
				break
			}
		}
	}
}

func TestChargeCountsOnce(t *testing.T) {
	d := &destination{}
	b := testBatch("aaaa", "bb")
	b.charge(d)
	b.keep([]int{1})
	b.charge(d)
	if got := d.inFlight.Load(); got != 2 {
		t.Errorf("charged %d bytes, want 2", got)
	}
	b.charge(nil)
	if got := d.inFlight.Load(); got != 0 {
		t.Errorf("still charged %d bytes", got)
	}
}

// What was extracted goes on when the batch that it came from is used for others.
func TestExtractOutlivesItsBatch(t *testing.T) {
	pool := newBatchPool(1, 1<<20)
	b := testBatch("aaaa", "bb")
	span, d := b.spans[0], b.destinations[0]
	e := b.extract([]int{1})
	pool.put(b)
	again := pool.get()
	again.Body = append(again.Body, "zzzzzzzz"...)
	again.spans = append(again.spans, newSpan())
	again.destination(&destination{name: "other"})
	if got := documentsOf(e); !slices.Equal(got, []string{"bb"}) {
		t.Errorf("the extract became %q", got)
	}
	if e.spans[0] != span || e.destinations[0] != d {
		t.Error("the extract's spans and destinations became another batch's")
	}
}

func newSpan() *span { return &span{} }

package search

import (
	"fmt"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/single"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/document"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
)

// flushAt is how many documents are indexed at once: bleve makes one segment
// of them, and many small segments cost memory and searching time.
const flushAt = 2000

// The analyzers: text as Elasticsearch's "standard" (words, lower case, no
// stop words), everything else as one term.
var (
	standard = &analysis.DefaultAnalyzer{
		Tokenizer:    unicode.NewUnicodeTokenizer(),
		TokenFilters: []analysis.TokenFilter{lowercase.NewLowerCaseFilter()},
	}
	verbatim = &analysis.DefaultAnalyzer{Tokenizer: single.NewSingleTokenTokenizer()}
)

const (
	textOptions = bleveindex.IndexField | bleveindex.IncludeTermVectors
	termOptions = bleveindex.IndexField | bleveindex.DocValues
)

// existsField holds the paths that a document has, for _exists_.
const existsField = "_exists_"

// generation is a run of the documents of one index, in the order in which
// they were written, with a bleve index of its own. Old documents are dropped
// a generation at a time, which costs nothing per document.
type generation struct {
	owner *index
	bleve bleve.Index
	batch *bleve.Batch
	ids   []string // of all writes, also those that were overwritten since
	bytes int64    // of the sources
}

func newGeneration(owner *index) (*generation, error) {
	// The store's name is not used by an index in memory, but must be one.
	b, err := bleve.NewUsing("", bleve.NewIndexMapping(), scorch.Name, "none", nil)
	if err != nil {
		return nil, fmt.Errorf("opening an index in memory: %w", err)
	}
	return &generation{owner: owner, bleve: b, batch: b.NewBatch()}, nil
}

// put adds or replaces a document.
func (g *generation) put(id string, values []indexed) error {
	doc := document.NewDocument(id)
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		if v.class == typeText {
			doc.AddField(document.NewTextFieldCustom(v.path, nil, []byte(v.term), textOptions, standard))
		} else {
			doc.AddField(document.NewTextFieldCustom(v.path, nil, []byte(v.term), termOptions, verbatim))
		}
		if !seen[v.path] {
			seen[v.path] = true
			doc.AddField(document.NewTextFieldCustom(existsField, nil, []byte(v.path), bleveindex.IndexField, verbatim))
		}
	}
	if err := g.batch.IndexAdvanced(doc); err != nil {
		return fmt.Errorf("indexing %q: %w", id, err)
	}
	return g.flushAbove(flushAt - 1)
}

// remove takes a document out of the searchable ones.
func (g *generation) remove(id string) error {
	g.batch.Delete(id)
	return g.flushAbove(flushAt - 1)
}

// flushAbove makes what was written searchable if more than n writes wait.
func (g *generation) flushAbove(n int) error {
	if g.batch.Size() <= n {
		return nil
	}
	err := g.bleve.Batch(g.batch)
	g.batch.Reset()
	if err != nil {
		return fmt.Errorf("indexing a batch: %w", err)
	}
	return nil
}

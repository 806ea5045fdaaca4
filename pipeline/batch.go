package pipeline

// Batch is the documents of one bulk request.
type Batch struct {
	// Body holds the encoded documents, one after another, as the sink's Append
	// wrote them. Sinks read it in Write and append to it in Append.
	Body []byte
	// Destination is the destination of the first document that was appended.
	// A sink may leave it out of each document that goes there and name it once
	// for the request instead. It survives splits and retries.
	Destination string

	docs  []document
	spans []*span
}

// Len is the number of documents.
func (b *Batch) Len() int { return len(b.docs) }

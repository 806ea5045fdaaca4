package kafka

import (
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"
)

// concurrentFetches is how many fetches may be under way or buffered at once.
const concurrentFetches = 2

// fetchSizer chooses how many compressed bytes to ask for, so that what they
// decompress to stays within a budget. The client bounds fetches by their
// compressed size only, and logs compress five to thirty times.
type fetchSizer struct {
	target  int64 // bytes after decompression that one fetch may become
	most    int64 // compressed bytes of one fetch at most
	asked   int64
	seenIn  atomic.Int64 // compressed bytes since the last update
	seenOut atomic.Int64 // what they became
	ratio   float64
}

const (
	firstRatio   = 10 // until seen
	leastFetch   = 256 << 10
	perPartition = 8 // a fetch is shared by this many partitions at least
	leastSeen    = 256 << 10
)

func newFetchSizer(budget, most int64) *fetchSizer {
	// One fetch more is polled and waits for admission.
	f := &fetchSizer{target: budget / (concurrentFetches + 1), most: most, ratio: firstRatio}
	f.asked = f.size()
	return f
}

func (f *fetchSizer) size() int64 {
	return min(f.most, max(leastFetch, int64(float64(f.target)/f.ratio)))
}

func (f *fetchSizer) current() (fetch, partition int32) {
	return int32(f.asked), int32(max(leastFetch/2, f.asked/perPartition))
}

// OnFetchBatchRead implements kgo.HookFetchBatchRead.
func (s *Source) OnFetchBatchRead(_ kgo.BrokerMetadata, _ string, _ int32, m kgo.FetchBatchMetrics) {
	s.sizer.seenIn.Add(int64(m.CompressedBytes))
	// The compressed bytes are there too until the batch is decompressed.
	s.sizer.seenOut.Add(int64(m.CompressedBytes) + int64(m.UncompressedBytes) + int64(m.NumRecords)*recordBytes)
}

// update asks for more or less if the records compress otherwise than assumed.
// It is quick to ask for less and slow to ask for more. Called by the polling goroutine.
func (f *fetchSizer) update(client *kgo.Client) {
	in := f.seenIn.Load()
	if in < leastSeen {
		return
	}
	out := f.seenOut.Swap(0)
	f.seenIn.Add(-in)
	seen := float64(out) / float64(in)
	if seen > f.ratio {
		f.ratio = seen
	} else {
		f.ratio += (seen - f.ratio) / 4
	}
	if size := f.size(); size < f.asked*9/10 || size > f.asked*5/4 {
		f.asked = size
		client.UpdateFetchMaxBytes(f.current())
	}
}

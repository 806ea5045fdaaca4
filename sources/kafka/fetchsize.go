package kafka

import (
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"
)

// concurrentFetches is how many fetches may be under way or buffered at once.
const concurrentFetches = 2

// fetchSizer chooses how many compressed bytes to ask for, so that what they
// decompress to stays within a budget. The client bounds fetches by their
// compressed size only, and logs compress five to thirty times, some over a
// hundred. So it starts small, and asks for more as it sees what comes of it.
type fetchSizer struct {
	target  int64 // bytes after decompression that one fetch may become
	most    int64 // compressed bytes of one fetch at most
	asked   int64
	seenIn  atomic.Int64 // compressed bytes since the last update
	seenOut atomic.Int64 // what they became
	ratio   float64      // 0 until seen
}

const (
	// A broker sends one batch at least, so asking for less changes nothing.
	leastFetch   = 64 << 10
	perPartition = 8 // a fetch is shared by this many partitions at least
	leastSeen    = 32 << 10
	mostGrowth   = 2 // from one update to the next: what comes may compress otherwise
)

func newFetchSizer(budget, most int64) *fetchSizer {
	// One fetch more is polled and waits for admission.
	return &fetchSizer{target: budget / (concurrentFetches + 1), most: most, asked: leastFetch}
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

// update asks for more or less by what came of the bytes that were asked for.
// It is quick to ask for less and slow to ask for more. Called by the polling goroutine.
func (f *fetchSizer) update(client *kgo.Client) {
	in := f.seenIn.Load()
	if in < leastSeen {
		return
	}
	out := f.seenOut.Swap(0)
	f.seenIn.Add(-in)
	if seen := float64(out) / float64(in); seen > f.ratio {
		f.ratio = seen
	} else {
		f.ratio += (seen - f.ratio) / 4
	}
	size := min(f.most, f.asked*mostGrowth, max(leastFetch, int64(float64(f.target)/f.ratio)))
	if size < f.asked*9/10 || size > f.asked*11/10 {
		f.asked = size
		client.UpdateFetchMaxBytes(f.current())
	}
}

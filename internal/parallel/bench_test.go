package parallel

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// BenchmarkFor shares out loops of different lengths, of which a part takes
// about 20 microseconds: what it takes beyond the work is the cost of sharing.
func BenchmarkFor(b *testing.B) {
	var sink atomic.Uint64
	for _, parts := range []int{1, 4, 16, 64} {
		b.Run(fmt.Sprint(parts), func(b *testing.B) {
			for b.Loop() {
				For(parts, 1, func(lo, hi int) {
					x := uint64(lo)
					for range (hi - lo) * 16000 {
						x = x*6364136223846793005 + 1442695040888963407
					}
					sink.Add(x)
				})
			}
		})
	}
}

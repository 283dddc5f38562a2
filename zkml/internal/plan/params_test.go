package plan

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// TestFillPadded compares pieces of padded layouts, cut anywhere, with graph.Pad, for values of each width.
func TestFillPadded(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	for _, shape := range [][]int{{}, {1}, {5}, {8}, {3, 5}, {4, 8}, {5, 1}, {3, 1, 6}, {2, 3, 5, 7}} {
		for _, width := range []int{1, 2, 4} {
			v := make([]int32, graph.Elements(shape))
			for i := range v {
				v[i] = int32(rng.Uint32()) >> (32 - 8*width)
			}
			if v[0] = -1 << (8*width - 1); width == 4 {
				v[0]++ // -p
			}
			stored := graph.NewValues(v)
			want := Embed(graph.Pad(shape, v))
			for range 20 {
				lo := rng.IntN(len(want))
				hi := lo + 1 + rng.IntN(len(want)-lo)
				got := slices.Repeat([]m31.Element{7}, hi-lo)
				fillPadded(got, shape, stored, lo)
				if !slices.Equal(got, want[lo:hi]) {
					t.Fatalf("shape %v of %d bytes, words %d to %d: %v, expected %v", shape, width, lo, hi, got, want[lo:hi])
				}
			}
		}
	}
}

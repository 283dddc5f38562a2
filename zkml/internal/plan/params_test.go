package plan

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// TestFillPadded compares pieces of padded layouts, cut anywhere, with graph.Pad.
func TestFillPadded(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	for _, shape := range [][]int{{}, {1}, {5}, {8}, {3, 5}, {4, 8}, {5, 1}, {3, 1, 6}, {2, 3, 5, 7}} {
		v := make([]int32, graph.Elements(shape))
		for i := range v {
			v[i] = rng.Int32() - 1<<30
		}
		want := Embed(graph.Pad(shape, v))
		for range 20 {
			lo := rng.IntN(len(want))
			hi := lo + 1 + rng.IntN(len(want)-lo)
			got := slices.Repeat([]m31.Element{7}, hi-lo)
			fillPadded(got, shape, v, lo)
			if !slices.Equal(got, want[lo:hi]) {
				t.Fatalf("shape %v, words %d to %d: %v, expected %v", shape, lo, hi, got, want[lo:hi])
			}
		}
	}
}

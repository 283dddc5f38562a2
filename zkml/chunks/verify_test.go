package chunks

import (
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// TestAtOnce has public weights whose words would not all fit a few GiB, were they made for all parts at once (70 ms).
func TestAtOnce(t *testing.T) {
	key := func(mode zkml.Mode, rows int) *zkml.VerifyingKey {
		const columns = 1 << 13
		p := &graph.Program{Name: "product", Inputs: []graph.TensorID{0}, Outputs: []graph.TensorID{2}, Post: graph.NoPost, Tensors: []graph.Tensor{
			{Name: "x", Kind: graph.Input, Shape: []int{columns}, Hi: 1, Scale: 1},
			{Name: "w", Kind: graph.Param, Shape: []int{columns, rows}, Lo: -2, Hi: 1, Scale: 1},
			{Name: "y", Kind: graph.Virtual, Shape: []int{rows}, Lo: -2 * columns, Hi: columns, Scale: 1},
		}, Ops: []graph.Op{graph.Einsum{A: 0, B: 1, Out: 2, AL: []uint8{0}, BL: []uint8{0, 1}, OL: []uint8{1}}}}
		settings, err := zkml.Choose(p, mode, zkml.Commits{}, zkml.MinSecurity, whir.Options{})
		if err != nil {
			t.Fatal(err)
		}
		vk, err := zkml.NewVerifyingKey(zkml.KeyParts{Program: p, Mode: mode, Settings: settings})
		if err != nil {
			t.Fatal(err)
		}
		return vk
	}
	for _, c := range []struct {
		mode        zkml.Mode
		rows, parts int
		want        int
	}{
		{zkml.PublicWeights, 1, 45, 45}, {zkml.PublicWeights, 9000, 45, 4}, {zkml.PublicWeights, 1 << 15, 45, 2}, {zkml.PublicWeights, 1 << 15, 1, 1},
		{zkml.Committed, 9000, 45, 45},
	} {
		chain := &Chain{keys: slices.Repeat([]*zkml.VerifyingKey{key(c.mode, c.rows)}, c.parts)}
		if got := chain.atOnce(); got != c.want {
			t.Errorf("mode %v, %d rows: %d of %d parts at once, want %d", c.mode, c.rows, got, c.parts, c.want)
		}
	}
}

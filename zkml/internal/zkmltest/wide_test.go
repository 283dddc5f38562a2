package zkmltest

import (
	"fmt"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// TestWide sees that the random programs have every operation, are as large as
// they should be, and give the same values over the padded layout.
func TestWide(t *testing.T) {
	kinds := map[string]int{}
	const seeds = 200
	for seed := range uint64(seeds) {
		c := Wide(seed)
		values, err := graph.RunPadded(c.Program, c.Weights, c.X)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		real, err := graph.Run(c.Program, c.Weights, c.X)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		for i := range real {
			if got := graph.Unpad(c.Program.Tensors[i].Shape, values[i]); fmt.Sprint(got) != fmt.Sprint(real[i]) {
				t.Fatalf("%s: tensor %q is %v, over the padded layout %v", c.Name, c.Program.Tensors[i].Name, real[i], got)
			}
		}
		for _, op := range c.Program.Ops {
			kinds[op.Kind().String()]++
			if e, ok := op.(graph.Einsum); ok {
				r := e.Roles()
				kinds[fmt.Sprintf("einsum: batch %t sum %t two %t", len(r.Batch) > 0, len(r.Sum) > 0, e.B != graph.None)]++
				if e.A == e.B {
					kinds["einsum: square"]++
				}
			}
		}
		if len(c.Program.Outputs) > 1 {
			kinds["outputs"]++
		}
		if len(c.Program.Inputs) > 1 {
			kinds["inputs"]++
		}
	}
	for _, want := range []string{"linear", "lookup", "reshape", "einsum", "pair", "threshold", "rearrange", "embed", "outputs", "inputs", "einsum: square",
		"einsum: batch true sum true two true", "einsum: batch true sum false two true", "einsum: batch false sum true two true",
		"einsum: batch false sum false two true", "einsum: batch false sum true two false", "einsum: batch false sum false two false"} {
		if kinds[want] < seeds/20 {
			t.Errorf("%d of %s in %d programs", kinds[want], want, seeds)
		}
	}
}

package zkml

import (
	"fmt"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
)

// Mock runs the program without a proof and returns its outputs, one after the
// other. It confirms
// what a proof would rely on: the values over the padded layout stay within
// the bounds and agree with the values over the real shapes.
func Mock(p *graph.Program, w *graph.Weights, x []int32) ([]int32, error) {
	if err := given.Check(given.Arg{Name: "program", Given: p != nil}, given.Arg{Name: "weights", Given: w != nil}); err != nil {
		return nil, fmt.Errorf("zkml: mock: %w", err)
	}
	real, err := graph.Run(p, w, x)
	if err != nil {
		return nil, fmt.Errorf("zkml: mock: %w", err)
	}
	padded, err := graph.RunPadded(p, w, x)
	if err != nil {
		return nil, fmt.Errorf("zkml: mock: padded layout: %w", err)
	}
	for id := range real {
		got := graph.Unpad(p.Tensors[id].Shape, padded[id])
		for i, v := range real[id] {
			if got[i] != v {
				return nil, fmt.Errorf("zkml: mock: tensor %q: element %d is %d, over the padded layout %d", p.Tensors[id].Name, i, v, got[i])
			}
		}
	}
	return p.OutputOf(real), nil
}

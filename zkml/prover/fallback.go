package prover

import (
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// interpret runs a program that has operations without kernels.
func (s *session) interpret(p *graph.Program) error {
	var x []int32
	for _, id := range p.Inputs {
		v, err := s.polys[id].Read(s.q)
		if err != nil {
			return err
		}
		for _, w := range graph.Unpad(p.Tensor(id).Shape, v) {
			x = append(x, signed(w))
		}
	}
	values, err := graph.RunPadded(p, s.pk.weights, x)
	if err != nil {
		return err
	}
	for id, v := range values {
		if k := p.Tensors[id].Kind; k == graph.Column || k == graph.Virtual {
			if err := s.polys[id].CopyFrom(s.q, plan.Embed(v)); err != nil {
				return err
			}
		}
	}
	return nil
}

// plain says whether there are kernels for all operations.
func plain(p *graph.Program) bool {
	for _, op := range p.Ops {
		switch op.(type) {
		case graph.MatMul, graph.Linear, graph.Lookup, graph.Reshape:
		default:
			return false
		}
	}
	return true
}

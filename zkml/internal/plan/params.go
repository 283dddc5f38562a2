package plan

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Embed is the integers modulo p, negative ones as p-|v|.
func Embed(v []int32) []m31.Element {
	out := make([]m31.Element, len(v))
	const size = 1 << 16
	parallel((len(v)+size-1)/size, func(i int) {
		for k := i * size; k < min(len(v), (i+1)*size); k++ {
			out[k] = m31.FromInt(int64(v[k]))
		}
	})
	return out
}

// StackParams is the stack of the parameters: every tensor zero-padded, at its
// block's offset. p is the plan of the program, or of its weights.
func (p *Plan) StackParams(program *graph.Program, w *graph.Weights) []m31.Element {
	s := &p.Stacks[Parameters]
	if s.Empty() {
		return nil
	}
	out := make([]m31.Element, 1<<s.Vars)
	ids := program.Params()
	for i, k := range s.Ordered() { // parameters are numbered in the same order
		t := program.Tensor(ids[i])
		copy(out[p.Polys[k].Offset:], Embed(graph.Pad(t.Shape, w.Of(ids[i]))))
	}
	return out
}

package chunks

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Plan chooses where to cut a program so that no part has more than limit committed entries: padded parameters, and padded columns. Among the
// places that the limit leaves it takes one with the fewest values at the boundary, in the last quarter of what fits. It returns positions for
// Cut, none if everything fits one part.
func Plan(p *graph.Program, limit int64) ([]int, error) {
	cross := crossing(p)
	var before []int
	for first := 0; first < len(p.Ops); {
		end, size := fill(p, first, limit)
		if end == first {
			return nil, fmt.Errorf("operation %d (%s) alone needs %d committed entries, the limit is %d", first, p.Ops[first].Kind(), size, limit)
		}
		if end == len(p.Ops) {
			break
		}
		best := -1
		for at := end; at > first && (at > end-(end-first)/4 || best < 0); at-- {
			if cross[at] >= 0 && (best < 0 || cross[at] < cross[best]) {
				best = at
			}
		}
		if best < 0 {
			return nil, fmt.Errorf("no boundary between operations %d and %d can be public", first, end)
		}
		before = append(before, best)
		first = best
	}
	return before, nil
}

// fill returns the end of the longest run of operations within the limit, and the size of the run with one more.
func fill(p *graph.Program, first int, limit int64) (end int, size int64) {
	params := map[graph.TensorID]bool{}
	for end = first; end < len(p.Ops); end++ {
		op := p.Ops[end]
		for _, id := range slices.Concat(op.Inputs(), op.Outputs()) {
			t := p.Tensor(id)
			if t.Kind == graph.Column && slices.Contains(op.Outputs(), id) || t.Kind == graph.Param && !params[id] {
				params[id] = params[id] || t.Kind == graph.Param
				size += int64(1) << graph.Vars(t.Shape)
			}
		}
		if size > limit {
			return end, size
		}
	}
	return end, size
}

// crossing returns, for a cut before each operation, the number of values that would cross it; -1 where one of them cannot be an input.
func crossing(p *graph.Program) []int {
	last := make([]int, len(p.Tensors))
	for i, op := range p.Ops {
		for _, id := range op.Inputs() {
			last[id] = i
		}
	}
	count := make([]int, len(p.Ops)+1)
	for i, op := range p.Ops {
		for _, id := range op.Outputs() {
			t := p.Tensor(id)
			for at := i + 1; at <= last[id]; at++ {
				if t.Lo > 0 || t.Hi < 0 {
					count[at] = -1
				} else if count[at] >= 0 {
					count[at] += t.Len()
				}
			}
		}
	}
	return count
}

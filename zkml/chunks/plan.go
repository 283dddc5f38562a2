package chunks

import (
	"fmt"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// Plan chooses where to cut a program so that no part has more than limit committed entries: padded parameters, and padded columns. However large the
// limit is, every part is one that can be proved: neither its parameters nor its columns nor the leaves of its lookups exceed 2^29. Among the
// places that these limits leave it takes one with the fewest values at the boundary, in the last quarter of what fits. It returns positions for
// Cut, none if everything fits one part.
func Plan(p *graph.Program, limit int64) ([]int, error) {
	cross := crossing(p)
	var before []int
	for first := 0; first < len(p.Ops); {
		end, size := fill(p, first, limit)
		if end == first {
			return nil, fmt.Errorf("operation %d (%s) alone needs %s, the limit is %d committed entries in all and 2^%d of each kind", first, p.Ops[first].Kind(), size, limit, plan.MaxVars)
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

// size is what a run of operations commits to and looks up.
type size struct {
	params, columns int64 // padded entries
	leaves          int64 // of the lookups, tables included
	limbs           int64 // leaves of the proof that the parameters are within their bounds
}

func (s *size) String() string {
	return fmt.Sprintf("%d committed entries of parameters, %d of columns and %d leaves", s.params, s.columns, s.leaves)
}

func (s *size) fits(limit int64) bool {
	const most = 1 << plan.MaxVars
	return s.params+s.columns <= limit && max(s.params, s.columns, s.leaves, s.limbs) <= most
}

// fill returns the end of the longest run of operations within the limits, and the size of the run with one more.
func fill(p *graph.Program, first int, limit int64) (end int, s *size) {
	s = &size{limbs: 1 << 17} // the tables for the bounds of parameters have at most 2^16 rows, and then at most as many again
	params, tables, ranges := map[graph.TensorID]bool{}, map[int]bool{}, map[uint8]bool{}
	for end = first; end < len(p.Ops); end++ {
		op := p.Ops[end]
		for _, id := range op.Inputs() {
			if t := p.Tensor(id); t.Kind == graph.Param && !params[id] {
				params[id] = true
				n := int64(1) << graph.Vars(t.Shape)
				s.params += n
				s.limbs += n * int64(plan.LimbCount(t))
			}
		}
		for _, id := range op.Outputs() {
			if t := p.Tensor(id); t.Kind == graph.Column {
				s.columns += int64(1) << graph.Vars(t.Shape)
			}
		}
		rows := func(bits uint8) {
			if !ranges[bits] {
				ranges[bits] = true
				s.leaves += int64(1) << bits
			}
		}
		lookups := func(x graph.TensorID, blocks int64) { s.leaves += blocks << graph.Vars(p.Tensor(x).Shape) }
		switch op := op.(type) {
		case graph.Lookup:
			if lookups(op.X, 1); op.Shift > 0 {
				lookups(op.X, 1)
				rows(op.Shift)
			}
		case graph.Pair:
			lookups(op.Y, 1)
		case graph.Threshold:
			lookups(op.X, 5)
			rows(14)
			rows(16)
		}
		if k, ok := graph.TableOf(op); ok && !tables[k] {
			tables[k] = true
			s.leaves += int64(p.Tables[k].Rows())
		}
		if !s.fits(limit) {
			return end, s
		}
	}
	return end, s
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

package plan

import (
	"sort"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// stack places polynomials of one home, by their numbers, and returns the
// stack. Offsets are written into polys.
func stack(home Home, polys []Poly) Stack {
	s := Stack{Home: home}
	for i := range polys {
		if polys[i].Home == home {
			s.Polys = append(s.Polys, i)
		}
	}
	if s.Empty() {
		return s
	}
	sort.SliceStable(s.Polys, func(a, b int) bool { return polys[s.Polys[a]].Vars > polys[s.Polys[b]].Vars })
	end := 0
	for _, i := range s.Polys {
		polys[i].Offset = end
		end += 1 << polys[i].Vars
	}
	s.Vars = max(graph.Log2(end), MinStackVars)
	return s
}

// MinStackVars is the least number of variables of a commitment.
const MinStackVars = 2

// place orders leaf blocks, large first and ties in the order given, and
// returns the depth of the tree.
func place(leaves []Leaves) int {
	sort.SliceStable(leaves, func(a, b int) bool { return leaves[a].Vars > leaves[b].Vars })
	end := 0
	for i := range leaves {
		leaves[i].Offset = end
		end += 1 << leaves[i].Vars
	}
	return graph.Log2(end)
}

// Ordered is the stack's polynomials in the order of their numbers.
func (s *Stack) Ordered() []int {
	out := append([]int(nil), s.Polys...)
	sort.Ints(out)
	return out
}

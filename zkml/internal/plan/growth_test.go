package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// TestLimits plans programs whose plans would be far larger than they are.
func TestGrowth(t *testing.T) {
	ones := func(n int) []graph.Term {
		terms := make([]graph.Term, n)
		for k := range terms {
			terms[k] = graph.Term{Coef: 1 - int64(k%2)*2}
		}
		return terms
	}
	tests := map[string]struct{ chain, summands, points int }{
		"summands":    {1 + MaxTerms/graph.MaxTerms, graph.MaxTerms, 1},
		"evaluations": {MaxEvals / 5, 2, 6},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			b := graph.NewBuilder(name)
			x := b.Input("x", []int{1 << 6, 1}, 0, 1, 1)
			v, terms := x, ones(c.summands)
			for i := range c.chain {
				terms[0].T = v
				for k := range terms[1:] {
					terms[1+k].T = x
				}
				v = b.Linear(fmt.Sprintf("v%d", i), terms, 0, 1)
			}
			// Products over axes of every length use v at as many points.
			out := b.Linear("out", []graph.Term{{Coef: 1, T: v}}, 0, 1)
			for k := range c.points {
				r := b.Reshape(fmt.Sprintf("r%d", k), v, []int{1 << (6 - k), 1 << k})
				w := b.Param(fmt.Sprintf("w%d", k), []int{1 << k, 1 << k}, make([]int32, 1<<(2*k)), 1)
				m := b.MatMul(fmt.Sprintf("m%d", k), r, w, false, 1)
				out = b.Linear(fmt.Sprintf("o%d", k), []graph.Term{{Coef: 1, T: out}, {Coef: 1, T: b.Reshape(fmt.Sprintf("f%d", k), m, []int{1 << 6, 1})}}, 0, 1)
			}
			p, _, err := b.Build(out, graph.NoPost, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ForProgram(p, Commits{}); err == nil || !strings.Contains(err.Error(), "too many uses") {
				t.Errorf("planned: %v", err)
			}
		})
	}
}

// TestMoved plans rearrangements back and forth, which cost a verifier time
// and a key nothing.
func TestMoved(t *testing.T) {
	b := graph.NewBuilder("moved")
	shapes := [2][]int{{3, 1 << 20}, {1 << 20, 3}}
	v := b.Input("x", shapes[0], 0, 1, 1)
	for i := range 1 + MaxMoved/(3<<20) {
		v = b.Reshape("r", v, shapes[(i+1)%2])
	}
	p, _, err := b.Build(v, graph.NoPost, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ForProgram(p, Commits{}); err == nil || !strings.Contains(err.Error(), "public maps") {
		t.Errorf("planned: %v", err)
	}
}

// TestRead plans programs in which an input is added after every rearrangement
// of one pair, so that a verifier evaluates it at another point each time.
func TestRead(t *testing.T) {
	make := func(steps int) error {
		b := graph.NewBuilder("read")
		x := b.Input("x", []int{1 << 20, 2}, 0, 0, 1)
		v := x
		for range steps {
			v = b.Rearrange("swapped", v, []graph.AxisMap{{Axis: 0, Shape: []int{1 << 20}}, {Axis: 1, Shape: []int{2}, Index: []int32{1, 0}}}, nil)
			v = b.Linear("sum", []graph.Term{{Coef: 1, T: v}, {Coef: 1, T: x}}, 0, 1)
		}
		p, _, err := b.Build(v, graph.NoPost, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ForProgram(p, Commits{})
		return err
	}
	const most = MaxRead >> 21 // evaluations: one a step, and one at the end
	if err := make(most - 1); err != nil {
		t.Error(err)
	}
	if err := make(most); err == nil || !strings.Contains(err.Error(), "inputs: 513 evaluations") {
		t.Errorf("planned: %v", err)
	}
}

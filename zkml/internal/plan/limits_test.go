package plan

import (
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// TestLimits refuses plans whose counts could come near the characteristic.
func TestLimits(t *testing.T) {
	if 1<<MaxVars >= 1<<31-1 {
		t.Error("counts of lookups can wrap around")
	}
	for name, p := range map[string]*Plan{
		"tree":        {TreeVars: MaxVars + 1},
		"stack":       {Stacks: []Stack{{Home: Witness, Vars: MaxVars + 1}}},
		"tensor":      {Polys: []Poly{{Name: "x", Vars: MaxVars + 1}}},
		"evaluations": {Evals: make([]Eval, MaxEvals+1)},
	} {
		if p.check() == nil {
			t.Errorf("a plan with too large a %s passes", name)
		}
	}
	if err := (&Plan{TreeVars: MaxVars}).check(); err != nil {
		t.Error(err)
	}
}

// TestEntangled plans a program whose virtual tensors are each used twice, at
// every step. Sum-checks of a layer share their challenges, so points coincide
// and evaluations grow with the square of the steps, not with a power of two.
func TestEntangled(t *testing.T) {
	b := graph.NewBuilder("entangled")
	x := b.Input("x", []int{2, 2}, 0, 0, 1) // so that bounds do not grow
	w := b.Param("w", []int{2, 2}, []int32{1, 0, 0, 1}, 1)
	// Each step uses its predecessor both as it is and multiplied.
	for range 20 {
		h := b.MatMul("h", x, w, false, 1)
		x = b.Linear("s", []graph.Term{{Coef: 1, T: h}, {Coef: -1, T: x}}, 0, 1)
	}
	p, _, err := b.Build(x, graph.Post{Axis: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	q, err := ForProgram(p, Commits{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(q.Evals); n > 1000 {
		t.Errorf("%d evaluations", n)
	}
}

// TestValues refuses values out of order.
func TestValues(t *testing.T) {
	v := NewValues(&Plan{Coords: 1, Evals: make([]Eval, 2), Polys: []Poly{{Name: "x"}}})
	if _, err := v.Get(1); err == nil {
		t.Error("an evaluation that is not known can be used")
	}
	if v.Complete() == nil {
		t.Error("a run with nothing known is complete")
	}
	one, two := one, one.Double()
	if err := v.Set(0, one); err != nil {
		t.Fatal(err)
	}
	if err := v.Set(0, one); err != nil {
		t.Error(err)
	}
	if v.Set(0, two) == nil {
		t.Error("an evaluation can change")
	}
}

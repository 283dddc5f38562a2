package chunks

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// outputs runs the parts one after the other.
func outputs(t *testing.T, p *graph.Program, c *Cutting, x []int32) []int32 {
	t.Helper()
	given := p.SplitInput(x)
	var made [][][]int32
	at := func(s Source) []int32 {
		if s.Part < 0 {
			return given[s.Index]
		}
		return made[s.Part][s.Index]
	}
	for k, part := range c.Parts {
		var in []int32
		for _, s := range part.Inputs {
			in = append(in, at(s)...)
		}
		values, err := graph.Run(part.Program, part.Weights, in)
		if err != nil {
			t.Fatalf("part %d: %v", k, err)
		}
		made = append(made, part.Program.SplitOutput(part.Program.OutputOf(values)))
	}
	var y []int32
	for _, s := range c.Outputs {
		y = append(y, at(s)...)
	}
	return y
}

// TestCut cuts programs of all kinds at every place, and at many at once, and runs the parts.
func TestCut(t *testing.T) {
	cases := []*zkmltest.Case{zkmltest.Every(13), zkmltest.Decoder(2, 4, 8, 2, true)}
	for seed := range uint64(20) {
		cases = append(cases, zkmltest.Wide(300+seed))
	}
	cuts := 0
	for _, c := range cases {
		values, err := graph.Run(c.Program, c.Weights, c.X)
		if err != nil {
			t.Fatal(err)
		}
		want := c.Program.OutputOf(values)
		cross := crossing(c.Program)
		var all []int
		try := func(before []int) {
			cutting, err := Cut(c.Program, c.Weights, before)
			if err != nil {
				t.Fatalf("%s before %v: %v", c.Name, before, err)
			}
			if got := outputs(t, c.Program, cutting, c.X); !slices.Equal(got, want) {
				t.Errorf("%s before %v: another result", c.Name, before)
			}
			cuts++
		}
		for at := 1; at < len(c.Program.Ops); at++ {
			if cross[at] < 0 {
				_, err := Cut(c.Program, c.Weights, []int{at})
				if err == nil || !strings.Contains(err.Error(), "must be able to be 0") {
					t.Errorf("%s before %d: %v", c.Name, at, err)
				}
				continue
			}
			all = append(all, at)
			if len(c.Program.Ops) < 60 || at%5 == 0 {
				try([]int{at})
			}
		}
		try(all)
		try(nil)
	}
	if cuts < 100 {
		t.Errorf("%d cuts were tried", cuts)
	}
}

func TestCutErrors(t *testing.T) {
	c := zkmltest.Every(13)
	for _, before := range [][]int{{0}, {len(c.Program.Ops)}, {3, 3}, {4, 2}, {-1}} {
		if _, err := Cut(c.Program, c.Weights, before); err == nil || !strings.Contains(err.Error(), "increasing positions") {
			t.Errorf("before %v: %v", before, err)
		}
	}
}

// TestPlan sees that parts stay within the limit and that boundaries are narrow.
func TestPlan(t *testing.T) {
	c := zkmltest.Decoder(4, 4, 16, 2, true)
	whole, _ := fillAll(c.Program)
	for _, limit := range []int64{whole, whole / 2, whole / 4} {
		before, err := Plan(c.Program, limit, nil)
		if err != nil {
			t.Fatal(err)
		}
		if limit == whole && len(before) > 0 {
			t.Errorf("cut before %v although everything fits", before)
		}
		if limit < whole && len(before) < int(whole/limit)-1 {
			t.Errorf("%d cuts for a limit of 1/%d", len(before), whole/limit)
		}
		cutting, err := Cut(c.Program, c.Weights, before)
		if err != nil {
			t.Fatal(err)
		}
		for k, part := range cutting.Parts {
			if size, _ := fillAll(part.Program); size > limit {
				t.Errorf("part %d has %d entries, the limit is %d", k, size, limit)
			}
		}
	}
	if _, err := Plan(c.Program, 1, nil); err == nil || !strings.Contains(err.Error(), "alone needs") {
		t.Errorf("a limit of 1: %v", err)
	}
}

// fillAll returns the committed entries of a program.
func fillAll(p *graph.Program) (int64, int) {
	total := int64(0)
	for i := range p.Tensors {
		if t := &p.Tensors[i]; t.Kind == graph.Param || t.Kind == graph.Column {
			total += int64(1) << graph.Vars(t.Shape)
		}
	}
	return total, len(p.Tensors)
}

// TestPlanLimits plans programs whose columns, leaves or parameters are too many for one proof, though a caller sets no limit; none of them has
// values. Sizes are compared with those that proofs will have.
func TestPlanLimits(t *testing.T) {
	b := graph.NewBuilder("wide")
	x := b.Input("x", []int{1 << 14, 1 << 12}, 0, 3, 1)
	table := b.Table("t", 4, make([]int32, 16))
	for i := range 12 {
		x = b.Lookup(fmt.Sprintf("y%d", i), b.Linear(fmt.Sprintf("s%d", i), []graph.Term{{Coef: 1, T: x}}, -1, 1), 0, table, 1)
	}
	wide, _, err := b.Build(x, graph.NoPost, nil)
	if err != nil {
		t.Fatal(err)
	}
	before, err := Plan(wide, 1<<60, nil)
	if err != nil {
		t.Fatal(err)
	}
	// 2^26 leaves each, and a table of 16 rows: seven lookups fit.
	if len(before) != 1 || before[0] > 15 || before[0] < 10 {
		t.Errorf("12 lookups of 2^26 entries are cut before the operations %v", before)
	}
	for _, c := range []*zkmltest.Case{zkmltest.Every(3), zkmltest.Odd(2), zkmltest.Decoder(1, 4, 8, 2, true), zkmltest.Tour(1)} {
		pl, err := plan.ForProgram(c.Program, plan.Commits{})
		if err != nil {
			t.Fatal(err)
		}
		end, s, _ := fill(c.Program, 0, 1<<60, nil)
		leaves := int64(0)
		for _, l := range pl.Leaves {
			leaves += 1 << l.Vars
		}
		words := func(h plan.Home) (n int64) {
			for _, k := range pl.Stacks[h].Polys {
				n += 1 << pl.Polys[k].Vars
			}
			return n
		}
		if end != len(c.Program.Ops) || s.leaves != leaves || s.columns != words(plan.Witness) || s.params != words(plan.Parameters) {
			t.Errorf("%s: %v, expected %d leaves, %d and %d entries", c.Name, s, leaves, words(plan.Parameters), words(plan.Witness))
		}
	}
	// Committed inputs have limbs and leaves.
	for _, c := range []*zkmltest.Case{zkmltest.Every(3), zkmltest.Odd(2), zkmltest.Decoder(1, 4, 8, 2, true), zkmltest.Tour(1)} {
		p := c.Program
		var all plan.Commits
		for i := range p.Inputs {
			all.Inputs = append(all.Inputs, i)
		}
		for i := range p.Outputs {
			all.Outputs = append(all.Outputs, i)
		}
		pl, err := plan.ForProgram(p, all)
		if err != nil {
			t.Fatal(err)
		}
		end, s, beyond := fill(p, 0, 1<<60, endsToCommit(p, &Committing{Inputs: p.Inputs, Outputs: p.Outputs, Boundaries: true}))
		leaves, witness := int64(0), int64(0)
		for _, l := range pl.Leaves {
			leaves += 1 << l.Vars
		}
		for _, k := range pl.Stacks[plan.Witness].Polys {
			witness += 1 << pl.Polys[k].Vars
		}
		if end != len(p.Ops) || s.leaves != leaves || s.columns+s.ends != witness || s.tensors != len(pl.Committed) || beyond[end] {
			t.Errorf("%s: %v, expected %d leaves, %d entries of columns and limbs of %d tensors", c.Name, s, leaves, witness, len(pl.Committed))
		}
	}
	// Seven lookups fit, but not with the input's.
	for _, c := range []*Committing{nil, {Inputs: wide.Inputs, Boundaries: true}} {
		before, err := Plan(wide, 1<<60, c)
		if err != nil {
			t.Fatal(err)
		}
		cutting, err := Cut(wide, graph.NewWeights(wide), before)
		if err != nil {
			t.Fatal(err)
		}
		cutting.CommitBoundaries()
		if err := cutting.CommitInput("x"); err != nil {
			t.Fatal(err)
		}
		for k, part := range cutting.Parts {
			if _, err := plan.ForProgram(part.Program, part.Commits); (err != nil) != (c == nil && k == 0) {
				t.Errorf("planned for %v, part %d of %d: %v", c, k+1, len(cutting.Parts), err)
			}
		}
	}
}

// TestPlanHanded plans a program that has 70 tensors between its halves, of which a proof can commit to 64, and fewer elsewhere.
func TestPlanHanded(t *testing.T) {
	b := graph.NewBuilder("handed")
	x := b.Input("x", []int{4}, 0, 3, 1)
	table := b.Table("t", 4, make([]int32, 16))
	sum := func(ids []graph.TensorID) graph.TensorID {
		var terms []graph.Term
		for _, id := range ids {
			terms = append(terms, graph.Term{Coef: 1, T: id})
		}
		return b.Lookup("y", b.Linear("sum", terms, 0, 1), 0, table, 1)
	}
	for range 3 {
		var wide []graph.TensorID
		for range 70 {
			wide = append(wide, b.Lookup("y", x, 0, table, 1))
		}
		x = sum(wide)
	}
	p, w, err := b.BuildAll([]graph.TensorID{x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for limit, c := range map[int64]*Committing{4 * 68: nil, 4 * 67: {Boundaries: true}, 4 * 69: {Boundaries: true}} {
		before, err := Plan(p, limit, c)
		if err != nil || len(before) < 3 {
			t.Fatalf("cut before %v: %v", before, err)
		}
		cutting, err := Cut(p, w, before)
		if err != nil {
			t.Fatal(err)
		}
		cutting.CommitBoundaries()
		refused := 0
		for _, part := range cutting.Parts {
			if _, err := plan.ForProgram(part.Program, part.Commits); err != nil {
				refused++
			}
		}
		if (refused > 0) != (c == nil) {
			t.Errorf("%d of %d parts are refused, cut before %v for %v", refused, len(cutting.Parts), before, c)
		}
	}
}

package graph

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestValidateRejectsOperations breaks the program of composed in one place at a time.
func TestValidateRejectsOperations(t *testing.T) {
	// Operations of composed: 0 embed, 1 einsum, 2 rearrange, 3 pair, 4 einsum, 5 threshold, 6 linear. Tables: 0 binary, 1 steps.
	change := func(i int, f func(p *Program, op Op) Op) func(p *Program) {
		return func(p *Program) { p.Ops[i] = f(p, p.Ops[i]) }
	}
	einsum := func(i int, f func(o *Einsum)) func(p *Program) {
		return change(i, func(_ *Program, op Op) Op { o := op.(Einsum); f(&o); return o })
	}
	rearrange := func(f func(o *Rearrange)) func(p *Program) {
		return change(2, func(_ *Program, op Op) Op { o := op.(Rearrange).clone(); f(&o); return o })
	}
	pair := func(f func(o *Pair)) func(p *Program) {
		return change(3, func(_ *Program, op Op) Op { o := op.(Pair); f(&o); return o })
	}
	threshold := func(f func(o *Threshold)) func(p *Program) {
		return change(5, func(_ *Program, op Op) Op { o := op.(Threshold); f(&o); return o })
	}
	tensor := func(p *Program, name string) TensorID {
		return TensorID(slices.IndexFunc(p.Tensors, func(t Tensor) bool { return t.Name == name }))
	}
	cases := []struct {
		name, want string
		change     func(p *Program)
	}{
		{"input not listed", "1 inputs listed", func(p *Program) { p.Inputs = p.Inputs[:1] }},
		{"input listed twice", "listed twice", func(p *Program) { p.Inputs[1] = p.Inputs[0] }},
		{"input that is a parameter", "kind input", func(p *Program) { p.Inputs[1] = tensor(p, "rows") }},
		{"input that does not exist", "kind input", func(p *Program) { p.Inputs[1] = 1000 }},
		{"no output", "no output", func(p *Program) { p.Outputs = nil }},
		{"output twice", "listed twice", func(p *Program) { p.Outputs[1] = p.Outputs[0] }},
		{"last step of two outputs", "2 outputs", func(p *Program) { p.Post = Post{Kind: PostArgMax, Axis: 0, Span: 1} }},

		{"missing label", "labels for", einsum(1, func(o *Einsum) { o.AL = o.AL[:1] })},
		{"label twice", "twice", einsum(1, func(o *Einsum) { o.AL = []uint8{3, 3} })},
		{"label twice in the second", "twice", einsum(1, func(o *Einsum) { o.BL = []uint8{3, 3} })},
		{"label twice in the result", "twice", einsum(1, func(o *Einsum) { o.OL = []uint8{19, 19} })},
		{"large label", "less than 26", einsum(1, func(o *Einsum) { o.AL = []uint8{19, 26} })},
		{"extents", "label d is", einsum(1, func(o *Einsum) { o.BL = []uint8{3, 19} })},
		{"result label of nothing", "no operand", einsum(1, func(o *Einsum) { o.OL = []uint8{19, 0} })},
		{"summed in one operand", "one operand only", einsum(1, func(o *Einsum) { o.OL = o.OL[:1] })},
		{"labels without operand", "that there is not", einsum(4, func(o *Einsum) { o.BL = []uint8{1} })},
		{"all parameters", "no operand is computed", func(p *Program) {
			einsum(1, func(o *Einsum) { o.A, o.B = tensor(p, "rows"), tensor(p, "rows") })(p)
		}},
		{"einsum bounds", "has bounds", func(p *Program) { p.Tensors[tensor(p, "scores")].Hi-- }},
		{"einsum shape", "has shape", func(p *Program) { p.Tensors[tensor(p, "scores")].Shape = []int{9} }},

		{"map missing", "maps for", rearrange(func(o *Rearrange) { o.Maps = o.Maps[:2] })},
		{"axis twice", "one for each", rearrange(func(o *Rearrange) { o.Maps[1].Axis = 2 })},
		{"axis that is not there", "one for each", rearrange(func(o *Rearrange) { o.Maps[0].Axis = 3 })},
		{"negative axis", "one for each", rearrange(func(o *Rearrange) { o.Maps[0].Axis = -1 })},
		{"entry too large", "expected -1 to 4", rearrange(func(o *Rearrange) { o.Maps[0].Index[0] = 5 })},
		{"entry too small", "expected -1 to 4", rearrange(func(o *Rearrange) { o.Maps[0].Index[0] = -2 })},
		{"entries missing", "5 entries", rearrange(func(o *Rearrange) { o.Maps[0].Index = o.Maps[0].Index[:5] })},
		{"extent of an axis as it is", "without an index", rearrange(func(o *Rearrange) { o.Maps[1].Shape[0] = 4 })},
		{"empty axis of a map", "outside", rearrange(func(o *Rearrange) { o.Maps[0].Shape = []int{0, 2} })},
		{"permutation too short", "permutation", rearrange(func(o *Rearrange) { o.Perm = o.Perm[:2] })},
		{"permutation with an axis twice", "permutation", rearrange(func(o *Rearrange) { o.Perm = []int{0, 0, 1} })},
		{"permutation too large", "permutation", rearrange(func(o *Rearrange) { o.Perm = []int{3, 0, 1} })},
		{"identity spelt out", "permutation", rearrange(func(o *Rearrange) { o.Perm = []int{0, 1, 2} })},
		{"other permutation", "has shape", rearrange(func(o *Rearrange) { o.Perm = []int{1, 0, 2} })},
		{"parameter rearranged", "is a parameter", func(p *Program) { rearrange(func(o *Rearrange) { o.X = tensor(p, "rows") })(p) }},

		{"pair of two shapes", "has shape", func(p *Program) { pair(func(o *Pair) { o.A = tensor(p, "x") })(p) }},
		{"pair of parameters", "one must be computed", func(p *Program) {
			pair(func(o *Pair) { o.A, o.B = tensor(p, "rows"), tensor(p, "rows") })(p)
		}},
		{"pair in a table of steps", "table \"steps\" is steps", pair(func(o *Pair) { o.Table = 1 })},
		{"pair in no table", "does not exist", pair(func(o *Pair) { o.Table = -1 })},
		{"first domain", "can leave the 3 bits", func(p *Program) { p.Tables[0].Bits, p.Tables[0].Bits2 = 3, 5 }},
		{"second domain", "can leave the 3 bits", func(p *Program) { p.Tables[0].Bits, p.Tables[0].Bits2 = 5, 3 }},

		{"threshold of a parameter", "is a parameter", func(p *Program) { threshold(func(o *Threshold) { o.X = tensor(p, "rows") })(p) }},
		{"threshold in a binary table", "is binary", threshold(func(o *Threshold) { o.Table = 0 })},
		{"channels along no axis", "has 3 channels", threshold(func(o *Threshold) { o.Axis = -1 })},
		{"axis", "axis 2", threshold(func(o *Threshold) { o.Axis = 2 })},
		{"axis below", "axis -2", threshold(func(o *Threshold) { o.Axis = -2 })},
		{"limb twice", "defined twice", threshold(func(o *Threshold) { o.D[1] = o.D[0] })},
		{"limbs exchanged", "has bounds", threshold(func(o *Threshold) { o.D[0], o.D[1] = o.D[1], o.D[0] })},
		{"limit", "can leave the table", func(p *Program) {
			steps := &p.Tables[1]
			steps.Limit--
			for c := range 3 {
				th := steps.Thresholds(c)
				for i := range th {
					th[i] = min(max(th[i], int32(-steps.Limit)), int32(steps.Limit)+1)
				}
			}
		}},

		{"tokens with bounds beyond the rows", "expected an input in [0, 4]", func(p *Program) { p.Tensors[0].Hi++ }},
		{"negative tokens", "expected an input in [0, 4]", func(p *Program) { p.Tensors[0].Lo-- }},
		{"rows that are computed", "expected a parameter", func(p *Program) {
			change(0, func(_ *Program, op Op) Op { o := op.(Embed); o.W = tensor(p, "x"); return o })(p)
		}},
		{"tokens that are a parameter", "kind param", func(p *Program) {
			change(0, func(_ *Program, op Op) Op { o := op.(Embed); o.Tokens = o.W; return o })(p)
		}},
		{"unknown table kind", "unknown kind", func(p *Program) { p.Tables[0].Kind = tableKinds }},
		{"binary without second bits", "1 or more each", func(p *Program) { p.Tables[0].Bits2 = 0 }},
		{"binary too large", "at most 18 together", func(p *Program) { p.Tables[0].Bits, p.Tables[0].Bits2 = 10, 9 }},
		{"binary with channels", "expected none", func(p *Program) { p.Tables[0].Channels = 1 }},
		{"binary with thresholds", "and none", func(p *Program) { p.Tables[0].Lo = []int32{1} }},
		{"steps with bits", "expected none", func(p *Program) { p.Tables[1].Bits = 1 }},
		{"steps without channels", "0 channels", func(p *Program) { p.Tables[1].Channels = 0 }},
		{"steps too large", "at most 2^18 rows", func(p *Program) { p.Tables[1].Channels = 1<<15 + 1 }},
		{"limit of 2^29", "limit", func(p *Program) { p.Tables[1].Limit = BoundLimit }},
		{"negative limit", "limit", func(p *Program) { p.Tables[1].Limit = -1 }},
		{"thresholds missing", "thresholds", func(p *Program) { p.Tables[1].Lo = p.Tables[1].Lo[1:] }},
		{"first threshold", "channel 1: thresholds from", func(p *Program) { p.Tables[1].Lo[7]++ }},
		{"last threshold", "channel 0: thresholds from", func(p *Program) { p.Tables[1].Lo[6]-- }},
		{"thresholds decrease", "decrease", func(p *Program) { p.Tables[1].Lo[1], p.Tables[1].Lo[2] = 9, 8 }},
	}
	for _, c := range cases {
		p, _, _ := composed(t)
		c.change(p)
		err := p.Validate()
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
	p, w, x := composed(t)
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	agree(t, p, w, x)
	for _, bad := range [][]int32{x[1:], append(slices.Clone(x), 0), append([]int32{5}, x[1:]...), append(slices.Clone(x[:32]), 8)} {
		if _, err := Run(p, w, bad); err == nil {
			t.Errorf("%d values, ending in %d: accepted", len(bad), bad[len(bad)-1])
		}
	}
}

// TestLargestEinsum finds the longest sum of products that compiles, runs it at both extremes, and sees one more refused.
func TestLargestEinsum(t *testing.T) {
	build := func(formula string, shape []int, lo, hi int64) (*Program, *Weights, error) {
		b := NewBuilder("wide")
		x := b.Input("x", shape, lo, hi, 1)
		y := None
		if strings.Contains(formula, ",") {
			y = b.Input("y", shape, lo, hi, 1)
		}
		return b.Build(b.Einsum("acc", formula, x, y, 1), NoPost, nil)
	}
	cases := []struct {
		formula string
		lo, hi  int64
		most    int
		extreme []int32 // values of the operands that reach it
		result  int64
	}{
		{"k,k->", -1 << 13, 1 << 13, 7, []int32{1 << 13, 1 << 13}, 7 << 26},
		{"k,k->", -1 << 13, 1 << 13, 7, []int32{1 << 13, -1 << 13}, -7 << 26},
		{"k->", -100000, 99, 5368, []int32{-100000}, -536800000},
		{"k->", -100000, 99, 5368, []int32{99}, 99 * 5368},
	}
	for _, c := range cases {
		p, w, err := build(c.formula, []int{c.most}, c.lo, c.hi)
		if err != nil {
			t.Fatal(err)
		}
		var x []int32
		for _, v := range c.extreme {
			x = append(x, slices.Repeat([]int32{v}, c.most)...)
		}
		real, _ := agree(t, p, w, x)
		if got := real[p.Outputs[0]][0]; int64(got) != c.result {
			t.Fatalf("%s of %d at the extreme: %d, expected %d", c.formula, c.most, got, c.result)
		}
		if _, _, err := build(c.formula, []int{c.most + 1}, c.lo, c.hi); err == nil || !strings.Contains(err.Error(), "2^29") {
			t.Fatalf("%s of one more: %v", c.formula, err)
		}
		if _, _, err := build(c.formula, []int{1 << 27}, c.lo, c.hi); err == nil || !strings.Contains(err.Error(), "2^29") {
			t.Fatalf("%s of far more: %v", c.formula, err)
		}
	}
}

// TestSquareBounds derives what is known of a sum of squares, which needs the factors to be one entry.
func TestSquareBounds(t *testing.T) {
	for _, c := range []struct {
		formula        string
		lo, hi         int64
		wantLo, wantHi int64
	}{
		{"ab,ab->a", -7, 5, 0, 3 * 49},
		{"ab,ab->ab", -7, 5, 0, 49},
		{"ab,ba->a", -7, 5, -3 * 35, 3 * 49}, // entries of a transpose
		{"ab,ab->a", 0, 5, 0, 75},
	} {
		b := NewBuilder("square")
		x := b.Input("x", []int{3, 3}, c.lo, c.hi, 1)
		y := b.Tensor(b.Einsum("y", c.formula, x, x, 1))
		if b.Err() != nil || y.Lo != c.wantLo || y.Hi != c.wantHi {
			t.Errorf("%s of [%d, %d]: [%d, %d], expected [%d, %d] (%v)", c.formula, c.lo, c.hi, y.Lo, y.Hi, c.wantLo, c.wantHi, b.Err())
		}
	}
}

func TestParseEinsum(t *testing.T) {
	for _, formula := range []string{"", "ab,b", "aB->a", "a b->a", "ab,b,c->a", "a->b->c"} {
		if _, _, _, err := ParseEinsum(formula); err == nil {
			t.Errorf("%q accepted", formula)
		}
		b := NewBuilder("formula")
		b.Einsum("y", formula, b.Input("x", []int{2, 2}, -1, 1, 1), None, 1)
		if b.Err() == nil {
			t.Errorf("%q built", formula)
		}
	}
}

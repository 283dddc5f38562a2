package graph

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// TestValidateRejects breaks a valid program in one place at a time.
func TestValidateRejects(t *testing.T) {
	find := func(p *Program, name string) *Tensor {
		for i := range p.Tensors {
			if p.Tensors[i].Name == name {
				return &p.Tensors[i]
			}
		}
		t.Fatalf("no tensor %q", name)
		return nil
	}
	edit := func(p *Program, i int, f func(Op) Op) { p.Ops[i] = f(p.Ops[i]) }
	// Operations of sample: 0 reshape, 1 einsum, 2 linear, 3 lookup, 4 linear, 5 lookup.
	cases := []struct {
		name, want string
		change     func(p *Program)
	}{
		{"control character in name", "printable", func(p *Program) { p.Tensors[0].Name = "a\x1b[2J" }},
		{"invalid UTF-8", "printable", func(p *Program) { p.Name = "\xff" }},
		{"long label", "label 0", func(p *Program) { p.Labels[0] = strings.Repeat("a", MaxName+1) }},
		{"unknown kind", "unknown kind", func(p *Program) { p.Tensors[0].Kind = kinds }},
		{"second input", "inputs listed", func(p *Program) { find(p, "acc").Kind = Input }},
		{"input is a parameter", "kind input", func(p *Program) { p.Inputs[0] = 1 }},
		{"zero axis", "outside", func(p *Program) { p.Tensors[0].Shape[0] = 0 }},
		{"huge shape", "padded elements", func(p *Program) { p.Tensors[0].Shape = []int{1 << 15, 1 << 14} }},
		{"rank", "rank 9", func(p *Program) { p.Tensors[0].Shape = make([]int, 9) }},
		{"empty bounds", "bounds", func(p *Program) { p.Tensors[0].Lo = 128 }},
		{"wide bounds", "2^29", func(p *Program) { p.Tensors[0].Hi = BoundLimit }},
		{"input without zero", "exclude zero", func(p *Program) { p.Tensors[0].Lo = 1 }},
		{"parameter bounds", "parameter bounds", func(p *Program) { find(p, "w").Hi-- }},
		{"wider input", "expected [", func(p *Program) { p.Tensors[0].Hi++ }},
		{"scale zero", "scale", func(p *Program) { p.Tensors[0].Scale = 0 }},
		{"scale NaN", "scale", func(p *Program) { p.Tensors[0].Scale = math.NaN() }},
		{"scale infinite", "scale", func(p *Program) { p.Tensors[0].Scale = math.Inf(1) }},
		{"claimed bound too narrow", "has bounds", func(p *Program) { find(p, "acc").Hi-- }},
		{"claimed bound too wide", "has bounds", func(p *Program) { find(p, "mm").Lo-- }},
		{"claimed kind", "has kind", func(p *Program) { find(p, "acc").Kind = Column }},
		{"claimed shape", "has shape", func(p *Program) { find(p, "acc").Shape = []int{7, 2} }},
		{"remainder bound", "has bounds", func(p *Program) { find(p, "square.rem").Hi++ }},
		{"order", "before it is defined", func(p *Program) { p.Ops[1], p.Ops[2] = p.Ops[2], p.Ops[1] }},
		{"double definition", "defined twice", func(p *Program) { p.Ops = append(p.Ops, p.Ops[5]) }},
		{"missing operation", "never", func(p *Program) { p.Ops = p.Ops[:5] }},
		{"nil operation", "unknown operation", func(p *Program) { p.Ops[2] = nil }},
		{"nil pointer operation", "unknown operation", func(p *Program) { p.Ops[2] = (*Linear)(nil) }},
		{"tensor id", "does not exist", func(p *Program) { edit(p, 1, func(o Op) Op { m := o.(Einsum); m.A = 99; return m }) }},
		{"no input", "one at least", func(p *Program) {
			p.Tensors[0].Kind, p.Tensors[0].Lo, p.Tensors[0].Hi, p.Inputs = Param, -128, 127, nil
		}},
		{"output id", "does not exist", func(p *Program) { p.Outputs[0] = -1 }},
		{"output is the input", "must compute", func(p *Program) { p.Outputs[0] = p.Inputs[0] }},
		{"transposition", "label", func(p *Program) {
			edit(p, 1, func(o Op) Op { m := o.(Einsum); m.BL = []uint8{m.BL[1], m.BL[0]}; return m })
		}},
		{"weight as activation", "no operand is computed", func(p *Program) { edit(p, 1, func(o Op) Op { m := o.(Einsum); m.A, m.AL = m.B, m.BL; return m }) }},
		{"no terms", "0 terms", func(p *Program) { edit(p, 4, func(o Op) Op { return Linear{Out: o.(Linear).Out} }) }},
		{"zero coefficient", "coefficient", func(p *Program) { p.Ops[4].(Linear).Terms[0].Coef = 0 }},
		{"huge coefficient", "coefficient", func(p *Program) { p.Ops[4].(Linear).Terms[0].Coef = BoundLimit }},
		{"linear overflow", "2^29", func(p *Program) { p.Ops[2].(Linear).Terms[0].Coef = 1 << 20 }},
		{"huge constant", "constant", func(p *Program) { edit(p, 4, func(o Op) Op { l := o.(Linear); l.Const = -BoundLimit; return l }) }},
		{"broadcast", "broadcast", func(p *Program) { p.Ops[2].(Linear).Terms[1].T = p.Ops[1].(Einsum).B }},
		{"only parameters", "all terms", func(p *Program) {
			edit(p, 2, func(o Op) Op { l := o.(Linear); l.Terms = l.Terms[1:]; return l })
		}},
		{"shift too small", "can leave", func(p *Program) {
			edit(p, 3, func(o Op) Op { l := o.(Lookup); l.Shift = 7; return l })
		}},
		{"shift above 16", "expected a shift", func(p *Program) {
			edit(p, 3, func(o Op) Op { l := o.(Lookup); l.Shift = 17; return l })
		}},
		{"remainder without shift", "remainder", func(p *Program) {
			edit(p, 3, func(o Op) Op { l := o.(Lookup); l.Rem = None; return l })
		}},
		{"table id", "table 2", func(p *Program) {
			edit(p, 3, func(o Op) Op { l := o.(Lookup); l.Table = 2; return l })
		}},
		{"table id negative", "table -1", func(p *Program) {
			edit(p, 3, func(o Op) Op { l := o.(Lookup); l.Table = -1; return l })
		}},
		{"table rows", "rows", func(p *Program) { p.Tables[0].Y = p.Tables[0].Y[1:] }},
		{"table bits", "bits", func(p *Program) { p.Tables[0].Bits = 19 }},
		{"table range", "span", func(p *Program) { p.Tables[0].YHi++ }},
		{"clamp with values", "as a clamp", func(p *Program) { p.Tables[1].Y = p.Tables[0].Y }},
		{"clamp of pairs", "as a clamp", func(p *Program) { p.Tables[1].Kind, p.Tables[1].Bits, p.Tables[1].Bits2 = Binary, 9, 9 }},
		{"clamp with thresholds", "thresholds", func(p *Program) { p.Tables[1].Lo = []int32{1} }},
		{"clamp below", "span", func(p *Program) { p.Tables[1].YLo = -1 << p.Tables[1].Bits }},
		{"clamp above", "span", func(p *Program) { p.Tables[1].YHi = 1 << p.Tables[1].Bits }},
		{"table value", "2^29", func(p *Program) { p.Tables[0].Y[0], p.Tables[0].YHi = BoundLimit, BoundLimit }},
		{"unused table", "never used", func(p *Program) { p.Tables = append(p.Tables, p.Tables[0]) }},
		{"unused parameter", "never used", func(p *Program) { p.Tensors = append(p.Tensors, p.Tensors[1]) }},
		{"undefined column", "never defined", func(p *Program) { p.Tensors = append(p.Tensors, *find(p, "y")) }},
		{"reshape count", "elements", func(p *Program) { find(p, "flat").Shape = []int{2, 16} }},
		{"last step axis", "last step", func(p *Program) { p.Post.Axis = 2 }},
		{"last step kind", "last step", func(p *Program) { p.Post.Kind = postKinds }},
		{"last step span", "last step", func(p *Program) { p.Post = Post{Kind: PostSoftmax, Axis: 1, Span: 2} }},
		{"last step leftovers", "last step", func(p *Program) { p.Post = Post{Axis: -1, Last: true} }},
	}
	for _, c := range cases {
		p, _, _ := sample(t)
		c.change(p)
		err := p.Validate()
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
}

// TestLargestMatMul finds, for extreme operands, the last contraction length that compiles, runs it at the extreme, and sees one more
// refused.
func TestLargestMatMul(t *testing.T) {
	build := func(k int) (*Program, *Weights, error) {
		b := NewBuilder("wide")
		x := b.Input("x", []int{k}, -1<<14, 1<<14, 1)
		w := make([]int32, k)
		for i := range w {
			w[i] = -1 << 10
		}
		acc := b.MatMul("acc", x, b.Param("w", []int{k, 1}, w, 1), false, 1)
		bits := uint8(LookupBits(b.Tensor(max(acc, 0)).Lo, b.Tensor(max(acc, 0)).Hi, 12))
		return b.Build(b.Lookup("y", acc, 12, b.Table("clamp", bits, clampTable(bits, -5, 5)), 1), NoPost, nil)
	}
	k := 1<<(29-24) - 1 // k * 2^14 * 2^10 < 2^29
	p, w, err := build(k)
	if err != nil {
		t.Fatal(err)
	}
	for _, sign := range []int32{1, -1} {
		x := make([]int32, k)
		for i := range x {
			x[i] = sign << 14
		}
		values, err := Run(p, w, x)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := values[p.Ops[0].(Einsum).Out][0], -sign*int32(k)<<24; got != want {
			t.Fatalf("extreme accumulator %d, expected %d", got, want)
		}
		if got := values[p.Outputs[0]][0]; got != -5*sign {
			t.Fatalf("saturated output %d", got)
		}
	}
	if _, _, err := build(k + 1); err == nil || !strings.Contains(err.Error(), "2^29") {
		t.Fatalf("one column more: %v", err)
	}
	if _, _, err := build(1 << 27); err == nil || !strings.Contains(err.Error(), "2^29") {
		t.Fatalf("far too many columns: %v", err)
	}
}

package plan

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Limits of a range check of parameters: bounds up to maxDirect bits wide may
// be one table, wider ones are cut into limbs of at most maxLimb bits.
const (
	maxDirect = 16
	maxLimb   = 12
)

// ForWeights plans the proof that the committed parameters are well formed:
// every entry lies within its tensor's bounds and every padding entry is zero.
// The stack of parameters is the one of ForProgram.
//
// Bounds have the form [-2^(k-1), 2^(k-1)-1], k < 31. A tensor with narrow
// bounds is looked up in a table of exactly its range. One with wide bounds is
// written v = Lo + sum_i 2^(w i) a_i, every limb a_i in a table: the sum takes
// each value of the range once, and only those, since 2^k < p.
func ForWeights(p *graph.Program) (*Plan, error) {
	b := newBuilder()
	params := p.Params()
	for _, id := range params {
		t := &p.Tensors[id]
		if bits := graph.Log2(int(t.Hi - t.Lo + 1)); bits > 30 || t.Lo != -1<<(bits-1) || t.Hi != -t.Lo-1 {
			return nil, fmt.Errorf("plan: parameter %q: bounds [%d, %d]", t.Name, t.Lo, t.Hi)
		}
		b.poly(Poly{Name: t.Name, Home: Parameters, Shape: t.Shape})
	}
	type window struct {
		first int64
		bits  int
	}
	tables := map[window]int{}
	table := func(first int64, bits int) int {
		i, ok := tables[window{first, bits}]
		if !ok {
			i = b.rangeTable(fmt.Sprintf("range of %d bits from %d", bits, first), first, bits)
			tables[window{first, bits}] = i
		}
		return i
	}
	look := func(poly, table int) { b.look(table, b.Polys[poly].Vars, column(poly)) }
	for i, id := range params {
		t := &p.Tensors[id]
		var limbs []int
		if bits := graph.Log2(int(t.Hi - t.Lo + 1)); direct(bits, b.Polys[i].Vars) {
			look(i, table(t.Lo, bits))
		} else {
			for k, w := range Limbs(bits) {
				limb := b.poly(Poly{Name: fmt.Sprintf("%s: limb %d", t.Name, k), Home: Witness, Shape: t.Shape})
				look(limb, table(0, w))
				limbs = append(limbs, limb)
			}
		}
		b.Limbs = append(b.Limbs, limbs)
	}
	b.rows()
	b.stack()
	if len(b.Leaves) > 0 {
		b.tree()
	}
	b.weightLayer(p, params)
	return b.finish()
}

// weightLayer ties the limbs to the parameters and checks the padding.
func (b *builder) weightLayer(p *graph.Program, params []graph.TensorID) {
	for i := range params {
		if q := &b.Polys[i]; q.Padded() {
			b.BindVars = max(b.BindVars, q.Vars)
		}
	}
	b.Bind = b.coords(b.BindVars)
	var layer Layer
	for i, id := range params {
		q, t := &b.Polys[i], &p.Tensors[id]
		if limbs := b.Limbs[i]; limbs != nil {
			at := span(b.TreeVars-q.Vars, q.Vars)
			v, isNew := b.eval(i, at)
			if isNew {
				layer.Sent = append(layer.Sent, v)
			}
			r := Relation{Name: q.Name, Out: v, Const: m31.FromInt(t.Lo)}
			shift := 0
			for k, w := range Limbs(graph.Log2(int(t.Hi - t.Lo + 1))) {
				l, _ := b.eval(limbs[k], at)
				r.Terms = append(r.Terms, Term{Coef: m31.New(1 << shift), Of: l})
				shift += w
			}
			layer.Relations = append(layer.Relations, r)
		}
		if q.Padded() {
			layer.Instances = append(layer.Instances, Instance{Kind: ZeroPadding, Name: q.Name, Vars: q.Vars, Out: -1, Eq: true, At: b.bindAt(q), Factors: []int{i}})
			layer.Rounds = max(layer.Rounds, q.Vars)
		}
	}
	layer.First = b.coords(layer.Rounds)
	for i := range layer.Instances {
		in := &layer.Instances[i]
		in.Factors[0], _ = b.eval(in.Factors[0], layer.Bound(in))
	}
	if len(layer.Relations) > 0 || len(layer.Instances) > 0 {
		b.Layers = append(b.Layers, layer)
	}
}

func direct(bits, vars int) bool {
	return bits <= maxLimb || bits <= min(maxDirect, vars)
}

// LimbCount is the number of limbs that a parameter's entries are looked up in, 1 where it is the entries themselves.
func LimbCount(t *graph.Tensor) int {
	bits := graph.Log2(int(t.Hi - t.Lo + 1))
	if direct(bits, graph.Vars(t.Shape)) {
		return 1
	}
	return len(Limbs(bits))
}

// Limbs cuts a number of bits into limb widths, least significant first.
func Limbs(bits int) []int {
	n := (bits + maxLimb - 1) / maxLimb
	w := (bits + n - 1) / n
	var out []int
	for ; bits > w; bits -= w {
		out = append(out, w)
	}
	return append(out, bits)
}

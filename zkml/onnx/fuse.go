package onnx

import (
	"math"
	"slices"
)

// fuser turns Quantise(... Dequantise(codes) ...) into operations on the codes themselves: elements that are only moved keep their codes,
// functions of one or two codes become tables, and sums of products become integer accumulators that are requantised once. Files of
// QuantizeLinear and DequantizeLinear pairs so become what files of QLinear operators are.
type fuser struct {
	m        *Model
	producer []int       // node of a value, -1 for inputs and constants
	nodes    []Node      // of the model so far
	alias    map[int]int // results that are another value
	moves    map[int]*coded
	sums     map[int]*sum
}

// coded is a tensor of codes whose elements stand for (code - zero) * scale; nil: there is none.
type coded struct {
	id    int
	scale float32
	zero  int64
}

// sum is a tensor of integers whose elements stand for integer * scale / over; nil: there is none.
type sum struct {
	id    int
	scale *Tensor // see Coded
	over  int64
}

func (m *Model) fuseQuantised() {
	f := &fuser{m: m, alias: map[int]int{}, moves: map[int]*coded{}, sums: map[int]*sum{}}
	f.producer = slices.Repeat([]int{-1}, len(m.Values))
	for i, n := range m.Nodes {
		f.producer[n.Output] = i
	}
	for _, n := range m.Nodes {
		for k, id := range n.Inputs {
			n.Inputs[k] = f.resolve(id)
		}
		if n.Op == OpQuantise && !m.Values[n.Inputs[0]].Int && len(n.Attr.Scale) == 1 && f.quantise(&n) {
			continue
		}
		f.nodes = append(f.nodes, n)
	}
	m.Nodes = f.nodes
}

func (f *fuser) resolve(id int) int {
	if to, moved := f.alias[id]; moved {
		return to
	}
	return id
}

// node returns the operation that makes a value, nil for inputs and constants. Operands of nodes that come later are not resolved yet.
func (f *fuser) node(id int) *Node {
	if id >= len(f.producer) || f.producer[id] < 0 {
		return nil
	}
	return &f.m.Nodes[f.producer[id]]
}

// emit adds an operation in the name of another; -1 if it is not possible.
func (f *fuser) emit(of *Node, op Op, attr Attr, inputs ...int) int {
	if slices.Contains(inputs, -1) {
		return -1
	}
	n := Node{Name: of.Name, Origin: of.Origin, Op: op, Inputs: inputs, Attr: attr}
	v, err := f.m.infer(&n)
	if op == OpReshape {
		x := f.m.Values[inputs[0]]
		v, err = Value{Shape: attr.Shape, Int: x.Int, Whole: x.Whole, Lo: x.Lo, Hi: x.Hi}, nil
	}
	if err != nil {
		return -1
	}
	v.Name = f.m.Values[of.Output].Name + "/codes"
	f.m.Values = append(f.m.Values, v)
	n.Output = len(f.m.Values) - 1
	f.nodes = append(f.nodes, n)
	return n.Output
}

func (f *fuser) constant(ints []int64, shape []int) int {
	v := constantValue(&Tensor{Shape: shape, Ints: ints})
	v.Name = "codes"
	f.m.Values = append(f.m.Values, v)
	return len(f.m.Values) - 1
}

// quantise replaces a Quantise if its operand comes from codes.
func (f *fuser) quantise(n *Node) bool {
	a, x := &n.Attr, n.Inputs[0]
	y := codes{scale: a.Scale[0], zero: a.Zero[0], lo: a.Lo, hi: a.Hi}
	if q := f.moved(x); q != nil {
		v := &f.m.Values[q.id]
		if q.scale == y.scale && q.zero == y.zero && v.Lo >= y.lo && v.Hi <= y.hi && !slices.Contains(f.m.Outputs, n.Output) {
			f.alias[n.Output] = q.id
			return true
		}
		return f.table(n, func(x []int64) int64 { return y.round(codes{scale: q.scale, zero: q.zero}.real(x[0])) }, q.id)
	}
	return f.function(n, y) || f.accumulated(n, y) || f.joined(n)
}

// joined replaces a Quantise behind a Concat by one for every part.
func (f *fuser) joined(n *Node) bool {
	p := f.node(n.Inputs[0])
	if p == nil || p.Op != OpConcat {
		return false
	}
	var parts []int
	for _, in := range p.Inputs {
		v := f.m.Values[n.Output]
		v.Shape, v.Name = f.m.Values[in].Shape, v.Name+"/part"
		f.m.Values = append(f.m.Values, v)
		part := *n
		part.Inputs, part.Output = []int{f.resolve(in)}, len(f.m.Values)-1
		if !f.quantise(&part) {
			f.nodes = append(f.nodes, part)
		}
		parts = append(parts, f.resolve(part.Output))
	}
	return f.replace(n, OpConcat, Attr{Axis: p.Attr.Axis}, parts...)
}

// replace makes a new operation produce the node's result.
func (f *fuser) replace(n *Node, op Op, attr Attr, inputs ...int) bool {
	id := f.emit(n, op, attr, inputs...)
	if id < 0 {
		return false
	}
	old, made := &f.m.Values[n.Output], f.m.Values[id]
	if !slices.Equal(old.Shape, made.Shape) {
		f.nodes = f.nodes[:len(f.nodes)-1]
		return false
	}
	f.nodes[len(f.nodes)-1].Output = n.Output
	made.Name, made.Type = old.Name, old.Type
	*old = made
	return true
}

func (f *fuser) table(n *Node, of func(x []int64) int64, ids ...int) bool {
	var values []*Value
	for _, id := range ids {
		values = append(values, &f.m.Values[id])
	}
	t, err := tabulate(values, of)
	return err == nil && f.replace(n, OpTable, Attr{Table: t}, ids...)
}

// moved returns the codes of a value that is made of one tensor's codes, or of several with one scale, by moving and comparing elements.
func (f *fuser) moved(id int) *coded {
	q, seen := f.moves[id]
	if !seen {
		q = f.findMoved(id)
		if q != nil && q.id < 0 {
			q = nil
		}
		f.moves[id] = q
	}
	return q
}

func (f *fuser) findMoved(id int) *coded {
	v, n := &f.m.Values[id], f.node(id)
	if v.Coded != nil && len(v.Coded.Scale.Real) == 1 && len(v.Coded.Ints) > 1 {
		return &coded{f.constant(v.Coded.Ints, v.Shape), v.Coded.Scale.Real[0], 0}
	}
	if n == nil {
		return nil
	}
	switch n.Op {
	case OpDequantise:
		if len(n.Attr.Scale) == 1 {
			return &coded{f.resolve(n.Inputs[0]), n.Attr.Scale[0], n.Attr.Zero[0]}
		}
	case OpEmbed:
		if c := f.m.Values[n.Inputs[1]].Coded; c != nil && len(c.Scale.Real) == 1 {
			return &coded{f.emit(n, OpEmbed, Attr{}, f.resolve(n.Inputs[0]), f.constant(c.Ints, f.m.Values[n.Inputs[1]].Shape)), c.Scale.Real[0], 0}
		}
	case OpReshape, OpRearrange, OpReduceMax, OpConcat, OpMax, OpMin:
		if n.Op == OpRearrange && n.Attr.Fill != 0 {
			return nil
		}
		first := f.moved(n.Inputs[0])
		if first == nil {
			return nil
		}
		ids := []int{first.id}
		for _, in := range n.Inputs[1:] {
			q := f.moved(in)
			if q == nil || q.scale != first.scale || q.zero != first.zero {
				return nil
			}
			ids = append(ids, q.id)
		}
		attr := n.Attr
		if n.Op == OpRearrange {
			attr.Fill = float64(first.zero)
		}
		return &coded{f.emit(n, n.Op, attr, ids...), first.scale, first.zero}
	}
	return nil
}

// maxFunction bounds the operations of a function that becomes a table.
const maxFunction = 64

// function replaces a Quantise of a function of one or two codes, element by element, by its table, each operation rounded to float32.
func (f *fuser) function(n *Node, y codes) bool {
	var leaves []*coded
	var ids []int // of the leaves' values
	var nodes []*Node
	var walk func(id int) bool
	visited := map[int]bool{}
	walk = func(id int) bool {
		v := &f.m.Values[id]
		if visited[id] || v.Const != nil && v.Const.Len() == 1 {
			return true
		}
		visited[id] = true
		if q := f.moved(id); q != nil {
			if !slices.ContainsFunc(leaves, func(l *coded) bool { return *l == *q }) {
				leaves = append(leaves, q)
			}
			ids = append(ids, id)
			return len(leaves) <= 2
		}
		p := f.node(id)
		if p == nil || len(nodes) == maxFunction {
			return false
		}
		switch p.Op {
		case OpUnary, OpAdd, OpSub, OpMul, OpDiv, OpMin, OpMax:
		default:
			return false
		}
		for _, in := range p.Inputs {
			if !walk(in) {
				return false
			}
		}
		nodes = append(nodes, p)
		return true
	}
	if !walk(n.Inputs[0]) || len(leaves) == 0 {
		return false
	}
	var of []int
	entries := int64(1)
	for _, l := range leaves {
		of = append(of, l.id)
		size := f.m.Values[l.id].Hi - f.m.Values[l.id].Lo + 1
		if size < 1 || size > math.MaxUint16+1 {
			return false
		}
		entries *= size
	}
	if entries > math.MaxUint16+1 {
		return false
	}
	// onnxruntime makes a QLinearAdd or QLinearMul of a sum or product of two tensors of codes, whose rounding is its own.
	if p := f.node(n.Inputs[0]); len(leaves) == 2 && len(nodes) == 1 && len(ids) == 2 && (p.Op == OpAdd || p.Op == OpMul) {
		a, b := codes{scale: leaves[0].scale, zero: leaves[0].zero}, codes{scale: leaves[1].scale, zero: leaves[1].zero}
		if p.Op == OpAdd {
			return f.table(n, addCodes(a, b, y), of...)
		}
		return f.table(n, mulCodes(a, b, y), of...)
	}
	var at map[int]*Tensor
	compute := func(x [][]int64) []float32 {
		at = map[int]*Tensor{}
		for _, id := range ids {
			q := f.moved(id)
			k := slices.IndexFunc(leaves, func(l *coded) bool { return *l == *q })
			t := &Tensor{Shape: []int{len(x[k])}}
			for _, c := range x[k] {
				t.Real = append(t.Real, codes{scale: q.scale, zero: q.zero}.real(c))
			}
			at[id] = t
		}
		for _, p := range nodes {
			in := make([]*Tensor, len(p.Inputs))
			for k, id := range p.Inputs {
				if in[k] = at[id]; in[k] == nil {
					in[k] = &Tensor{Shape: []int{}, Real: f.m.Values[id].Const.Real}
				}
			}
			out, err := p.evaluateExact(in, &Value{Shape: []int{len(x[0])}})
			if err != nil {
				return nil
			}
			at[p.Output] = out
		}
		return at[n.Inputs[0]].Real
	}
	points := make([][]int64, len(leaves))
	if _, err := tabulate(f.values(of), func(x []int64) int64 {
		for k := range points {
			points[k] = append(points[k], x[k])
		}
		return 0
	}); err != nil {
		return false
	}
	results := compute(points)
	if len(results) == 0 {
		return false
	}
	next := 0
	base, err := tabulate(f.values(of), func([]int64) int64 {
		next++
		return y.round(results[next-1])
	})
	return err == nil && f.replace(n, OpTable, Attr{Table: base}, of...)
}

func (f *fuser) values(ids []int) []*Value {
	var out []*Value
	for _, id := range ids {
		out = append(out, &f.m.Values[id])
	}
	return out
}

// accumulated replaces a Quantise of a sum of products of codes. Relu and Clip in between only narrow the range of the result, because
// rounding keeps the order.
func (f *fuser) accumulated(n *Node, y codes) bool {
	x := n.Inputs[0]
	lo, hi := y.lo, y.hi
	for p := f.node(x); p != nil && p.Op == OpUnary && (p.Attr.Func == FuncRelu || p.Attr.Func == FuncClip); p = f.node(x) {
		from, to := 0.0, math.Inf(1)
		if p.Attr.Func == FuncClip {
			from, to = p.Attr.A, p.Attr.B
		}
		lo, hi = max(lo, y.round(float32(from))), min(hi, y.round(float32(to)))
		x = p.Inputs[0]
	}
	s := f.sum(x)
	if s == nil || lo >= hi {
		return false
	}
	narrowed := codes{scale: y.scale, zero: y.zero, lo: lo, hi: hi}
	if last := f.node(x); s.over > 1 && len(s.scale.Real) == 1 && last.Origin == "AveragePool" {
		if f.table(n, averageCodes(s.scale.Real[0], s.over, narrowed), s.id) {
			return true
		}
	}
	attr := Attr{Lo: lo, Hi: hi}
	for axis, d := range s.scale.Shape {
		if d > 1 && attr.Scale != nil {
			return false
		}
		if d > 1 {
			attr.Axis, attr.Scale = axis, s.scale.Real
		}
	}
	if attr.Scale == nil {
		attr.Scale = s.scale.Real
	}
	attr.Scale = slices.Clone(attr.Scale)
	for i, v := range attr.Scale {
		attr.Scale[i] = v / float32(y.scale*float32(s.over))
	}
	attr.Zero = slices.Repeat([]int64{y.zero}, len(attr.Scale))
	return f.replace(n, OpQuantise, attr, s.id)
}

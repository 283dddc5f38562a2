package onnx

import (
	"fmt"
	"hash/maphash"
	"math"
	"reflect"
	"slices"
)

// passes change a translated model into a simpler one that computes the same. They run in this order.
var passes = []func(*Model) error{(*Model).simplify, (*Model).prune, quantised, factors, (*Model).prune}

func quantised(m *Model) error {
	m.fuseQuantised()
	return nil
}

func factors(m *Model) error {
	m.fuseFactors()
	return nil
}

// simplify goes through the nodes once, in order. Nodes that repeat an earlier one disappear; every other node may be replaced by a rule
// that looks back at what made its operands. What is no longer needed afterwards is left to prune.
func (m *Model) simplify() error {
	r := &rewriter{m: m, made: map[int]int{}, same: map[int]int{}, seen: map[uint64][]int{}, seed: maphash.MakeSeed(), rules: rules, uses: m.Uses(), outputs: map[int]bool{}}
	for _, id := range m.Outputs {
		r.outputs[id] = true
	}
	r.mergeConstants()
	for i := range m.Nodes {
		n := m.Nodes[i]
		n.Inputs = slices.Clone(n.Inputs)
		for k, id := range n.Inputs {
			n.Inputs[k] = r.resolve(id)
		}
		r.rewrite(n)
	}
	m.Nodes = r.nodes
	return nil
}

// rewrite applies the first rule that fits and adds the node.
func (r *rewriter) rewrite(n Node) {
	for _, rule := range r.rules {
		if rule(r, &n) {
			break
		}
	}
	r.add(n)
}

// rules try to replace a node, in this order, and say whether they did.
var rules = []func(*rewriter, *Node) bool{
	(*rewriter).normRule, (*rewriter).geluRule, (*rewriter).gateRule, (*rewriter).softmaxRule, (*rewriter).logSumExpRule, (*rewriter).maskRule, (*rewriter).reshapeRule, (*rewriter).regroupRule, (*rewriter).functionRule,
	(*rewriter).operandRule, (*rewriter).resultRule,
}

type rewriter struct {
	m       *Model
	nodes   []Node
	made    map[int]int // value -> position in nodes
	same    map[int]int // value -> an equal one that came before
	seen    map[uint64][]int
	seed    maphash.Seed
	rules   []func(*rewriter, *Node) bool
	uses    [][]int
	outputs map[int]bool
}

func (r *rewriter) resolve(id int) int {
	if other, ok := r.same[id]; ok {
		return other
	}
	return id
}

// add appends a node unless it repeats one or changes nothing.
func (r *rewriter) add(n Node) {
	if !r.outputs[n.Output] {
		if id, ok := r.unchanged(&n); ok {
			r.same[n.Output] = id
			return
		}
		key := r.hash(&n)
		for _, i := range r.seen[key] {
			if o := &r.nodes[i]; o.Op == n.Op && slices.Equal(o.Inputs, n.Inputs) && reflect.DeepEqual(o.Attr, n.Attr) {
				r.same[n.Output] = o.Output
				return
			}
		}
		r.seen[key] = append(r.seen[key], len(r.nodes))
	}
	r.made[n.Output] = len(r.nodes)
	r.nodes = append(r.nodes, n)
}

// hash is equal for equal nodes.
func (r *rewriter) hash(n *Node) uint64 {
	var h maphash.Hash
	h.SetSeed(r.seed)
	fmt.Fprint(&h, n.Op, n.Inputs, n.Attr.Labels, n.Attr.Func, n.Attr.A, n.Attr.B, n.Attr.Perm, n.Attr.Fill, n.Attr.Shape, n.Attr.Axis, n.Attr.Axes)
	for _, m := range n.Attr.Maps {
		fmt.Fprint(&h, m.Axis, m.Shape, len(m.Index))
	}
	return h.Sum64()
}

// unchanged recognises sums with zero, products with one, and reshapes and rearrangements that keep everything.
func (r *rewriter) unchanged(n *Node) (int, bool) {
	x := n.Inputs[0]
	same := func(id int) bool { return slices.Equal(r.m.Values[id].Shape, r.m.Values[n.Output].Shape) }
	neutral := 0.0
	switch n.Op {
	case OpReshape:
		return x, same(x)
	case OpMul, OpDiv:
		neutral = 1
	case OpAdd, OpSub:
	default:
		return 0, false
	}
	for k, id := range n.Inputs {
		if other := n.Inputs[1-k]; r.isConstant(id, neutral) && same(other) && (k == 1 || n.Op == OpAdd || n.Op == OpMul) {
			return other, true
		}
	}
	return 0, false
}

// mergeConstants lets equal constants be one value.
func (r *rewriter) mergeConstants() {
	seen := map[uint64][]int{}
	for id := range r.m.Values {
		c := r.m.Values[id].Const
		if c == nil {
			continue
		}
		var h maphash.Hash
		h.SetSeed(r.seed)
		fmt.Fprint(&h, c.Shape, c.Ints != nil)
		var b [8]byte
		word := func(w uint64) {
			for i := range b {
				b[i] = byte(w >> (8 * i))
			}
			h.Write(b[:])
		}
		for _, v := range c.Real[:min(len(c.Real), 1<<12)] {
			word(uint64(math.Float32bits(v)))
		}
		for _, v := range c.Ints[:min(len(c.Ints), 1<<12)] {
			word(uint64(v))
		}
		key := h.Sum64()
		for _, other := range seen[key] {
			o := r.m.Values[other].Const
			if slices.Equal(o.Shape, c.Shape) && slices.Equal(o.Real, c.Real) && slices.Equal(o.Ints, c.Ints) {
				r.same[id] = other
				break
			}
		}
		if _, merged := r.same[id]; !merged {
			seen[key] = append(seen[key], id)
		}
	}
}

// emit inserts a node before the one that is being rewritten and returns its result, -1 if the operands do not fit.
func (r *rewriter) emit(like *Node, op Op, attr Attr, inputs ...int) int {
	n := Node{Name: like.Name, Origin: like.Origin, Op: op, Attr: attr, Inputs: inputs}
	v, err := r.m.infer(&n)
	if err != nil {
		return -1
	}
	v.Name = fmt.Sprintf("%s/%d", r.m.Values[like.Output].Name, len(r.m.Values))
	if in, constant := r.constants(inputs); constant {
		c, err := n.evaluateExact(in, &v)
		if err != nil {
			return -1
		}
		name := v.Name
		v = constantValue(c)
		v.Name = name
		r.m.Values = append(r.m.Values, v)
		return len(r.m.Values) - 1
	}
	r.m.Values = append(r.m.Values, v)
	n.Output = len(r.m.Values) - 1
	r.rewrite(n)
	return r.resolve(n.Output)
}

func (r *rewriter) constants(ids []int) ([]*Tensor, bool) {
	var in []*Tensor
	for _, id := range ids {
		if r.m.Values[id].Const == nil {
			return nil, false
		}
		in = append(in, r.m.Values[id].Const)
	}
	return in, true
}

// scalar adds a constant of rank 0 in the kind of another value.
func (r *rewriter) scalar(like *Value, x float64) int {
	c := (&Value{Int: like.Int}).Tensor([]float64{x})
	c.Shape = []int{}
	v := constantValue(c)
	v.Name = fmt.Sprintf("constant/%d", len(r.m.Values))
	r.m.Values = append(r.m.Values, v)
	return len(r.m.Values) - 1
}

// node returns what made a value, nil for inputs and constants.
func (r *rewriter) node(id int) *Node {
	if i, ok := r.made[id]; ok {
		return &r.nodes[i]
	}
	return nil
}

// nodeOf is node for one operation.
func (r *rewriter) nodeOf(id int, op Op) *Node {
	if n := r.node(id); n != nil && n.Op == op {
		return n
	}
	return nil
}

// unary returns the operand if a value is that function of it.
func (r *rewriter) unary(id int, f Func) (int, bool) {
	if n := r.nodeOf(id, OpUnary); n != nil && n.Attr.Func == f {
		return n.Inputs[0], true
	}
	return 0, false
}

func (r *rewriter) shape(id int) []int { return r.m.Values[id].Shape }

// constant returns the one number that all elements of a constant are.
func (r *rewriter) constant(id int) (float64, bool) {
	c := r.m.Values[id].Const
	if c == nil || c.Len() == 0 {
		return 0, false
	}
	x := c.At(0)
	for i := 1; i < c.Len(); i++ {
		if c.At(i) != x {
			return 0, false
		}
	}
	return x, true
}

func (r *rewriter) isConstant(id int, x float64) bool {
	c, ok := r.constant(id)
	return ok && c == x
}

// near compares constants that a file stores as float32.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-5*math.Abs(b) }

// replace makes a node something else with the same result.
func (n *Node) replace(op Op, attr Attr, inputs ...int) bool {
	n.Op, n.Attr, n.Inputs = op, attr, inputs
	return true
}

package quant

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// Exporters write the projections to queries, keys and values as one product that is cut into three. As integers all of it would have one
// scale, that of the widest third. So products with constants that are only read in pieces along the last axis become a product for each
// piece.

// cutting is a chain of nodes from a product to a value that is only read in pieces, and the nodes that read it.
type cutting struct {
	chain  []int // the product first
	pieces []int
	axis   int // of the constants
}

// apart gives every piece of such products its own, in place of the node that cuts it out.
func apart(m *onnx.Model) {
	uses := m.Uses()
	made := make([]int, len(m.Values))
	for v := range made {
		made[v] = -1
	}
	for i := range m.Nodes {
		made[m.Nodes[i].Output] = i
	}
	gone, instead := map[int]bool{}, map[int]*cutting{}
	for v := range made {
		if c := findCutting(m, uses, made, v); c != nil {
			for _, i := range c.chain {
				gone[i] = true
			}
			for _, i := range c.pieces {
				instead[i] = c
			}
		}
	}
	if len(gone) == 0 {
		return
	}
	nodes := m.Nodes
	r := &rewriter{m}
	m.Nodes = make([]onnx.Node, 0, len(nodes))
	for i := range nodes {
		switch c := instead[i]; {
		case c != nil:
			r.piece(nodes, c, &nodes[i], slices.Index(c.pieces, i))
		case !gone[i]:
			r.add(nodes[i])
		}
	}
}

// findCutting returns how a value comes from a product and is read in pieces, or nil.
func findCutting(m *onnx.Model, uses [][]int, made []int, v int) *cutting {
	shape := m.Values[v].Shape
	if len(uses[v]) < 2 || len(shape) == 0 || made[v] < 0 {
		return nil
	}
	last := shape[len(shape)-1]
	taken := make([]bool, last)
	for _, u := range uses[v] {
		if u == len(m.Nodes) || !takesPiece(&m.Nodes[u], len(shape), taken) {
			return nil
		}
	}
	c := &cutting{pieces: uses[v]}
	for at := v; ; {
		i := made[at]
		if x := &m.Values[at]; i < 0 || x.Int || x.Whole || x.Const != nil || at != v && len(uses[at]) != 1 {
			return nil
		}
		n := &m.Nodes[i]
		c.chain = slices.Insert(c.chain, 0, i)
		switch n.Op {
		case onnx.OpReshape:
			if s := m.Values[n.Inputs[0]].Shape; len(s) == 0 || s[len(s)-1] != last {
				return nil
			}
			at = n.Inputs[0]
		case onnx.OpAdd:
			k := slices.IndexFunc(n.Inputs, func(in int) bool { return m.Values[in].Const != nil })
			if k < 0 {
				return nil
			}
			other := m.Values[n.Inputs[1-k]].Shape
			if w := m.Values[n.Inputs[k]].Const; w.Real == nil || !slices.Equal(other, m.Values[at].Shape) {
				return nil
			}
			at = n.Inputs[1-k]
		case onnx.OpEinsum:
			if len(n.Inputs) != 2 {
				return nil
			}
			k := slices.IndexFunc(n.Inputs, func(in int) bool { return m.Values[in].Const != nil })
			labels := n.Attr.Labels
			if k < 0 || m.Values[n.Inputs[k]].Const.Real == nil || len(uses[n.Inputs[k]]) != 1 || m.Values[n.Inputs[1-k]].Const != nil || len(labels[2]) == 0 {
				return nil
			}
			cut := labels[2][len(labels[2])-1]
			if c.axis = slices.Index(labels[k], cut); c.axis < 0 || slices.Contains(labels[1-k], cut) {
				return nil
			}
			return c
		default:
			return nil
		}
	}
}

// takesPiece reports whether a node takes positions along the last axis, each once and none that another one takes, and nothing else.
func takesPiece(n *onnx.Node, rank int, taken []bool) bool {
	if n.Op != onnx.OpRearrange || len(n.Attr.Maps) != rank {
		return false
	}
	for i, a := range n.Attr.Perm {
		if a != i {
			return false
		}
	}
	for i, a := range n.Attr.Maps {
		if a.Axis != i || len(a.Shape) != 1 || (a.Index == nil) == (i == rank-1) {
			return false
		}
	}
	for _, k := range n.Attr.Maps[rank-1].Index {
		if k < 0 || taken[k] {
			return false
		}
		taken[k] = true
	}
	return true
}

// piece adds the product whose result is what a node cuts out.
func (r *rewriter) piece(nodes []onnx.Node, c *cutting, cut *onnx.Node, number int) {
	index := cut.Attr.Maps[len(cut.Attr.Maps)-1].Index
	constant := func(v, axis int) int {
		name := r.m.Values[v].Name
		w := positions(r.m.Values[v].Const, axis, index)
		r.m.Values = append(r.m.Values, onnx.Value{Name: fmt.Sprintf("%s.%d", name, number), Shape: w.Shape, Const: w})
		return len(r.m.Values) - 1
	}
	before := -1
	for k, i := range c.chain {
		n := nodes[i]
		n.Inputs = slices.Clone(n.Inputs)
		for j, v := range n.Inputs {
			w := r.m.Values[v].Const
			switch {
			case w == nil && k > 0:
				n.Inputs[j] = before
			case w != nil && k == 0:
				n.Inputs[j] = constant(v, c.axis)
			case w != nil && len(w.Shape) > 0 && w.Shape[len(w.Shape)-1] > 1:
				n.Inputs[j] = constant(v, len(w.Shape)-1)
			}
		}
		if k == len(c.chain)-1 {
			n.Output = cut.Output
		} else {
			shape := slices.Clone(r.m.Values[n.Output].Shape)
			shape[len(shape)-1] = len(index)
			n.Output = r.value(&n, fmt.Sprintf(".%d", number), shape)
		}
		before = n.Output
		r.add(n)
	}
}

// positions returns the elements at positions along an axis.
func positions(w *onnx.Tensor, axis int, index []int32) *onnx.Tensor {
	inner := 1
	for _, d := range w.Shape[axis+1:] {
		inner *= d
	}
	n := w.Shape[axis]
	out := &onnx.Tensor{Shape: slices.Clone(w.Shape), Real: make([]float32, 0, len(w.Real)/n*len(index))}
	out.Shape[axis] = len(index)
	for at := 0; at < len(w.Real); at += n * inner {
		for _, k := range index {
			from := at + int(k)*inner
			out.Real = append(out.Real, w.Real[from:from+inner]...)
		}
	}
	return out
}

package quant

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// A plan cuts a model into steps: stages, each a linear form followed by a chain of unary functions and ended by one requantisation,
// and reshapes between them. It depends on the model alone, so that calibration and building agree on it.
type plan struct {
	model  *onnx.Model
	source int          // the model's input
	input  []int        // shape under which the program takes its input
	alias  map[int]bool // values that are the program's input under another shape
	steps  []step
	output int        // value whose integers are the program's output
	post   *onnx.Node // Softmax or ArgMax at the end
}

// step computes the integers of one value.
type step struct {
	out   int    // value
	node  string // node that ends the step, for reports and errors
	op    string
	stage *stage // nil for a reshape
	from  int    // value that a reshape reads
}

// stage is out = chain(sum of products, addends and constants), requantised.
type stage struct {
	shape    []int
	products []product
	addends  []addend
	consts   []constant
	chain    []unary
	base     int  // value of the linear form, before the chain
	final    bool // its integers are the program's output, which gets the wider format
}

// product is alpha * X * W, or W transposed.
type product struct {
	x     int
	w     *onnx.Tensor
	name  string
	trans bool
	alpha float64
}

// addend is c * X.
type addend struct {
	x int
	c float64
}

// constant is c * T, repeated to the stage's shape.
type constant struct {
	t    *onnx.Tensor
	name string
	c    float64
}

// isLinear reports whether nothing follows the linear form.
func (s *stage) isLinear() bool { return len(s.chain) == 0 }

// scaled returns the stage's linear form times c.
func (s *stage) scaled(c float64) *stage {
	out := &stage{shape: s.shape}
	for _, p := range s.products {
		p.alpha *= c
		out.products = append(out.products, p)
	}
	for _, a := range s.addends {
		a.c *= c
		out.addends = append(out.addends, a)
	}
	for _, k := range s.consts {
		k.c *= c
		out.consts = append(out.consts, k)
	}
	return out
}

// plus returns the sum of two linear forms.
func (s *stage) plus(o *stage) *stage {
	return &stage{
		shape:    s.shape,
		products: append(append([]product(nil), s.products...), o.products...),
		addends:  append(append([]addend(nil), s.addends...), o.addends...),
		consts:   append(append([]constant(nil), s.consts...), o.consts...),
	}
}

// then returns the stage with one more function at the end of its chain.
func (s *stage) then(u unary) *stage {
	out := *s
	out.chain = append(append([]unary(nil), s.chain...), u)
	return &out
}

// planner walks the model's nodes in order.
type planner struct {
	plan    *plan
	uses    [][]int
	pending map[int]*stage // values computed but not yet requantised
	node    map[int]int    // value -> node that made it
	ready   map[int]bool   // values that have integers
	final   map[int]bool   // values between the last stage and the output
}

func newPlan(m *onnx.Model) (*plan, error) {
	p := &planner{
		plan: &plan{model: m, alias: map[int]bool{}},
		uses: m.Uses(), pending: map[int]*stage{}, node: map[int]int{}, ready: map[int]bool{}, final: map[int]bool{},
	}
	if len(m.Inputs) != 1 || len(m.Outputs) != 1 || m.Values[m.Inputs[0]].Int {
		return nil, fmt.Errorf("%w: %d inputs and %d outputs, expected one of each, the input real", onnx.ErrUnsupported, len(m.Inputs), len(m.Outputs))
	}
	p.plan.source, p.plan.input = m.Inputs[0], m.Values[m.Inputs[0]].Shape
	p.ready[p.plan.source] = true
	for i, n := range m.Nodes {
		p.node[n.Output] = i
	}
	p.findOutput()
	for i := range m.Nodes {
		if err := p.visit(&m.Nodes[i]); err != nil {
			return nil, err
		}
	}
	out := p.plan.output
	p.force(out)
	if len(p.plan.steps) == 0 {
		return nil, fmt.Errorf("%w: the model has no arithmetic to prove", onnx.ErrUnsupported)
	}
	return p.plan, nil
}

// findOutput strips the last step and marks the values from which only reshapes lead to the output.
func (p *planner) findOutput() {
	m := p.plan.model
	v := m.Outputs[0]
	for {
		i, ok := p.node[v]
		if !ok || !isLast(&m.Nodes[i]) {
			break
		}
		if post := p.plan.post; post != nil && (m.Nodes[i].Op != onnx.OpSoftmax || !slices.Equal(m.Nodes[i].Attr.Axes, []int{post.Attr.Axis})) {
			break
		}
		if p.plan.post == nil { // an ArgMax after a Softmax replaces it
			p.plan.post = &m.Nodes[i]
		}
		v = m.Nodes[i].Inputs[0]
	}
	p.plan.output = v
	for p.final[v] = true; ; p.final[v] = true {
		i, ok := p.node[v]
		if !ok || !isReshape(&m.Nodes[i]) || len(p.uses[m.Nodes[i].Inputs[0]]) > 1 {
			return
		}
		v = m.Nodes[i].Inputs[0]
	}
}

func isReshape(n *onnx.Node) bool { return n.Op == onnx.OpReshape }

func isLast(n *onnx.Node) bool { return n.Op == onnx.OpSoftmax || n.Op == onnx.OpArgMax }

func (p *planner) visit(n *onnx.Node) error {
	m := p.plan.model
	var s *stage
	switch n.Op {
	case onnx.OpSoftmax, onnx.OpArgMax:
		if n.Output != m.Outputs[0] && (p.plan.post == nil || p.plan.post.Inputs[0] != n.Output) {
			return p.refuse(n, "only the last operator of a model may be it")
		}
		return nil
	case onnx.OpReshape:
		p.reshape(n)
		return nil
	case onnx.OpEinsum:
		if s = p.product(n); s == nil {
			return p.refuse(n, "expected a product with a constant matrix on the right")
		}
	case onnx.OpAdd, onnx.OpSub:
		for _, id := range n.Inputs {
			if v := &m.Values[id]; v.Const == nil && !slices.Equal(v.Shape, m.Values[n.Output].Shape) {
				return p.refuse(n, "a computed operand would be repeated")
			}
		}
		s = p.sum(n)
	case onnx.OpMul, onnx.OpDiv:
		if s = p.scale(n); s == nil {
			return p.refuse(n, "expected a product or quotient with a constant of one element that is not zero")
		}
	case onnx.OpUnary:
		u, ok := unaryOf(n)
		if !ok {
			return p.refuse(n, "function "+n.Attr.Func.String()+" has no table")
		}
		s = p.chain(n.Inputs[0]).then(u)
	default:
		return p.refuse(n, n.Op.String()+" has no integer form")
	}
	if s.shape = m.Values[n.Output].Shape; s.isLinear() {
		s.base = n.Output
	}
	p.pending[n.Output] = s
	if len(p.uses[n.Output]) > 1 {
		p.force(n.Output) // several readers share one requantised tensor
	}
	return nil
}

func (p *planner) refuse(n *onnx.Node, why string) error {
	return fmt.Errorf("%w: node %s (%s): %s", onnx.ErrUnsupported, onnx.Quote(n.Name), n.Origin, why)
}

// force gives a value integers: it ends the pending stage.
func (p *planner) force(v int) {
	if p.ready[v] {
		return
	}
	p.ready[v] = true
	s := p.pending[v]
	s.final = p.final[v]
	n := p.plan.model.Nodes[p.node[v]]
	p.plan.steps = append(p.plan.steps, step{out: v, node: n.Name, op: n.Origin, stage: s})
}

// reshape renames the input as long as it is only reshaped; elsewhere it is a step of its own.
func (p *planner) reshape(n *onnx.Node) {
	m, x := p.plan.model, n.Inputs[0]
	if (x == p.plan.source || p.plan.alias[x]) && len(p.uses[x]) == 1 {
		p.plan.input = m.Values[n.Output].Shape
		p.plan.alias[n.Output] = true
		p.ready[n.Output] = true
		return
	}
	p.force(x)
	p.ready[n.Output] = true
	p.plan.steps = append(p.plan.steps, step{out: n.Output, node: n.Name, op: n.Origin, from: x})
}

// linear returns a value as a linear form: the pending one, or a single addend after requantisation.
func (p *planner) linear(v int) *stage {
	if s := p.pending[v]; s != nil && !p.ready[v] && s.isLinear() {
		return s
	}
	p.force(v)
	return &stage{addends: []addend{{v, 1}}, base: v}
}

// chain returns a value as something a function can still be appended to.
func (p *planner) chain(v int) *stage {
	if s := p.pending[v]; s != nil && !p.ready[v] {
		return s
	}
	return p.linear(v)
}

// product takes sums over the last axis of a computed tensor and one axis of a constant matrix, nil for all others.
func (p *planner) product(n *onnx.Node) *stage {
	m, l := p.plan.model, n.Attr.Labels
	if len(n.Inputs) != 2 || m.Values[n.Inputs[0]].Const != nil || len(l[0]) == 0 || len(l[1]) != 2 || len(l[2]) != len(l[0]) {
		return nil
	}
	w, last := &m.Values[n.Inputs[1]], len(l[0])-1
	trans := l[1][1] == l[0][last]
	if w.Const == nil || !slices.Equal(l[0][:last], l[2][:last]) || !trans && l[1][0] != l[0][last] {
		return nil
	}
	p.force(n.Inputs[0])
	return &stage{products: []product{{n.Inputs[0], w.Const, w.Name, trans, 1}}}
}

// operand returns one side of a sum; constants stay constants.
func (p *planner) operand(v int) *stage {
	if value := &p.plan.model.Values[v]; value.Const != nil {
		return &stage{consts: []constant{{value.Const, value.Name, 1}}}
	}
	return p.linear(v)
}

func (p *planner) sum(n *onnx.Node) *stage {
	a, b := p.operand(n.Inputs[0]), p.operand(n.Inputs[1])
	if n.Op == onnx.OpSub {
		b = b.scaled(-1)
	}
	return a.plus(b)
}

// scale multiplies by a constant of one element: inside a linear form, or as a function at the end of a chain.
func (p *planner) scale(n *onnx.Node) *stage {
	m := p.plan.model
	x, k := n.Inputs[0], n.Inputs[1]
	if m.Values[x].Const != nil {
		x, k = k, x
	}
	constant := m.Values[k].Const
	if constant == nil || constant.Len() != 1 || constant.Real[0] == 0 || n.Op == onnx.OpDiv && x != n.Inputs[0] {
		return nil
	}
	c := float64(constant.Real[0])
	if n.Op == onnx.OpDiv {
		c = 1 / c
	}
	if s := p.chain(x); !s.isLinear() {
		return s.then(unary{kind: scaleBy, a: c})
	}
	return p.linear(x).scaled(c)
}

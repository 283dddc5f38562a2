package quant

import (
	"fmt"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// A plan cuts a model into steps: stages, each a linear form followed by a chain of unary functions and ended by one requantisation,
// and reshapes between them. It depends on the model alone, so that calibration and building agree on it.
type plan struct {
	model  *onnx.Model
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
		plan: &plan{model: m, input: m.Values[m.Input].Shape, alias: map[int]bool{}},
		uses: m.Uses(), pending: map[int]*stage{}, node: map[int]int{}, ready: map[int]bool{m.Input: true}, final: map[int]bool{},
	}
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
	v := m.Output
	for {
		i, ok := p.node[v]
		if !ok || m.Nodes[i].Op != "Softmax" && m.Nodes[i].Op != "ArgMax" {
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

func isReshape(n *onnx.Node) bool { return n.Op == "Reshape" || n.Op == "Flatten" }

func (p *planner) visit(n *onnx.Node) error {
	m := p.plan.model
	var s *stage
	switch n.Op {
	case "Softmax", "ArgMax":
		return nil
	case "Reshape", "Flatten":
		p.reshape(n)
		return nil
	case "Gemm", "MatMul":
		s = p.product(n)
	case "Add", "Sub":
		s = p.sum(n)
	case "Mul", "Div":
		s = p.scale(n)
	case "Relu", "Clip", "Sigmoid", "Tanh":
		s = p.chain(n.Inputs[0]).then(unaryOf(n))
	default:
		return fmt.Errorf("%w: node %s: operator %s has no integer form", onnx.ErrUnsupported, onnx.Quote(n.Name), n.Op)
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

// force gives a value integers: it ends the pending stage.
func (p *planner) force(v int) {
	if p.ready[v] {
		return
	}
	p.ready[v] = true
	s := p.pending[v]
	s.final = p.final[v]
	n := p.plan.model.Nodes[p.node[v]]
	p.plan.steps = append(p.plan.steps, step{out: v, node: n.Name, op: n.Op, stage: s})
}

// reshape renames the input as long as it is only reshaped; elsewhere it is a step of its own.
func (p *planner) reshape(n *onnx.Node) {
	m, x := p.plan.model, n.Inputs[0]
	if (x == m.Input || p.plan.alias[x]) && len(p.uses[x]) == 1 {
		p.plan.input = m.Values[n.Output].Shape
		p.plan.alias[n.Output] = true
		p.ready[n.Output] = true
		return
	}
	p.force(x)
	p.ready[n.Output] = true
	p.plan.steps = append(p.plan.steps, step{out: n.Output, node: n.Name, op: n.Op, from: x})
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

func (p *planner) product(n *onnx.Node) *stage {
	m := p.plan.model
	p.force(n.Inputs[0])
	w := &m.Values[n.Inputs[1]]
	s := &stage{products: []product{{n.Inputs[0], w.Const, w.Name, n.Attr.TransB, n.Attr.Alpha}}}
	if len(n.Inputs) == 3 {
		c := &m.Values[n.Inputs[2]]
		s.consts = []constant{{c.Const, c.Name, n.Attr.Beta}}
	}
	return s
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
	if n.Op == "Sub" {
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
	c := m.Values[k].Const.Real[0]
	if n.Op == "Div" {
		c = 1 / c
	}
	if s := p.chain(x); !s.isLinear() {
		return s.then(unary{kind: scaleBy, a: c})
	}
	return p.linear(x).scaled(c)
}

package quant

import (
	"errors"
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// A lowering walks the primitive graph once and emits the integer program. Decisions about scales come from a decider: calibration makes them
// from what it observed, building takes them from a calibration. Everything else follows from the graph, so that both walk alike.
type lowering struct {
	*composer
	m          *onnx.Model
	o          *Options
	decide     decider
	values     []value
	stages     []staged       // every decision, in order, with what it was made for
	weightBits map[string]int // by tensor: width of its widest weights
	// channelScales is, by tensor, the greatest multiple of its scale that channels of its weights have, if they have scales of their own.
	channelScales map[string]int64
	post          *onnx.Node                  // Softmax or ArgMax at the end
	outputs       []int                       // values whose integers are the program's outputs
	masks         map[int]masking             // by a softmax's result
	embedded      map[int]codes               // tables that rows are selected of, by value
	coded         map[int]codedSoftmax        // by the result of a Quantise
	ends          map[*onnx.Tensor][2]float64 // least and greatest element of constants
	// channelPeaks holds the greatest absolute weight of every channel.
	channelPeaks map[channelKey][]float64
	seen         []sight // what calibration saw of the values
}

// decider gives the stage for a tensor.
type decider func(name string, v int, f *form, d demand) (Stage, error)

// staged is a stage with the value it is of and the node that made it.
type staged struct {
	Stage
	v    int
	id   graph.TensorID
	node *onnx.Node
	key  string // what its table computes
	need int    // bits that the bounds ask of the table
	sum  string // the tensor that its table is of
	// bound is the greatest absolute value that tensor could have.
	bound int64
}

// value is what is known of one of the model's values.
type value struct {
	uses  int
	node  *onnx.Node
	bits  int     // width that readers ask for
	final bool    // only reshapes lead to an output
	form  *form   // not yet given integers
	ints  []codes // given integers: the first are those of the width asked for, others are narrower
	input bool    // the program's input, perhaps under another shape
	skip  bool    // taken into the node that reads it
}

func newLowering(m *onnx.Model, o *Options, decide decider) (*lowering, error) {
	l := &lowering{
		composer: newComposer(clean(m.Name), o.TableBits), m: m, o: o, decide: decide,
		values: make([]value, len(m.Values)), weightBits: map[string]int{}, channelScales: map[string]int64{}, masks: map[int]masking{}, ends: map[*onnx.Tensor][2]float64{}, channelPeaks: map[channelKey][]float64{}, embedded: map[int]codes{}, coded: map[int]codedSoftmax{},
	}
	for i := range m.Nodes {
		l.values[m.Nodes[i].Output].node = &m.Nodes[i]
	}
	for v, readers := range m.Uses() {
		l.values[v].uses = len(readers)
	}
	l.findOutputs()
	l.demands()
	l.findMasks()
	l.findCodedSoftmax()
	return l, nil
}

// findOutputs strips a last step that needs no proof and marks the values from which only reshapes lead to an output.
func (l *lowering) findOutputs() {
	l.outputs = slices.Clone(l.m.Outputs)
	if len(l.outputs) == 1 {
		v := l.outputs[0]
		for n := l.values[v].node; n != nil && isPost(n) && !l.isMasked(n) && (v == l.m.Outputs[0] || l.values[v].uses == 1); n = l.values[v].node {
			if l.post == nil { // an ArgMax after a Softmax replaces it
				l.post = n
			}
			l.values[v].skip = true
			v = n.Inputs[0]
		}
		l.outputs[0] = v
	}
	for _, v := range l.outputs {
		for l.values[v].final = true; ; l.values[v].final = true {
			n := l.values[v].node
			if n == nil || n.Op != onnx.OpReshape || l.values[n.Inputs[0]].uses > 1 {
				break
			}
			v = n.Inputs[0]
		}
	}
}

// isPost reports whether a node can be the last step that whoever has the output computes.
func isPost(n *onnx.Node) bool {
	if n.Op != onnx.OpSoftmax {
		return n.Op == onnx.OpArgMax
	}
	for i, a := range n.Attr.Axes {
		if a != n.Attr.Axes[0]+i {
			return false
		}
	}
	return len(n.Attr.Axes) > 0
}

// isMasked reports whether scores of a softmax are hidden, which no integers could say.
func (l *lowering) isMasked(n *onnx.Node) bool {
	k := masking{scores: n.Inputs[0]}
	return n.Op == onnx.OpSoftmax && l.values[k.scores].uses == 1 && l.unmask(&k, false)
}

func (l *lowering) lastStep() graph.Post {
	if l.post == nil {
		return graph.NoPost
	}
	a := l.post.Attr
	if l.post.Op == onnx.OpSoftmax {
		return graph.Post{Kind: graph.PostSoftmax, Axis: a.Axes[0], Span: len(a.Axes)}
	}
	return graph.Post{Kind: graph.PostArgMax, Axis: a.Axis, Span: 1, KeepDims: a.KeepDims, Last: a.Last}
}

// Widths that operations ask of their operands, sign included.
const (
	scoreBits = 12 // of a softmax
	rowBits   = 12 // of a norm
	rootBits  = 14 // of functions that are steep near zero
)

// demands finds out, from the outputs backwards, which width each value's readers ask for.
func (l *lowering) demands() {
	ask := func(v, bits int) { l.values[v].bits = max(l.values[v].bits, bits) }
	for i := len(l.m.Nodes) - 1; i >= 0; i-- {
		n := &l.m.Nodes[i]
		own := l.values[n.Output].bits
		for _, v := range n.Inputs {
			switch n.Op {
			case onnx.OpNorm:
				ask(v, max(rowBits, l.o.ResidualBits))
			case onnx.OpSoftmax:
				ask(v, scoreBits)
			case onnx.OpAdd, onnx.OpSub:
				ask(v, max(l.o.ActivationBits, l.o.ResidualBits, own))
			case onnx.OpReshape, onnx.OpRearrange, onnx.OpConcat, onnx.OpSelect:
				ask(v, max(l.o.ActivationBits, own))
			case onnx.OpReduceMax:
				ask(v, min(max(l.o.ActivationBits, own), maxBits))
			case onnx.OpUnary:
				if f := n.Attr.Func; f == onnx.FuncReciprocal || f == onnx.FuncRsqrt || f == onnx.FuncLog || f == onnx.FuncSqrt {
					ask(v, rootBits)
				}
				ask(v, l.o.ActivationBits)
			default:
				ask(v, l.o.ActivationBits)
			}
		}
	}
}

// lower emits the whole program.
func (l *lowering) lower() error {
	for _, v := range l.m.Inputs {
		if err := l.input(v); err != nil {
			return err
		}
	}
	for i := range l.m.Nodes {
		n := &l.m.Nodes[i]
		if l.values[n.Output].skip {
			continue
		}
		if err := l.visit(n); err != nil {
			return l.wrap(n, err)
		}
		if err := l.Err(); err != nil { // here, where the node is known, and before anything is made of what there is not
			return l.wrap(n, err)
		}
	}
	for _, v := range l.outputs {
		if l.m.Values[v].Const != nil {
			return fmt.Errorf("%w: output %s does not depend on the input", onnx.ErrUnsupported, onnx.Quote(l.m.Values[v].Name))
		}
		if _, err := l.ints(v); err != nil {
			return err
		}
	}
	return l.Err()
}

// wrap names the node of an error.
func (l *lowering) wrap(n *onnx.Node, err error) error {
	return fmt.Errorf("node %s (%s): %w", onnx.Quote(n.Name), n.Origin, err)
}

// build finishes the program.
func (l *lowering) build(labels []string) (*graph.Program, *graph.Weights, error) {
	ids := make([]graph.TensorID, len(l.outputs))
	for i, v := range l.outputs {
		ids[i] = l.values[v].ints[0].id
		if t := l.b.Tensor(ids[i]); t.Kind == graph.Input { // an output must be computed
			ids[i] = l.b.Linear(t.Name+".passed", []graph.Term{{Coef: 1, T: ids[i]}}, 0, t.Scale)
		}
	}
	if len(ids) == 1 {
		return l.b.Build(ids[0], l.lastStep(), labels)
	}
	return l.b.BuildAll(ids, labels)
}

// input adds one of the model's inputs. As long as it is only reshaped, the program takes it under the other shape.
func (l *lowering) input(v int) error {
	shape, last := l.m.Values[v].Shape, v
	for {
		next := l.onlyReshape(last)
		if next < 0 {
			break
		}
		last = next
		shape = l.m.Values[last].Shape
		l.values[last].skip = true
	}
	name := clean(l.m.Values[v].Name)
	st, err := l.decide(name, v, nil, demand{bits: l.o.InputBits})
	if err != nil {
		return err
	}
	l.stages = append(l.stages, staged{Stage: st, v: v})
	c := codes{l.b.Input(name, shape, st.Lo, st.Hi, st.Scale), st.Scale}
	l.stages[len(l.stages)-1].id = c.id
	l.values[v].ints, l.values[last].ints = []codes{c}, []codes{c}
	l.values[v].input, l.values[last].input = true, true
	return l.Err()
}

// onlyReshape returns what a value is reshaped to if nothing else reads it, or -1.
func (l *lowering) onlyReshape(v int) int {
	if l.values[v].uses != 1 {
		return -1
	}
	for i := range l.m.Nodes {
		if n := &l.m.Nodes[i]; slices.Contains(n.Inputs, v) {
			if n.Op == onnx.OpReshape && !slices.Contains(l.outputs, n.Output) {
				return n.Output
			}
			return -1
		}
	}
	return -1
}

func (l *lowering) shapeOf(v int) []int { return l.m.Values[v].Shape }

func (l *lowering) constant(v int) *onnx.Tensor { return l.m.Values[v].Const }

func (l *lowering) name(v int) string { return clean(l.m.Values[v].Name) }

// set makes a form the meaning of a value. A heavy form with several readers gets its integers now, so that they share them.
func (l *lowering) set(v int, f *form) error {
	if f.isLinear() {
		f.base = v
	}
	l.values[v].form = f
	if l.values[v].uses > 1 && f.isHeavy() {
		_, err := l.ints(v)
		return err
	}
	return nil
}

// give makes integers the meaning of a value.
func (l *lowering) give(v int, c codes) error {
	l.values[v].ints = []codes{c}
	return l.Err()
}

// wideOutput is the number of elements from which on a linear output stays a sum: as many lookups would dominate a proof.
const wideOutput = 1 << 16

var errNoIntegers = errors.New("a value has neither integers nor a form")

// ints returns a value's integers, giving it some if it has none.
func (l *lowering) ints(v int) (codes, error) {
	x := &l.values[v]
	if len(x.ints) > 0 {
		return x.ints[0], nil
	}
	if x.form == nil {
		return codes{}, fmt.Errorf("tensor %s: %w", onnx.Quote(l.m.Values[v].Name), errNoIntegers)
	}
	d := demand{bits: x.bits}
	if x.final {
		d.final, d.bits = true, l.o.OutputBits
		d.exact = l.o.ExactOutput || graph.Elements(l.shapeOf(v)) >= wideOutput
	}
	c, err := l.stage(l.name(v), v, x.form, d)
	if err != nil {
		return c, l.wrap(x.node, err)
	}
	x.ints, x.form = []codes{c}, nil
	return c, nil
}

// narrowed returns a value's integers in at most so many bits, sign included.
func (l *lowering) narrowed(v, bits int) (codes, error) {
	c, err := l.ints(v)
	if err != nil {
		return c, err
	}
	for _, c := range l.values[v].ints {
		if l.magnitude(c.id) < 1<<(bits-1) {
			return c, nil
		}
	}
	c, err = l.stage(fmt.Sprintf("%s.%dbits", l.name(v), bits), v, addend(c, l.shapeOf(v), v), demand{bits: bits, strict: true})
	if err == nil {
		l.values[v].ints = append(l.values[v].ints, c)
	}
	return c, err
}

// stage gives a form integers.
func (l *lowering) stage(name string, v int, f *form, d demand) (codes, error) {
	if err := l.Err(); err != nil { // a term may be what could not be made
		return codes{}, err
	}
	if err := l.finite(f); err != nil {
		return codes{}, err
	}
	st, err := l.decide(name, v, f, d)
	if err != nil {
		return codes{}, err
	}
	sum := name + ".sum"
	if st.Exact {
		sum = name
	}
	x, err := l.emit(sum, f, st.accScale(), st.Channels)
	if err != nil {
		return codes{}, err
	}
	return l.requantise(name, v, f, st, x, sum, d.even)
}

// requantise looks up a stage's sum.
func (l *lowering) requantise(name string, v int, f *form, st Stage, x codes, sum string, even bool) (codes, error) {
	l.stages = append(l.stages, staged{Stage: st, v: v, id: x.id, node: l.values[v].node, sum: sum, bound: l.magnitude(x.id)})
	s := &l.stages[len(l.stages)-1]
	if st.Exact {
		if len(f.chain) > 0 {
			return codes{}, errors.New("the calibration marks a tensor exact behind a function")
		}
		return x, nil
	}
	if st.Cut > 0 {
		x = l.within(name, x, int(st.Cut))
	}
	if err := l.Err(); err != nil {
		return codes{}, err
	}
	m := st.mapping(f.chain, even)
	lo, hi := l.bounds(x.id)
	s.key, s.need = m.key(), graph.LookupBits(lo, hi, st.Shift)
	bits := int(st.TableBits)
	if s.need > bits || bits+int(st.Shift) > graph.MaxWindow || bits > graph.MaxTableBits {
		return codes{}, fmt.Errorf("tensor %s: the calibration has a shift of %d and a table of %d bits, its bounds need one of %d", onnx.Quote(name), st.Shift, bits, s.need)
	}
	table := l.unaryTable(s.key, m.name(), bits, func() []int32 { return m.values(bits) })
	s.id = l.b.Lookup(name, x.id, st.Shift, table, st.Scale)
	return codes{s.id, st.Scale}, l.Err()
}

package quant

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// ErrMismatch is wrapped when a calibration does not belong to the model it is used with.
var ErrMismatch = errors.New("the calibration belongs to another model")

// Build makes the integer program and its weights. The result depends on the ONNX file and the calibration alone, to the last byte.
func Build(m *onnx.Model, c *Calibration) (*graph.Program, *graph.Weights, error) {
	b, err := newBuild(m, c)
	if err != nil {
		return nil, nil, err
	}
	return b.program, b.weights, nil
}

// build is a program together with where each of the model's values went.
type build struct {
	plan    *plan
	program *graph.Program
	weights *graph.Weights
	tensors map[int]graph.TensorID // value -> tensor with its integers
	widths  map[int]int            // value -> bits of its widest weight matrix
}

func newBuild(m *onnx.Model, c *Calibration) (*build, error) {
	p, err := newPlan(m)
	if err != nil {
		return nil, err
	}
	if err := c.match(p); err != nil {
		return nil, err
	}
	e := &emitter{
		plan: p, cal: c, b: graph.NewBuilder(clean(m.Name)), formats: p.formats(c),
		tensors: map[int]graph.TensorID{}, widths: map[int]int{}, tables: map[string]int{}, bits: map[string]int{},
	}
	if err := e.planTables(); err != nil {
		return nil, err
	}
	in := &c.Input
	id := e.b.Input(in.Name, p.input, in.Lo, in.Hi, in.Scale)
	e.tensors[p.source] = id
	for v := range p.alias {
		e.tensors[v] = id
	}
	stage := 0
	for i := range p.steps {
		t := &p.steps[i]
		if t.stage == nil {
			e.formats[t.out] = e.formats[t.from]
			e.tensors[t.out] = e.b.Reshape(clean(m.Values[t.out].Name), e.tensors[t.from], m.Values[t.out].Shape)
		} else {
			if err := e.stage(t, &c.Stages[stage]); err != nil {
				return nil, fmt.Errorf("node %s (%s): %w", onnx.Quote(t.node), t.op, err)
			}
			stage++
		}
		if err := e.b.Err(); err != nil {
			return nil, fmt.Errorf("node %s (%s): %w", onnx.Quote(t.node), t.op, err)
		}
	}
	program, weights, err := e.b.Build(e.tensors[p.output], p.lastStep(), slices.Clone(c.Labels))
	if err != nil {
		return nil, err
	}
	return &build{p, program, weights, e.tensors, e.widths}, nil
}

// match checks that the calibration was made for this model.
func (c *Calibration) match(p *plan) error {
	if err := c.validate(); err != nil {
		return err
	}
	m := p.model
	if c.Model != m.SHA256 {
		return fmt.Errorf("%w (ONNX file with SHA-256 %.8x..., this one has %.8x...)", ErrMismatch, c.Model, m.SHA256)
	}
	if !maps.Equal(c.Dims, m.Dims) {
		return fmt.Errorf("%w or to other dimensions (%v, the model was read with %v)", ErrMismatch, c.Dims, m.Dims)
	}
	var names []string
	var exact []bool // whether a stage may be exact
	for _, t := range p.steps {
		if t.stage != nil {
			names = append(names, clean(m.Values[t.out].Name))
			exact = append(exact, t.stage.final && t.stage.isLinear())
		}
	}
	if c.Input.Name != clean(m.Values[p.source].Name) || len(names) != len(c.Stages) {
		return fmt.Errorf("%w (its tensors differ)", ErrMismatch)
	}
	for i, n := range names {
		if c.Stages[i].Exact && !exact[i] {
			return fmt.Errorf("calibration: tensor %s is marked exact, which only a linear output may be", onnx.Quote(n))
		}
		if c.Stages[i].Name != n {
			return fmt.Errorf("%w (tensor %s instead of %s)", ErrMismatch, onnx.Quote(c.Stages[i].Name), onnx.Quote(n))
		}
	}
	return nil
}

func (p *plan) lastStep() graph.Post {
	if p.post == nil {
		return graph.NoPost
	}
	a := p.post.Attr
	if p.post.Op == onnx.OpSoftmax {
		return graph.Post{Kind: graph.PostSoftmax, Axis: a.Axes[0], Span: len(a.Axes)}
	}
	return graph.Post{Kind: graph.PostArgMax, Axis: a.Axis, Span: 1, KeepDims: a.KeepDims, Last: a.Last}
}

type emitter struct {
	plan    *plan
	cal     *Calibration
	b       *graph.Builder
	formats map[int]format
	tensors map[int]graph.TensorID
	widths  map[int]int
	bits    map[string]int // function -> bits of the table that all its uses share
	tables  map[string]int // the same with bits -> table in the program
}

// function identifies what a stage's table computes, apart from the size of its domain.
func (s *stage) function(st *Stage) string {
	if lo, plain := plainClamp(s.chain, st.QScale, st.Scale, st.Lo); plain {
		return fmt.Sprintf("clamp %d %d", lo, st.Hi)
	}
	return fmt.Sprintf("%v %x %x %d %d", s.chain, st.QScale, st.Scale, st.Lo, st.Hi)
}

// planTables lets stages with the same function share one table, as large as the largest of them needs and the others' shifts allow.
func (e *emitter) planTables() error {
	formats := maps.Clone(e.formats)
	stage := 0
	for i := range e.plan.steps {
		t := &e.plan.steps[i]
		if t.stage == nil {
			formats[t.out] = formats[t.from]
			continue
		}
		st := &e.cal.Stages[stage]
		stage++
		if formats[t.out] = st.format(); st.Exact {
			continue
		}
		bits := tableBits(t.stage.accSpan(formats, st.accScale()), int(st.Shift))
		if bits > graph.MaxTableBits || bits+int(st.Shift) > graph.MaxWindow {
			return fmt.Errorf("node %s (%s): the calibrated shift %d needs a table of %d bits, more than there may be", onnx.Quote(t.node), t.op, st.Shift, bits)
		}
		f := t.stage.function(st)
		e.bits[f] = max(e.bits[f], bits)
	}
	return nil
}

// stage emits one stage.
func (e *emitter) stage(t *step, st *Stage) error {
	s, acc := t.stage, st.accScale()
	name := st.Name
	sum := name + ".sum"
	if st.Exact {
		sum = name
	}
	var terms []graph.Term
	for i := range s.products {
		p := &s.products[i]
		f := p.factor(e.formats[p.x], acc)
		w, err := quantise(p.w, f)
		if err != nil {
			return fmt.Errorf("weights %s: %w", onnx.Quote(p.name), err)
		}
		e.widths[t.out] = max(e.widths[t.out], graph.ParamBits(w))
		param := e.b.Param(clean(p.name), p.w.Shape, w, acc/e.formats[p.x].scale)
		terms = append(terms, graph.Term{Coef: 1, T: e.b.MatMul(suffixed(name, ".product", i), e.tensors[p.x], param, p.trans, acc)})
	}
	for i := range s.addends {
		a := &s.addends[i]
		c, err := round(a.factor(e.formats[a.x], acc))
		if err != nil || c == 0 {
			return fmt.Errorf("the multiplier of summand %d is not between 1 and 2^29", i)
		}
		terms = append(terms, graph.Term{Coef: c, T: e.tensors[a.x]})
	}
	for i := range s.consts {
		k := &s.consts[i]
		v, err := quantise(k.t, k.factor(acc))
		if err != nil {
			return fmt.Errorf("constant %s: %w", onnx.Quote(k.name), err)
		}
		terms = append(terms, graph.Term{Coef: 1, T: e.b.Param(clean(k.name), k.t.Shape, v, acc)})
	}
	x := terms[0].T
	if len(terms) > 1 || terms[0].Coef != 1 {
		x = e.b.Linear(sum, terms, 0, acc)
	}
	if err := e.b.Err(); err != nil {
		return err
	}
	if st.Exact {
		e.tensors[t.out] = x
		return nil
	}
	e.tensors[t.out] = e.b.Lookup(name, x, st.Shift, e.table(s, st), st.Scale)
	e.formats[t.out] = st.format()
	return nil
}

// table returns the index of a stage's table, building it on first use.
func (e *emitter) table(s *stage, st *Stage) int {
	f := s.function(st)
	bits := e.bits[f]
	if bits+int(st.Shift) > graph.MaxWindow { // sharing would leave the window: a table of its own
		bits = graph.MaxWindow - int(st.Shift)
		f = fmt.Sprintf("%s in %d bits", f, bits)
	}
	if i, ok := e.tables[f]; ok {
		return i
	}
	y := tableValues(s.chain, bits, st.QScale, st.Scale, st.Lo, st.Hi)
	e.tables[f] = e.b.Table(describe(s.chain), uint8(bits), y)
	return e.tables[f]
}

// describe names a table after its functions.
func describe(chain []unary) string {
	if len(chain) == 0 {
		return "clamp"
	}
	names := make([]string, len(chain))
	for i, u := range chain {
		names[i] = u.String()
	}
	s := strings.Join(names, ", ")
	return s[:min(len(s), graph.MaxName)]
}

// String returns the function's name with its parameters.
func (u unary) String() string {
	switch u.kind {
	case relu:
		return "relu"
	case clip:
		return fmt.Sprintf("clip %g to %g", u.a, u.b)
	case sigmoid:
		return "sigmoid"
	case tanh:
		return "tanh"
	}
	return fmt.Sprintf("times %g", u.a)
}

// clean makes a name from a file fit for a program: printable and of bounded length.
func clean(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return '_'
	}, name)
	const most = graph.MaxName - 32 // leaves room for suffixes
	for len(name) > most {
		name = strings.TrimRightFunc(name[:most], func(r rune) bool { return r == '\uFFFD' })
	}
	return name
}

// suffixed names a helper tensor.
func suffixed(name, suffix string, i int) string {
	if i == 0 {
		return name + suffix
	}
	return fmt.Sprintf("%s%s%d", name, suffix, i+1)
}

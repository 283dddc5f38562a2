package graph

import (
	"errors"
	"fmt"
	"math"
	"unicode"
	"unicode/utf8"
)

// ErrInvalid is wrapped by every error of Validate.
var ErrInvalid = errors.New("invalid integer program")

// Validate checks that the program is well formed and total: ids, order, kinds, shapes, the exact bounds of every defined tensor by
// interval arithmetic, and that no Lookup can leave its table. Everything else in this repository assumes a validated program.
func (p *Program) Validate() error {
	v := validator{p: p, defined: make([]bool, len(p.Tensors)), used: make([]bool, len(p.Tensors))}
	if err := v.program(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

type validator struct {
	p       *Program
	defined []bool
	used    []bool
}

func (v *validator) program() error {
	p := v.p
	switch {
	case !ValidName(p.Name):
		return fmt.Errorf("program name %.40q is not printable text of at most %d bytes", p.Name, MaxName)
	case len(p.Tensors) == 0 || len(p.Tensors) > MaxTensors:
		return fmt.Errorf("%d tensors, expected 1 to %d", len(p.Tensors), MaxTensors)
	case len(p.Ops) > MaxTensors:
		return fmt.Errorf("%d operations, expected at most %d", len(p.Ops), MaxTensors)
	case len(p.Tables) > MaxTables:
		return fmt.Errorf("%d tables, expected at most %d", len(p.Tables), MaxTables)
	}
	for i := range p.Tensors {
		if err := v.tensor(TensorID(i)); err != nil {
			return fmt.Errorf("tensor %d (%q): %w", i, p.Tensors[i].Name, err)
		}
	}
	rows := 0
	for i := range p.Tables {
		if err := p.Tables[i].validate(); err != nil {
			return fmt.Errorf("table %d (%q): %w", i, p.Tables[i].Name, err)
		}
		if rows += p.Tables[i].Rows(); rows > MaxTableRows {
			return fmt.Errorf("the tables have more than %d rows together", MaxTableRows)
		}
	}
	if err := v.inputs(); err != nil {
		return err
	}
	for i, op := range p.Ops {
		if err := v.op(op); err != nil {
			return fmt.Errorf("operation %d (%s): %w", i, v.describe(op), err)
		}
	}
	return v.finish()
}

// describe names an operation and what it defines, for errors.
func (v *validator) describe(op Op) string {
	if !known(op) {
		return fmt.Sprintf("%T", op)
	}
	id := op.Outputs()[0]
	if !v.valid(id) {
		return op.Kind().String()
	}
	return fmt.Sprintf("%s -> %q", op.Kind(), v.p.Tensors[id].Name)
}

func (v *validator) valid(id TensorID) bool { return id >= 0 && int(id) < len(v.p.Tensors) }

// tensor checks what can be said of a tensor by itself.
func (v *validator) tensor(id TensorID) error {
	t := v.p.Tensor(id)
	if !ValidName(t.Name) {
		return fmt.Errorf("the name is not printable text of at most %d bytes", MaxName)
	}
	if t.Kind >= kinds {
		return fmt.Errorf("unknown %s", t.Kind)
	}
	if err := validShape(t.Shape); err != nil {
		return err
	}
	if t.Lo > t.Hi || t.Lo <= -BoundLimit || t.Hi >= BoundLimit {
		return fmt.Errorf("bounds [%d, %d] are empty or reach 2^29", t.Lo, t.Hi)
	}
	if !(t.Scale > 0) || math.IsInf(t.Scale, 0) {
		return fmt.Errorf("scale %g is not a positive number", t.Scale)
	}
	switch t.Kind {
	case Input:
		if t.Lo > 0 || t.Hi < 0 {
			return fmt.Errorf("input bounds [%d, %d] exclude zero, the value of padding", t.Lo, t.Hi)
		}
		v.defined[id] = true
	case Param:
		if paramWidth(t.bounds()) == 0 {
			return fmt.Errorf("parameter bounds [%d, %d] are not [-2^(b-1), 2^(b-1)-1] for some b", t.Lo, t.Hi)
		}
		v.defined[id] = true
	}
	return nil
}

func validShape(shape []int) error {
	if len(shape) > MaxRank {
		return fmt.Errorf("rank %d, expected at most %d", len(shape), MaxRank)
	}
	n := int64(1)
	for _, d := range shape {
		if d < 1 || d > MaxElements {
			return fmt.Errorf("shape %v has an axis outside [1, 2^28]", shape)
		}
		if n *= int64(Pow2(d)); n > MaxElements {
			return fmt.Errorf("shape %v has more than 2^28 padded elements", shape)
		}
	}
	return nil
}

// inputs checks that the list of inputs holds every tensor of kind input once.
func (v *validator) inputs() error {
	p := v.p
	listed := map[TensorID]bool{}
	for _, id := range p.Inputs {
		if !v.valid(id) || p.Tensors[id].Kind != Input {
			return fmt.Errorf("the input (tensor %d) is not a tensor of kind input", id)
		}
		if listed[id] {
			return fmt.Errorf("the input %q is listed twice", p.Tensors[id].Name)
		}
		listed[id] = true
	}
	if ids := p.ofKind(Input); len(ids) != len(listed) || len(ids) == 0 {
		return fmt.Errorf("%d tensors of kind input, %d inputs listed; expected as many, and one at least", len(ids), len(listed))
	}
	return v.statement(p.Inputs, "inputs")
}

// statement bounds the number of values that are public.
func (v *validator) statement(ids []TensorID, what string) error {
	n := 0
	for _, id := range ids {
		if n += v.p.Tensor(id).Len(); n > MaxElements {
			return fmt.Errorf("the %s have more than 2^28 elements together", what)
		}
	}
	return nil
}

// outputs checks the list of outputs.
func (v *validator) outputs() error {
	p := v.p
	if len(p.Outputs) == 0 {
		return errors.New("there is no output")
	}
	listed := map[TensorID]bool{}
	for _, id := range p.Outputs {
		if !v.valid(id) {
			return fmt.Errorf("the output (tensor %d) does not exist", id)
		}
		out := p.Tensor(id)
		if out.Kind != Column && out.Kind != Virtual {
			return fmt.Errorf("the output %q is a tensor of kind %s; an operation must compute it", out.Name, out.Kind)
		}
		if listed[id] {
			return fmt.Errorf("the output %q is listed twice", out.Name)
		}
		listed[id], v.used[id] = true, true
	}
	return v.statement(p.Outputs, "outputs")
}

// finish checks what only the whole program shows.
func (v *validator) finish() error {
	p := v.p
	if err := v.outputs(); err != nil {
		return err
	}
	for i, t := range p.Tensors {
		if !v.defined[i] {
			return fmt.Errorf("tensor %d (%q) is never defined", i, t.Name)
		}
		if !v.used[i] {
			return fmt.Errorf("tensor %d (%q) is never used", i, t.Name)
		}
	}
	tables := make([]bool, len(p.Tables))
	for _, op := range p.Ops {
		if t, ok := TableOf(op); ok {
			tables[t] = true
		}
	}
	for i, used := range tables {
		if !used {
			return fmt.Errorf("table %d (%q) is never used", i, p.Tables[i].Name)
		}
	}
	if len(p.Labels) > MaxTensors {
		return fmt.Errorf("%d labels, expected at most %d", len(p.Labels), MaxTensors)
	}
	for i, l := range p.Labels {
		if !ValidName(l) {
			return fmt.Errorf("label %d is not printable text of at most %d bytes", i, MaxName)
		}
	}
	if len(p.Outputs) > 1 && p.Post != NoPost {
		return fmt.Errorf("last step %+v with %d outputs, expected none", p.Post, len(p.Outputs))
	}
	return p.Post.validate(p.Tensor(p.Outputs[0]).Shape)
}

func (post Post) validate(shape []int) error {
	ok := false
	switch post.Kind {
	case PostNone:
		ok = post == Post{Axis: -1}
	case PostSoftmax:
		ok = post.Axis >= 0 && post.Span >= 1 && post.Axis < len(shape) && post.Span <= len(shape)-post.Axis && !post.KeepDims && !post.Last
	case PostArgMax:
		ok = post.Axis >= 0 && post.Axis < len(shape) && post.Span == 1
	}
	if !ok {
		return fmt.Errorf("last step %+v does not fit an output of shape %v", post, shape)
	}
	return nil
}

// ValidName reports whether s may name a tensor, table or label: printable UTF-8 of at most MaxName bytes, which can be shown on a
// terminal as it is.
func ValidName(s string) bool {
	if len(s) > MaxName || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

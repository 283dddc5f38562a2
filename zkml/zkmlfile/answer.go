package zkmlfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/internal/tensorio"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
)

// ErrDerived is the class of errors about an answer file whose readable part does
// not follow from its integers.
var ErrDerived = errors.New("does not follow from output_data")

// Answer is the output of a model as a file, FILE.out.json. The proof is about OutputData
// alone, which has an entry for each output; the rest follows from it and is
// there for readers.
type Answer struct {
	OutputData [][]int32 `json:"output_data"`
	Kind       string    `json:"kind"`             // what values are: none (real numbers), softmax, argmax
	Values     []float64 `json:"values,omitempty"` // what the model says, where it has one output
	Answer     *int      `json:"answer,omitempty"`
	Label      string    `json:"label,omitempty"`
	Answers    []int     `json:"answers,omitempty"` // one for each row of a batch
	Outputs    []Output  `json:"outputs,omitempty"` // where it has several
}

// Output is one of several outputs.
type Output struct {
	Name   string    `json:"name"`
	Shape  []int     `json:"shape"`
	Values []float64 `json:"values"`
}

// NewAnswer derives everything from the integers, which are those of all outputs of
// the program, one after the other.
func NewAnswer(p *graph.Program, y []int32) (*Answer, error) {
	if err := given.Check(given.Arg{Name: "program", Given: p != nil}); err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	all, err := p.Answers(y)
	if err != nil {
		return nil, err
	}
	out := &Answer{OutputData: p.SplitOutput(y), Kind: all[0].Kind.String()}
	if len(all) > 1 {
		for i, said := range all {
			out.Outputs = append(out.Outputs, Output{p.Tensor(p.Outputs[i]).Name, said.Shape, said.Values})
		}
		return out, nil
	}
	out.Values = all[0].Values
	if best, ok := winner(p, y, all[0]); ok {
		out.Answer = &best
		if best < len(p.Labels) {
			out.Label = p.Labels[best]
		}
	}
	// The first axis of two counts the inputs of a batch.
	if shape := p.Tensor(p.Outputs[0]).Shape; len(shape) == 2 && shape[0] > 1 && shape[1] > 1 && all[0].Kind != graph.PostArgMax {
		for _, best := range graph.ArgMax(y, shape, 1, false) {
			out.Answers = append(out.Answers, int(best))
		}
	}
	return out, nil
}

// winner is the one class that an output names, if the output is a single row
// of several scores, or the index of one.
func winner(p *graph.Program, y []int32, said *graph.Answer) (int, bool) {
	if said.Kind == graph.PostArgMax {
		if len(said.Values) != 1 {
			return 0, false
		}
		return int(said.Values[0]), true
	}
	shape := p.Tensor(p.Outputs[0]).Shape
	if len(shape) == 0 || len(y) < 2 || shape[len(shape)-1] != len(y) {
		return 0, false
	}
	return int(graph.ArgMax(y, shape, len(shape)-1, false)[0]), true
}

// Encode is the file: JSON and a line feed.
func (f *Answer) Encode() ([]byte, error) {
	data, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encoding the output: %w", err)
	}
	return append(data, '\n'), nil
}

// DecodeAnswer reads an output file and returns the integers that a proof is about,
// as NewAnswer takes them. What the file derives from the integers must follow from
// them, since a reader may look at nothing else: if it does not, the error is
// ErrDerived.
func DecodeAnswer(data []byte, p *graph.Program) ([]int32, error) {
	if err := given.Check(given.Arg{Name: "program", Given: p != nil}); err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	var f struct {
		output  [][]*int32
		kind    *string
		values  *[]*float64
		answer  *int
		label   *string
		answers *[]*int
		outputs *[]json.RawMessage
	}
	if err := DecodeObject(data, map[string]any{"output_data": &f.output, "kind": &f.kind, "values": &f.values, "answer": &f.answer, "label": &f.label,
		"answers": &f.answers, "outputs": &f.outputs}); err != nil {
		return nil, fmt.Errorf("not an output file: %w", err)
	}
	if len(f.output) != len(p.Outputs) {
		return nil, fmt.Errorf("output_data has %d entries, want %d", len(f.output), len(p.Outputs))
	}
	var y []int32
	for i, list := range f.output {
		part, err := present(list)
		if out := p.Tensor(p.Outputs[i]); err == nil && len(f.output) > 1 && len(part) != out.Len() {
			err = fmt.Errorf("%d values, expected %d for output %s %s", len(part), out.Len(), tensorio.Name(out.Name), tensorio.ShapeText(out.Shape))
		}
		if err != nil {
			return nil, fmt.Errorf("output_data[%d]: %w", i, err)
		}
		y = append(y, part...)
	}
	want, err := NewAnswer(p, y)
	if err != nil {
		return nil, fmt.Errorf("output_data[0]: %w", err)
	}
	disagree := func(field string) error {
		return fmt.Errorf("field %s %w", field, ErrDerived)
	}
	if f.values != nil {
		if values, err := present(*f.values); err != nil || !near(values, want.Values) {
			return nil, disagree("values")
		}
	}
	if f.answers != nil {
		if answers, err := present(*f.answers); err != nil || !slices.Equal(answers, want.Answers) {
			return nil, disagree("answers")
		}
	}
	if f.outputs != nil {
		if len(*f.outputs) != len(want.Outputs) {
			return nil, disagree("outputs")
		}
		for i, text := range *f.outputs {
			if field := differs(text, &want.Outputs[i]); field != "" {
				return nil, disagree(fmt.Sprintf("outputs[%d]%s", i, field))
			}
		}
	}
	switch {
	case f.kind != nil && *f.kind != want.Kind:
		return nil, disagree("kind")
	case f.answer != nil && (want.Answer == nil || *want.Answer != *f.answer):
		return nil, disagree("answer")
	case f.label != nil && *f.label != want.Label:
		return nil, disagree("label")
	}
	return y, nil
}

// differs names the field of one of several outputs that is not what it must be; all three must be there.
func differs(text []byte, want *Output) string {
	o, err := decodeOutput(text)
	switch {
	case err != nil:
		return " (" + err.Error() + ")"
	case o.Name != want.Name:
		return ".name"
	case !slices.Equal(o.Shape, want.Shape):
		return ".shape"
	case !near(o.Values, want.Values):
		return ".values"
	}
	return ""
}

// decodeOutput reads one of several outputs, which has all three fields.
func decodeOutput(text []byte) (o Output, err error) {
	var f struct {
		name   *string
		shape  []*int
		values []*float64
	}
	if err := DecodeObject(text, map[string]any{"name": &f.name, "shape": &f.shape, "values": &f.values}); err != nil {
		return o, err
	}
	if f.name == nil || f.shape == nil || f.values == nil {
		return o, errors.New("name, shape or values are missing")
	}
	o.Name = *f.name
	if o.Shape, err = present(f.shape); err != nil {
		return o, fmt.Errorf("shape: %w", err)
	}
	if o.Values, err = present(f.values); err != nil {
		return o, fmt.Errorf("values: %w", err)
	}
	return o, nil
}

// present are the values of a list without nulls, which would pass for zeros.
func present[T any](list []*T) ([]T, error) {
	out := make([]T, len(list))
	for i, v := range list {
		if v == nil {
			return nil, fmt.Errorf("element %d is null", i)
		}
		out[i] = *v
	}
	return out, nil
}

// DecodeObject reads a JSON object, of which there is nothing more, into the fields it may have. Names must be
// exact, and occur once: other readers of the file take other ones of several
// that are spelt alike, and would see what nobody has verified.
func DecodeObject(data []byte, fields map[string]any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	tok, err := d.Token()
	if err != nil {
		return err
	}
	if tok != json.Delim('{') {
		return fmt.Errorf("no JSON object")
	}
	seen := map[string]bool{}
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := tok.(string)
		into, ok := fields[name]
		if !ok {
			return fmt.Errorf("unknown field %.40q", name)
		}
		if seen[name] {
			return fmt.Errorf("field %s occurs twice", name)
		}
		seen[name] = true
		if err := d.Decode(into); err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("more after the end of the object")
	}
	return nil
}

// near compares derived numbers; exponentials may differ in their last bits
// between machines. What is not finite is near nothing.
func near(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		size := math.Abs(b[i])
		if math.IsInf(size, 0) || !(math.Abs(a[i]-b[i]) <= max(1e-9*size, 1e-300)) {
			return false
		}
	}
	return true
}

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// answerFile is the output of a model as a file. The proof is about OutputData
// alone; the rest follows from it and is there for readers.
type answerFile struct {
	OutputData [1][]int32 `json:"output_data"`
	Kind       string     `json:"kind"`   // what values are: none (real numbers), softmax, argmax
	Values     []float64  `json:"values"` // what the model says
	Answer     *int       `json:"answer,omitempty"`
	Label      string     `json:"label,omitempty"`
}

// newAnswer derives everything from the integers.
func newAnswer(p *graph.Program, y []int32) (*answerFile, error) {
	said, err := p.Answer(y)
	if err != nil {
		return nil, err
	}
	out := &answerFile{OutputData: [1][]int32{y}, Kind: said.Kind.String(), Values: said.Values}
	if best, ok := winner(p, y, said); ok {
		out.Answer = &best
		if best < len(p.Labels) {
			out.Label = p.Labels[best]
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
	shape := p.Tensor(p.Output).Shape
	if len(shape) == 0 || len(y) < 2 || shape[len(shape)-1] != len(y) {
		return 0, false
	}
	return int(graph.ArgMax(y, shape, len(shape)-1, false)[0]), true
}

func (f *answerFile) encode() ([]byte, error) {
	data, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encoding the output: %w", err)
	}
	return append(data, '\n'), nil
}

// text is the answer for people.
func (f *answerFile) text() string {
	switch {
	case f.Label != "":
		return f.Label
	case f.Answer != nil:
		return fmt.Sprint(*f.Answer)
	}
	var parts []string
	for i, v := range f.Values {
		if i == 8 {
			parts = append(parts, fmt.Sprintf("... (%d values)", len(f.Values)))
			break
		}
		parts = append(parts, fmt.Sprintf("%.4g", v))
	}
	return strings.Join(parts, " ")
}

// loadAnswer reads an output file and returns the integers that a proof is
// about.
func (a *app) loadAnswer(path string, p *graph.Program) ([]int32, error) {
	data, err := a.readFile("output", path)
	if err != nil {
		return nil, err
	}
	y, err := decodeAnswer(data, p)
	if err != nil {
		return nil, fmt.Errorf("output %s: %w", path, err)
	}
	return y, nil
}

// decodeAnswer reads an output file. What the file derives from the integers
// must follow from them, since a reader may look at nothing else: if it does
// not, the output is rejected.
func decodeAnswer(data []byte, p *graph.Program) ([]int32, error) {
	var f struct {
		OutputData [][]int32  `json:"output_data"`
		Kind       *string    `json:"kind"`
		Values     *[]float64 `json:"values"`
		Answer     *int       `json:"answer"`
		Label      *string    `json:"label"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, inputError("not an output file: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, inputError("more after the end of the object")
	}
	if len(f.OutputData) != 1 {
		return nil, inputError("output_data has %d entries, want 1", len(f.OutputData))
	}
	y := f.OutputData[0]
	want, err := newAnswer(p, y)
	if err != nil {
		return nil, inputError("output_data[0]: %w", err)
	}
	disagree := func(field string) error {
		return rejected("field %s does not follow from output_data", field)
	}
	switch {
	case f.Kind != nil && *f.Kind != want.Kind:
		return nil, disagree("kind")
	case f.Values != nil && !near(*f.Values, want.Values):
		return nil, disagree("values")
	case f.Answer != nil && (want.Answer == nil || *want.Answer != *f.Answer):
		return nil, disagree("answer")
	case f.Label != nil && *f.Label != want.Label:
		return nil, disagree("label")
	}
	return y, nil
}

// near compares derived numbers; exponentials may differ in their last bits
// between machines.
func near(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-9*max(1, math.Abs(b[i])) {
			return false
		}
	}
	return true
}

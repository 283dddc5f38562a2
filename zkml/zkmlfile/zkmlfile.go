// Package zkmlfile reads the files that come with a proof of a model: inputs, which it
// turns into the integers of the model's program, and answers. Everybody who
// verifies must get the same integers from the same bytes, so there is one reader,
// for the command line and the browser alike. docs/cli.md describes the formats.
package zkmlfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zkwarp/zkwarp/internal/tensorio"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Inputs are what an integer program takes.
func Inputs(p *graph.Program) []tensorio.Input {
	var out []tensorio.Input
	for _, id := range p.Inputs {
		out = append(out, tensorio.Input{Name: p.Tensor(id).Name, Shape: p.Tensor(id).Shape})
	}
	return out
}

// ReadInput reads a file with one input for the program (JSON, .npz, .npy, or PNG for
// images) as the program's integers: x of zkml.Verify.
func ReadInput(p *graph.Program, file []byte) ([]int32, error) {
	values, err := ReadValues(file, Inputs(p))
	if err != nil {
		return nil, err
	}
	return Integers(p, values)
}

// Integers is an input as the program's integers; values are the elements of all
// inputs, one input after the other. Token numbers must be whole: rounding them would
// be another question.
func Integers(p *graph.Program, values []float64) ([]int32, error) {
	rest := values
	for _, id := range p.Inputs {
		in := p.Tensor(id)
		n := min(in.Len(), len(rest))
		part := rest[:n]
		rest = rest[n:]
		if !IsTokens(p, id) {
			continue
		}
		for i, v := range part {
			if v != math.Trunc(v) {
				return nil, fmt.Errorf("input %s, element %d is %g, want a whole number from %d to %d", tensorio.Name(in.Name), i, v, in.Lo, in.Hi)
			}
		}
	}
	return p.QuantizeInput(values)
}

// IsTokens says whether an input selects rows of a table.
func IsTokens(p *graph.Program, id graph.TensorID) bool {
	return slices.ContainsFunc(p.Ops, func(op graph.Op) bool {
		e, ok := op.(graph.Embed)
		return ok && e.Tokens == id
	})
}

// Image is the size of the picture that the program takes as its input, with 1 channel
// (gray) or 3; ok is false if its input is no image, or a flat list, for which a
// picture of any shape with that many pixels will do.
func Image(p *graph.Program) (channels, height, width int, ok bool) {
	if len(p.Inputs) != 1 || IsTokens(p, p.Inputs[0]) {
		return 0, 0, 0, false
	}
	return tensorio.ImageAxes(p.Tensor(p.Inputs[0]).Shape)
}

// ReadValues reads one sample, which may be the answer of the piece of the model before this one: the elements of
// all inputs, one input after the other.
func ReadValues(data []byte, inputs []tensorio.Input) ([]float64, error) {
	if values, ok, err := answerInputs(data, inputs); ok {
		return values, err
	}
	return tensorio.ReadOneInputs(data, inputs)
}

// ReadSamples is ReadValues for a file that may have several samples.
func ReadSamples(data []byte, inputs []tensorio.Input) ([][]float64, error) {
	if values, ok, err := answerInputs(data, inputs); ok {
		return [][]float64{values}, err
	}
	return tensorio.ReadInputs(data, inputs)
}

// answerInputs takes inputs from an answer file: outputs by name where it has several. ok says whether it is one.
func answerInputs(data []byte, inputs []tensorio.Input) (values []float64, ok bool, err error) {
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) || slices.ContainsFunc(inputs, func(in tensorio.Input) bool { return in.Name == "output_data" }) {
		return nil, false, nil
	}
	var f struct {
		Output  []json.RawMessage `json:"output_data"`
		Kind    string            `json:"kind"`
		Values  []float64         `json:"values"`
		Outputs []Output          `json:"outputs"`
	}
	if json.Unmarshal(data, &f) != nil || len(f.Output) == 0 {
		return nil, false, nil
	}
	if f.Kind != graph.NoPost.Kind.String() {
		return nil, true, fmt.Errorf("an answer whose values are %s, which no piece of a model takes", f.Kind)
	}
	if len(f.Output) == 1 && len(inputs) == 1 {
		f.Outputs = []Output{{Name: inputs[0].Name, Shape: inputs[0].Shape, Values: f.Values}}
	}
	for _, in := range inputs {
		i := slices.IndexFunc(f.Outputs, func(o Output) bool { return o.Name == in.Name })
		if i < 0 {
			return nil, true, fmt.Errorf("an answer without the output %s, which is an input here", tensorio.Name(in.Name))
		}
		if o := &f.Outputs[i]; !slices.Equal(o.Shape, in.Shape) || len(o.Values) != tensorio.Elements(in.Shape) {
			return nil, true, fmt.Errorf("the answer's %s has %d values and shape %s, want %s", tensorio.Name(in.Name), len(o.Values), tensorio.ShapeText(o.Shape), tensorio.ShapeText(in.Shape))
		}
		values = append(values, f.Outputs[i].Values...)
	}
	return values, true, nil
}

// Face is what a chain is from outside: a program without the steps in between.
func Face(c *chunks.Chain) *graph.Program {
	p := &graph.Program{Post: graph.NoPost}
	keys := c.Keys()
	for _, t := range c.Inputs() {
		p.Inputs = append(p.Inputs, graph.TensorID(len(p.Tensors)))
		p.Tensors = append(p.Tensors, *t)
	}
	for k, vk := range keys {
		part := vk.Program()
		for i, s := range c.Wiring(k) {
			if s.Part < 0 && IsTokens(part, part.Inputs[i]) {
				p.Ops = append(p.Ops, graph.Embed{Tokens: p.Inputs[s.Index]})
			}
		}
	}
	outputs := c.Outputs()
	for _, s := range outputs {
		part := keys[s.Part].Program()
		p.Outputs = append(p.Outputs, graph.TensorID(len(p.Tensors)))
		p.Tensors = append(p.Tensors, *part.Tensor(part.Outputs[s.Index]))
		p.Name, _, _ = strings.Cut(part.Name, " (part ")
		if len(outputs) == 1 && len(part.Outputs) == 1 {
			p.Post, p.Labels = part.Post, slices.Clone(part.Labels)
		}
	}
	return p
}

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
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
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
	if err := given.Check(given.Arg{Name: "program", Given: p != nil}); err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
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
	if err := given.Check(given.Arg{Name: "program", Given: p != nil}); err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
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

// ReadSamples is ReadValues for a file that may have several samples, most at most: pictures that hold more are refused before they are unpacked.
func ReadSamples(data []byte, inputs []tensorio.Input, most int) ([][]float64, error) {
	if values, ok, err := answerInputs(data, inputs); ok {
		return [][]float64{values}, err
	}
	return tensorio.ReadInputs(data, inputs, most)
}

// answerInputs takes inputs from an answer file: outputs by name where it has several. ok says whether it is one.
func answerInputs(data []byte, inputs []tensorio.Input) (values []float64, ok bool, err error) {
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) || slices.ContainsFunc(inputs, func(in tensorio.Input) bool { return in.Name == "output_data" }) {
		return nil, false, nil
	}
	var names map[string]json.RawMessage
	if json.Unmarshal(data, &names) != nil || len(names["output_data"]) == 0 {
		return nil, false, nil
	}
	list, err := answerOutputs(data, inputs)
	if err != nil {
		return nil, true, err
	}
	for _, in := range inputs {
		i := slices.IndexFunc(list, func(o Output) bool { return o.Name == in.Name })
		if i < 0 {
			return nil, true, fmt.Errorf("an answer without the output %s, which is an input here", tensorio.Name(in.Name))
		}
		if o := &list[i]; !slices.Equal(o.Shape, in.Shape) || len(o.Values) != tensorio.Elements(in.Shape) {
			return nil, true, fmt.Errorf("the answer's %s has %d values and shape %s, want %s", tensorio.Name(in.Name), len(o.Values), tensorio.ShapeText(o.Shape), tensorio.ShapeText(in.Shape))
		}
		values = append(values, list[i].Values...)
	}
	return values, true, nil
}

// answerOutputs are the outputs of an answer file as real numbers; one that has no name is that of the one input. There is one way to read it, as there is for
// DecodeAnswer.
func answerOutputs(data []byte, inputs []tensorio.Input) ([]Output, error) {
	var f struct {
		output, outputs []json.RawMessage
		kind            string
		values          []*float64
		rest            json.RawMessage
	}
	if err := DecodeObject(data, map[string]any{"output_data": &f.output, "kind": &f.kind, "values": &f.values, "answer": &f.rest, "label": &f.rest,
		"answers": &f.rest, "outputs": &f.outputs}); err != nil {
		return nil, fmt.Errorf("not an output file: %w", err)
	}
	if f.kind != graph.NoPost.Kind.String() {
		return nil, fmt.Errorf("an answer whose values are %s, which no piece of a model takes", tensorio.Name(f.kind))
	}
	if len(f.output) == 1 && len(inputs) == 1 {
		values, err := present(f.values)
		if err != nil {
			return nil, fmt.Errorf("values: %w", err)
		}
		return []Output{{Name: inputs[0].Name, Shape: inputs[0].Shape, Values: values}}, nil
	}
	var list []Output
	for i, text := range f.outputs {
		o, err := decodeOutput(text)
		if err != nil {
			return nil, fmt.Errorf("outputs[%d]: %w", i, err)
		}
		if slices.ContainsFunc(list, func(other Output) bool { return other.Name == o.Name }) {
			return nil, fmt.Errorf("outputs[%d]: the output %s occurs twice", i, tensorio.Name(o.Name))
		}
		list = append(list, o)
	}
	return list, nil
}

// Public is a key's program with the inputs and outputs that are public, which are what files are read and written for.
func Public(vk *zkml.VerifyingKey) *graph.Program {
	return With(vk.Program(), vk.PublicInputs(), vk.PublicOutputs())
}

// With is a program with some of its inputs and outputs, to read and write their files.
func With(p *graph.Program, inputs, outputs []graph.TensorID) *graph.Program {
	q := *p
	q.Inputs, q.Outputs = inputs, outputs
	if len(outputs) < len(p.Outputs) {
		q.Post, q.Labels = graph.NoPost, nil // of the one output, if there is one only
	}
	return &q
}

// PublicFace is Face with the inputs and outputs that are public.
func PublicFace(c *chunks.Chain) *graph.Program {
	p := Face(c)
	var inputs, outputs []graph.TensorID
	for _, i := range c.PublicInputs() {
		inputs = append(inputs, p.Inputs[i])
	}
	for _, i := range c.PublicOutputs() {
		outputs = append(outputs, p.Outputs[i])
	}
	return With(p, inputs, outputs)
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

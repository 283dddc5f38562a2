package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/internal/tensorio"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// inputFlag registers --input, which names one file with everything or one for each of the model's inputs.
func inputFlag(c *cobra.Command, paths *[]string) {
	c.Flags().StringArrayVar(paths, "input", nil, "the input: a JSON, .npy, .npz or PNG file; or NAME=FILE for each input of the model")
}

// modelInputs are what a model takes.
func modelInputs(m *onnx.Model) []tensorio.Input {
	var out []tensorio.Input
	for _, id := range m.Inputs {
		out = append(out, tensorio.Input{Name: m.Values[id].Name, Shape: m.Values[id].Shape})
	}
	return out
}

// programInputs are what an integer program takes.
func programInputs(p *graph.Program) []tensorio.Input {
	var out []tensorio.Input
	for _, id := range p.Inputs {
		out = append(out, tensorio.Input{Name: p.Tensor(id).Name, Shape: p.Tensor(id).Shape})
	}
	return out
}

// loadInput reads one input and turns it into the program's integers.
func (a *app) loadInput(paths []string, p *graph.Program) ([]int32, error) {
	values, err := a.loadValues(paths, programInputs(p))
	if err != nil {
		return nil, err
	}
	return quantiseInput(paths, p, values)
}

// quantiseInput is the values as the program's integers. Token numbers must be whole: rounding them would be another question.
func quantiseInput(paths []string, p *graph.Program, values []float64) ([]int32, error) {
	fail := func(err error) ([]int32, error) {
		return nil, inputError("input %s: %w", strings.Join(paths, ", "), err)
	}
	rest := values
	for _, id := range p.Inputs {
		in := p.Tensor(id)
		part := rest[:in.Len()]
		rest = rest[in.Len():]
		if !isTokens(p, id) {
			continue
		}
		for i, v := range part {
			if v != math.Trunc(v) {
				return fail(fmt.Errorf("input %s, element %d is %g, want a whole number from %d to %d", tensorio.Name(in.Name), i, v, in.Lo, in.Hi))
			}
		}
	}
	x, err := quant.QuantizeInput(p, values)
	if err != nil {
		return fail(err)
	}
	return x, nil
}

// isTokens says whether an input selects rows of a table.
func isTokens(p *graph.Program, id graph.TensorID) bool {
	return slices.ContainsFunc(p.Ops, func(op graph.Op) bool {
		e, ok := op.(graph.Embed)
		return ok && e.Tokens == id
	})
}

// named splits NAME=FILE arguments by input. It returns nil where the one argument is a file with everything.
func named(flag string, paths []string, inputs []tensorio.Input) ([]string, error) {
	if len(paths) == 1 {
		name, _, equals := strings.Cut(paths[0], "=")
		if _, err := os.Stat(paths[0]); !equals || err == nil && indexOf(inputs, name) < 0 {
			return nil, nil
		}
	}
	files := make([]string, len(inputs))
	for _, p := range paths {
		// A name may have an equals sign: the longest that is one counts.
		k := -1
		for i, in := range inputs {
			if strings.HasPrefix(p, in.Name+"=") && (k < 0 || len(in.Name) > len(inputs[k].Name)) {
				k = i
			}
		}
		if k < 0 {
			return nil, usageError("%s %s: want one file, or NAME=FILE for each input of the model: %s", flag, p, tensorio.InputsText(inputs))
		}
		if files[k] != "" {
			return nil, usageError("%s names input %s twice", flag, tensorio.Name(inputs[k].Name))
		}
		if files[k] = p[len(inputs[k].Name)+1:]; files[k] == "" {
			return nil, usageError("%s %s: no file is named", flag, p)
		}
	}
	if k := slices.Index(files, ""); k >= 0 {
		return nil, usageError("%s lacks input %s; the model takes %s", flag, tensorio.Name(inputs[k].Name), tensorio.InputsText(inputs))
	}
	return files, nil
}

func indexOf(inputs []tensorio.Input, name string) int {
	return slices.IndexFunc(inputs, func(in tensorio.Input) bool { return in.Name == name })
}

// loadValues reads one sample: the elements of all inputs, one input after the other.
func (a *app) loadValues(paths []string, inputs []tensorio.Input) ([]float64, error) {
	files, err := named("--input", paths, inputs)
	if err != nil {
		return nil, err
	}
	if files == nil {
		data, err := a.readFile("input", paths[0])
		if err != nil {
			return nil, err
		}
		values, err := readOne(data, inputs)
		if err != nil {
			return nil, inputError("input %s: %w", paths[0], err)
		}
		return values, nil
	}
	var all []float64
	for k, f := range files {
		data, err := a.readFile("input", f)
		if err != nil {
			return nil, err
		}
		values, err := readOne(data, inputs[k:k+1])
		if err != nil {
			return nil, inputError("input %s of %s: %w", f, tensorio.Name(inputs[k].Name), err)
		}
		all = append(all, values...)
	}
	return all, nil
}

// loadSamples reads the samples in a file, in all files of a folder, or in a file or folder for each input.
func (a *app) loadSamples(paths []string, inputs []tensorio.Input) ([][]float64, error) {
	files, err := named("--data", paths, inputs)
	if err != nil {
		return nil, err
	}
	if files == nil {
		return a.samplesAt(paths[0], inputs)
	}
	parts := make([][][]float64, len(inputs))
	for k, f := range files {
		if parts[k], err = a.samplesAt(f, inputs[k:k+1]); err != nil {
			return nil, err
		}
	}
	samples, err := tensorio.Join(parts, inputs)
	if err != nil {
		return nil, inputError("samples: %w", err)
	}
	return samples, nil
}

// samplesAt reads the samples in a file, or in all files of a folder.
func (a *app) samplesAt(path string, inputs []tensorio.Input) ([][]float64, error) {
	files := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, inputError("reading samples %s: %w", path, plainFS(err))
		}
		files = nil
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") {
				files = append(files, filepath.Join(path, e.Name()))
			}
		}
		slices.Sort(files)
	}
	var out [][]float64
	for _, f := range files {
		data, err := a.readFile("samples", f)
		if err != nil {
			return nil, err
		}
		part, err := readSamples(data, inputs)
		if err != nil {
			return nil, inputError("samples %s: %w", f, err)
		}
		out = append(out, part...)
	}
	if len(out) == 0 {
		return nil, inputError("samples %s: the folder is empty", path)
	}
	return out, nil
}

// readOne reads one sample, which may be the answer of the piece of the model before this one.
func readOne(data []byte, inputs []tensorio.Input) ([]float64, error) {
	if values, ok, err := answerInputs(data, inputs); ok {
		return values, err
	}
	return tensorio.ReadOneInputs(data, inputs)
}

// readSamples is readOne for a file that may have several samples.
func readSamples(data []byte, inputs []tensorio.Input) ([][]float64, error) {
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
		Outputs []outputFile      `json:"outputs"`
	}
	if json.Unmarshal(data, &f) != nil || len(f.Output) == 0 {
		return nil, false, nil
	}
	if f.Kind != graph.NoPost.Kind.String() {
		return nil, true, fmt.Errorf("an answer whose values are %s, which no piece of a model takes", f.Kind)
	}
	if len(f.Output) == 1 && len(inputs) == 1 {
		f.Outputs = []outputFile{{Name: inputs[0].Name, Shape: inputs[0].Shape, Values: f.Values}}
	}
	for _, in := range inputs {
		i := slices.IndexFunc(f.Outputs, func(o outputFile) bool { return o.Name == in.Name })
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

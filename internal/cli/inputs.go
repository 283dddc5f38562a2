package cli

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/internal/tensorio"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
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

// loadInput reads one input and turns it into the program's integers.
func (a *app) loadInput(paths []string, p *graph.Program) ([]int32, error) {
	values, err := a.loadValues(paths, zkmlfile.Inputs(p))
	if err != nil {
		return nil, err
	}
	return quantiseInput(paths, p, values)
}

// quantiseInput is the values as the program's integers.
func quantiseInput(paths []string, p *graph.Program, values []float64) ([]int32, error) {
	x, err := zkmlfile.Integers(p, values)
	if err != nil {
		return nil, inputError("input %s: %w", strings.Join(paths, ", "), err)
	}
	return x, nil
}

// named splits NAME=FILE arguments by input. It returns nil where the one argument is a file with everything.
func named(flag string, paths []string, inputs []tensorio.Input) ([]string, error) {
	files, err := someNamed(flag, paths, inputs)
	if k := slices.Index(files, ""); err == nil && k >= 0 {
		return nil, usageError("%s lacks input %s; the model takes %s", flag, tensorio.Name(inputs[k].Name), tensorio.InputsText(inputs))
	}
	return files, err
}

// someNamed is named for arguments that may leave inputs out.
func someNamed(flag string, paths []string, inputs []tensorio.Input) ([]string, error) {
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
	if files == nil && isFolder(paths[0]) {
		samples, err := a.samplesAt(paths[0], inputs, true)
		if err == nil && len(samples) != 1 {
			err = inputError("input %s: the folder holds %d inputs, want one", paths[0], len(samples))
		}
		if err != nil {
			return nil, err
		}
		return samples[0], nil
	}
	if files == nil {
		data, err := a.readFile("input", paths[0])
		if err != nil {
			return nil, err
		}
		values, err := zkmlfile.ReadValues(data, inputs)
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
		values, err := zkmlfile.ReadValues(data, inputs[k:k+1])
		if err != nil {
			return nil, inputError("input %s of %s: %w", f, tensorio.Name(inputs[k].Name), err)
		}
		all = append(all, values...)
	}
	return all, nil
}

// someInputs reads the integers of some inputs, at least of those that are wanted, by number: from NAME=FILE for each, or from one file of all inputs, of
// those that are wanted or of others. What was not read is nil.
func (a *app) someInputs(paths []string, p *graph.Program, want []int, others ...[]int) ([][]int32, error) {
	inputs := zkmlfile.Inputs(p)
	files, err := someNamed("--input", paths, inputs)
	if err != nil {
		return nil, err
	}
	x := make([][]int32, len(inputs))
	for k, f := range files {
		if f == "" {
			continue
		}
		data, err := a.readFile("input", f)
		if err != nil {
			return nil, err
		}
		if x[k], err = zkmlfile.ReadInput(only(p, []int{k}), data); err != nil {
			return nil, inputError("input %s of %s: %w", f, tensorio.Name(inputs[k].Name), err)
		}
	}
	for _, k := range want {
		if files != nil && x[k] == nil {
			return nil, usageError("--input lacks input %s", tensorio.Name(inputs[k].Name))
		}
	}
	if files != nil {
		return x, nil
	}
	take := func(numbers []int, v []int32) [][]int32 {
		for i, part := range only(p, numbers).SplitInput(v) {
			x[numbers[i]] = part
		}
		return x
	}
	if isFolder(paths[0]) {
		v, err := a.loadInput(paths, only(p, want))
		if err != nil {
			return nil, err
		}
		return take(want, v), nil
	}
	data, err := a.readFile("input", paths[0])
	if err != nil {
		return nil, err
	}
	failed := ""
	for _, numbers := range append([][]int{upTo(len(inputs))}, append(others, want)...) {
		if failed != "" && (len(numbers) == 0 || len(numbers) == len(inputs)) {
			continue
		}
		v, err := zkmlfile.ReadInput(only(p, numbers), data)
		if err == nil {
			return take(numbers, v), nil
		}
		if failed == "" {
			failed = err.Error()
		} else if text := tensorio.InputsText(zkmlfile.Inputs(only(p, numbers))); !strings.Contains(failed, "as "+text+": ") {
			failed = "as " + text + ": " + err.Error() + "; as all inputs: " + strings.TrimPrefix(failed, "as all inputs: ")
		}
	}
	return nil, inputError("input %s: %s", paths[0], failed)
}

// only is a program with some of its inputs, for readers of files.
func only(p *graph.Program, numbers []int) *graph.Program {
	var inputs []graph.TensorID
	for _, k := range numbers {
		inputs = append(inputs, p.Inputs[k])
	}
	return zkmlfile.With(p, inputs, p.Outputs)
}

// upTo are the numbers below n.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// loadSamples reads the samples in a file, in all files of a folder, or in a file or folder for each input.
func (a *app) loadSamples(paths []string, inputs []tensorio.Input) ([][]float64, error) {
	files, err := named("--data", paths, inputs)
	if err != nil {
		return nil, err
	}
	if files == nil {
		return a.samplesAt(paths[0], inputs, false)
	}
	parts := make([][][]float64, len(inputs))
	for k, f := range files {
		if parts[k], err = a.samplesAt(f, inputs[k:k+1], false); err != nil {
			return nil, err
		}
	}
	samples, err := tensorio.Join(parts, inputs)
	if err != nil {
		return nil, inputError("samples: %w", err)
	}
	return samples, nil
}

// samplesAt reads the samples in a file, or in all files of a folder. Where one is wanted, files with more are refused before they are unpacked, and no
// more files are read than show that there is another.
func (a *app) samplesAt(path string, inputs []tensorio.Input, one bool) ([][]float64, error) {
	most := math.MaxInt
	if one {
		most = 1
	}
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
	var pictures [][]byte // of a model that takes batches of them, which files make up together
	var names []string
	for _, f := range files {
		data, err := a.readFile("samples", f)
		if err != nil {
			return nil, err
		}
		if len(files) > 1 && len(inputs) == 1 && tensorio.Detect(data) == tensorio.PNG && tensorio.InBatch(data, inputs[0].Shape) {
			pictures, names = append(pictures, data), append(names, f)
			continue
		}
		if len(out) >= most {
			return nil, inputError("input %s: the folder holds %d inputs or more, want one", path, len(out)+1)
		}
		part, err := zkmlfile.ReadSamples(data, inputs, most)
		if err != nil {
			return nil, inputError("samples %s: %w", f, err)
		}
		out = append(out, part...)
	}
	if len(pictures) > 0 {
		part, err := tensorio.ReadPictures(names, pictures, inputs[0].Shape, most-len(out))
		if err != nil {
			return nil, inputError("samples %s: %w", path, err)
		}
		out = append(out, part...)
	}
	if len(out) == 0 {
		return nil, inputError("samples %s: the folder is empty", path)
	}
	return out, nil
}

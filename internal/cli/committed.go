package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/internal/tensorio"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// everything stands for all inputs, or all outputs, unless one has it as its name.
const everything = "all"

// commitsFlags say which inputs and outputs a key has committed instead of public.
type commitsFlags struct {
	inputs, outputs []string
	boundaries      bool // what the parts of a model hand on
}

func (f *commitsFlags) register(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.inputs, "commit-input", nil, "an input that verifiers get a commitment to instead of its values, by name; may be repeated; or all")
	c.Flags().StringArrayVar(&f.outputs, "commit-output", nil, "likewise an output")
	c.Flags().BoolVar(&f.boundaries, "commit-boundaries", false, "for a model in parts, or a piece of one: likewise what one part gives and another takes")
}

// cut has committed what the flags name of a program that is cut, and returns it.
func (f *commitsFlags) cut(p *graph.Program, c *chunks.Cutting) error {
	ends, err := f.of(p)
	if err != nil {
		return err
	}
	if f.boundaries {
		c.CommitBoundaries()
	}
	for _, i := range ends.Inputs {
		if err := c.CommitInput(p.Tensor(p.Inputs[i]).Name); err != nil {
			return withCode(ExitUnsupported, err)
		}
	}
	for _, i := range ends.Outputs {
		if err := c.CommitOutput(p.Tensor(p.Outputs[i]).Name); err != nil {
			return withCode(ExitUnsupported, err)
		}
	}
	return nil
}

// piece is what is committed of a program that is proved by itself: what the flags name, and its boundaries if it is a piece.
func (f *commitsFlags) piece(plan *setupPlan) (zkml.Commits, error) {
	out, err := f.of(plan.program)
	for _, side := range []struct{ to, from *[]int }{{&out.Inputs, &plan.commits.Inputs}, {&out.Outputs, &plan.commits.Outputs}} {
		*side.to = append(*side.to, *side.from...)
		slices.Sort(*side.to)
		*side.to = slices.Compact(*side.to)
	}
	return out, err
}

// inLine is what is committed of part k of n that form a line: each takes what the one before it gives.
func (f *commitsFlags) inLine(k, n int, p *graph.Program) (out zkml.Commits, err error) {
	if k == 0 {
		out.Inputs, err = numbersOf("--commit-input", f.inputs, p, p.Inputs)
	} else if f.boundaries {
		out.Inputs = upTo(len(p.Inputs))
	}
	if err == nil && k == n-1 {
		out.Outputs, err = numbersOf("--commit-output", f.outputs, p, p.Outputs)
	} else if f.boundaries {
		out.Outputs = upTo(len(p.Outputs))
	}
	return out, err
}

// of are the inputs and outputs of a program that the flags name.
func (f *commitsFlags) of(p *graph.Program) (out zkml.Commits, err error) {
	if out.Inputs, err = numbersOf("--commit-input", f.inputs, p, p.Inputs); err != nil {
		return out, err
	}
	out.Outputs, err = numbersOf("--commit-output", f.outputs, p, p.Outputs)
	return out, err
}

// planned is what the flags have committed, for planning parts, nil if nothing.
func (f *commitsFlags) planned(p *graph.Program) (*chunks.Committing, error) {
	ends, err := f.of(p)
	if err != nil || ends.Empty() && !f.boundaries {
		return nil, err
	}
	c := &chunks.Committing{Boundaries: f.boundaries}
	for _, i := range ends.Inputs {
		c.Inputs = append(c.Inputs, p.Inputs[i])
	}
	for _, i := range ends.Outputs {
		c.Outputs = append(c.Outputs, p.Outputs[i])
	}
	return c, nil
}

// numbersOf are the numbers, in order, of the tensors that have the names.
func numbersOf(flag string, names []string, p *graph.Program, ids []graph.TensorID) ([]int, error) {
	list := tensorsOf(p, ids)
	var out []int
	for _, name := range names {
		k := indexOf(list, name)
		if k < 0 && name == everything && len(list) > 0 {
			for i := range list {
				if !slices.Contains(out, i) {
					out = append(out, i)
				}
			}
			continue
		}
		if k < 0 {
			return nil, usageError("%s %s: the model has %s; %s stands for all of them", flag, tensorio.Name(name), tensorio.InputsText(list), everything)
		}
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out, nil
}

// tensorsOf are some of a program's tensors with their names and shapes.
func tensorsOf(p *graph.Program, ids []graph.TensorID) []tensorio.Input {
	out := make([]tensorio.Input, len(ids))
	for i, id := range ids {
		out[i] = tensorio.Input{Name: p.Tensor(id).Name, Shape: p.Tensor(id).Shape}
	}
	return out
}

// committedNames are the names of a key's committed inputs and outputs.
func committedNames(s subject) (inputs, outputs []string) {
	inputs, outputs = []string{}, []string{}
	for _, t := range s.Committed() {
		if t.Output {
			outputs = append(outputs, t.Name)
		} else {
			inputs = append(inputs, t.Name)
		}
	}
	return inputs, outputs
}

// tensorsText lists committed tensors for people.
func tensorsText(list []zkml.CommittedTensor) string {
	parts := make([]string, len(list))
	for i := range list {
		parts[i] = tensorText(&list[i])
	}
	return strings.Join(parts, ", ")
}

// tensorText is a committed tensor as messages name it.
func tensorText(t *zkml.CommittedTensor) string {
	if t.Output {
		return "output " + tensorio.Name(t.Name)
	}
	return "input " + tensorio.Name(t.Name)
}

// tensorFile is a file that is given for a committed tensor.
type tensorFile struct {
	path   string
	format [32]byte // that it says it is of
	tensor int      // among the committed ones; -1 until that is known
}

// readTensorFiles reads FILE or NAME=FILE for committed tensors, of which only some are admitted. decode returns a file's format.
func (a *app) readTensorFiles(flag, what string, args []string, list []zkml.CommittedTensor, admitted func(i int) bool, decode func(data []byte) ([32]byte, error)) ([]tensorFile, error) {
	var files []tensorFile
	for _, arg := range args {
		f, twice := tensorFile{path: arg, tensor: -1}, ""
		for i := range list {
			// A name may have an equals sign: the longest that is one counts. Of an input and an output that share theirs, the input comes first.
			name := list[i].Name
			switch {
			case !admitted(i) || !strings.HasPrefix(arg, name+"="):
			case hasFile(files, i):
				twice = tensorText(&list[i])
			case f.tensor < 0 || len(name) > len(list[f.tensor].Name):
				f.tensor, f.path = i, arg[len(name)+1:]
			}
		}
		if f.tensor < 0 && twice != "" {
			return nil, usageError("%s names %s twice", flag, twice)
		}
		data, err := a.readFile(what, f.path)
		if err != nil {
			return nil, err
		}
		switch magic := artefact(data); {
		case magic == zkml.MagicOpening && what != "opening":
			return nil, inputError("%s %s is an opening, for --opening", what, f.path)
		case magic == zkml.MagicCommitment && what != "commitment":
			return nil, inputError("%s %s is a commitment, for --commitment of verify", what, f.path)
		case magic != zkml.MagicOpening && magic != zkml.MagicCommitment:
			return nil, inputError("%s %s is no %s", what, f.path, what)
		}
		if f.format, err = decode(data); err != nil {
			return nil, inputError("%s %s: %w", what, f.path, err)
		}
		files = append(files, f)
	}
	return files, placeFiles(flag, files, list, admitted)
}

// placeFiles finds the tensor of files that name none: one that has the file's format, where several have it all of them in order.
// It leaves out files of formats that none has, and those that are too many.
func placeFiles(flag string, files []tensorFile, list []zkml.CommittedTensor, admitted func(i int) bool) error {
	for at := range files {
		if files[at].tensor >= 0 {
			continue
		}
		var free, same []int
		for i := range list {
			if admitted(i) && list[i].Format == files[at].format && !hasFile(files, i) {
				free = append(free, i)
			}
		}
		for k := at; k < len(files); k++ {
			if files[k].tensor < 0 && files[k].format == files[at].format {
				same = append(same, k)
			}
		}
		if len(same) < len(free) {
			var of []zkml.CommittedTensor
			for _, i := range free {
				of = append(of, list[i])
			}
			return usageError("%s %s could be of %s: pass NAME=FILE", flag, files[at].path, strings.ReplaceAll(tensorsText(of), ", ", " or "))
		}
		for k, i := range free {
			files[same[k]].tensor = i
		}
	}
	return nil
}

func hasFile(files []tensorFile, tensor int) bool {
	return slices.ContainsFunc(files, func(f tensorFile) bool { return f.tensor == tensor })
}

package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/internal/tensorio"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// everything stands for all inputs, or all outputs, unless one has it as its name.
const everything = "all"

// commitsFlags say which inputs and outputs a key has committed instead of public.
type commitsFlags struct{ inputs, outputs []string }

func (f *commitsFlags) register(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.inputs, "commit-input", nil, "an input that verifiers get a commitment to instead of its values, by name; may be repeated; or all")
	c.Flags().StringArrayVar(&f.outputs, "commit-output", nil, "likewise an output")
}

func (f *commitsFlags) given() bool { return len(f.inputs)+len(f.outputs) > 0 }

// of are the inputs and outputs of a program that the flags name.
func (f *commitsFlags) of(p *graph.Program) (out zkml.Commits, err error) {
	if out.Inputs, err = numbersOf("--commit-input", f.inputs, p, p.Inputs); err != nil {
		return out, err
	}
	out.Outputs, err = numbersOf("--commit-output", f.outputs, p, p.Outputs)
	return out, err
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
func committedNames(vk *zkml.VerifyingKey) (inputs, outputs []string) {
	inputs, outputs = []string{}, []string{}
	for _, t := range vk.Committed() {
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

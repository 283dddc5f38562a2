package zkml

import (
	"fmt"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// Statement is what a proof is about, beside the key and the context: values of
// the inputs and outputs that are public, commitments to the others.
type Statement struct {
	// X is the real elements of the public inputs, one input after the other in
	// the program's order, each in row-major order; Y those of the public outputs.
	X, Y []int32
	// Commitments are to the committed inputs and then to the committed outputs,
	// in the order of VerifyingKey.Committed.
	Commitments []Commitment
}

// Digests are what the transcript absorbs of the statement.
func (s *Statement) Digests() Digests {
	d := DigestsOf(s.X, s.Y)
	for i := range s.Commitments {
		d.Roots = append(d.Roots, s.Commitments[i].Root)
	}
	return d
}

// PublicInputs returns the program's inputs that are not committed, in order.
func (vk *VerifyingKey) PublicInputs() []graph.TensorID {
	return public(vk.program.Inputs, vk.commits.Inputs)
}

// PublicOutputs returns the program's outputs that are not committed, in order.
func (vk *VerifyingKey) PublicOutputs() []graph.TensorID {
	return public(vk.program.Outputs, vk.commits.Outputs)
}

// public is the tensors whose numbers are not committed.
func public(ids []graph.TensorID, committed []int) (out []graph.TensorID) {
	for i, id := range ids {
		if len(committed) > 0 && committed[0] == i {
			committed = committed[1:]
			continue
		}
		out = append(out, id)
	}
	return out
}

// Public picks the values of public tensors out of those of all inputs x and of
// all outputs y.
func (vk *VerifyingKey) Public(x, y []int32) (px, py []int32, err error) {
	if n := vk.program.InputLen(); len(x) != n {
		return nil, nil, fmt.Errorf("input: %d values, expected %d", len(x), n)
	}
	if n := vk.program.OutputLen(); len(y) != n {
		return nil, nil, fmt.Errorf("output: %d values, expected %d", len(y), n)
	}
	pick := func(ids []graph.TensorID, committed []int, parts [][]int32) (out []int32) {
		if len(committed) == 0 && len(parts) == 1 {
			return parts[0]
		}
		for i := range ids {
			if len(committed) > 0 && committed[0] == i {
				committed = committed[1:]
				continue
			}
			out = append(out, parts[i]...)
		}
		return out
	}
	p := vk.program
	return pick(p.Inputs, vk.commits.Inputs, p.SplitInput(x)), pick(p.Outputs, vk.commits.Outputs, p.SplitOutput(y)), nil
}

// check checks that the statement is one that the key can have: numbers and
// bounds of public values, and formats of commitments.
func (s *Statement) check(vk *VerifyingKey) error {
	if err := vk.program.CheckValues(vk.PublicInputs(), s.X); err != nil {
		return reject(CheckInput, err)
	}
	if err := vk.program.CheckValues(vk.PublicOutputs(), s.Y); err != nil {
		return reject(CheckOutput, err)
	}
	committed := vk.Committed()
	if len(s.Commitments) != len(committed) {
		check := CheckInput
		if len(vk.commits.Inputs) == 0 && len(committed) > 0 {
			check = CheckOutput
		}
		return rejectf(check, "%d commitments, want %d: %s", len(s.Commitments), len(committed), names(committed))
	}
	for i := range committed {
		if t := &committed[i]; s.Commitments[i].Format != t.Format {
			return rejectf(t.check(CheckInput, CheckOutput), "%s: a commitment of format %x..., want %x...", t, s.Commitments[i].Format[:4], t.Format[:4])
		}
	}
	return nil
}

func names(list []CommittedTensor) string {
	if len(list) == 0 {
		return "all inputs and outputs are public"
	}
	s := ""
	for i := range list {
		if i > 0 {
			s += ", "
		}
		s += list[i].String()
	}
	return s
}

// check is the check of the tensor's side.
func (t *CommittedTensor) check(input, output string) string {
	if t.Output {
		return output
	}
	return input
}

// named compares the statement with what a proof's header says that it is about.
// The header only tells what differs: the transcript has the statement's own
// digests and roots, and the argument evaluates the values themselves.
func (s *Statement) named(vk *VerifyingKey, d Digests, h *ProofHeader) error {
	if h.Input != d.Input {
		return rejectf(CheckInputBind, "the proof is for another input")
	}
	if h.Output != d.Output {
		return rejectf(CheckOutputBind, "the proof is for another output")
	}
	committed := vk.Committed()
	if len(h.Roots) != len(committed) {
		return rejectf(CheckFormat, "roots of %d commitments, want %d", len(h.Roots), len(committed))
	}
	for i := range committed {
		if t := &committed[i]; h.Roots[i] != s.Commitments[i].Root {
			return rejectf(t.check(CheckInputBind, CheckOutputBind), "%s: the proof is for another commitment", t)
		}
	}
	return nil
}

// knowledge is what the argument's verifier has of the statement. Public values
// are within bounds, and so determined by their residues.
func (s *Statement) knowledge(vk *VerifyingKey) *statement {
	st := &statement{public: make([][]int32, len(vk.inference.Plan.Polys))}
	for _, side := range []struct {
		ids []graph.TensorID
		v   []int32
	}{{vk.PublicInputs(), s.X}, {vk.PublicOutputs(), s.Y}} {
		for i, v := range vk.program.Split(side.ids, side.v) {
			st.public[side.ids[i]] = v
		}
	}
	return st
}

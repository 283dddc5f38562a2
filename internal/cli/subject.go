package cli

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/chunks"
	"github.com/zkwarp/zkwarp/zkml/graph"
	zkprover "github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

// subject is what a statement is about: the program of a key, or a chain as it is from outside.
type subject interface {
	Program() *graph.Program
	Committed() []zkml.CommittedTensor
	PublicInputs() []graph.TensorID
	PublicOutputs() []graph.TensorID
}

// chainFace is a chain as it is from outside.
type chainFace struct {
	*chunks.Chain
	program *graph.Program
}

func faceOf(c *chunks.Chain) *chainFace { return &chainFace{c, zkmlfile.Face(c)} }

func (f *chainFace) Program() *graph.Program { return f.program }

func (f *chainFace) PublicInputs() []graph.TensorID {
	return pick(f.program.Inputs, f.Chain.PublicInputs())
}

func (f *chainFace) PublicOutputs() []graph.TensorID {
	return pick(f.program.Outputs, f.Chain.PublicOutputs())
}

// loadSubject reads a verifiers' key.
func (a *app) loadSubject(path string) (subject, error) {
	chain, vk, err := a.loadAnyVerifyingKey(path)
	switch {
	case err != nil:
		return nil, err
	case chain != nil:
		return faceOf(chain), nil
	}
	return vk, nil
}

// pick are some of a program's inputs or outputs, by number.
func pick(ids []graph.TensorID, numbers []int) (out []graph.TensorID) {
	for _, k := range numbers {
		out = append(out, ids[k])
	}
	return out
}

// publicOf is a subject's program with what is public of it.
func publicOf(s subject) *graph.Program {
	return zkmlfile.With(s.Program(), s.PublicInputs(), s.PublicOutputs())
}

// commitTo makes the commitment of an opening, which is of the subject's committed tensor number i.
func commitTo(q *device.Queue, s subject, i int, o *zkml.Opening) (*zkml.Commitment, error) {
	if f, ok := s.(*chainFace); ok {
		part, tensor := f.CommittedIn(i)
		return zkprover.Commit(q, f.Keys()[part], tensor, o)
	}
	return zkprover.Commit(q, s.(*zkml.VerifyingKey), i, o)
}

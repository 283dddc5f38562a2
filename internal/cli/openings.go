package cli

import (
	"fmt"

	"github.com/zkwarp/zkwarp/internal/tensorio"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/zkmlfile"
)

// loadedOpening is an opening with the file that it comes from.
type loadedOpening struct {
	path string
	*zkml.Opening
}

// loadOpenings reads openings of committed tensors, of which only some are admitted: one for each tensor or nil. Others are files of
// something else, or too many.
func (a *app) loadOpenings(args []string, list []zkml.CommittedTensor, admitted func(i int) bool) (by []*loadedOpening, others []string, err error) {
	var read []*zkml.Opening
	files, err := a.readTensorFiles("--opening", "opening", args, list, admitted, func(data []byte) ([32]byte, error) {
		o, err := zkml.DecodeOpening(data)
		if err != nil {
			return [32]byte{}, err
		}
		read = append(read, o)
		return o.Format, nil
	})
	if err != nil {
		return nil, nil, err
	}
	by = make([]*loadedOpening, len(list))
	for k, f := range files {
		if f.tensor < 0 {
			others = append(others, f.path)
			continue
		}
		by[f.tensor] = &loadedOpening{f.path, read[k]}
	}
	return by, others, nil
}

// secretInput is an input of a key of which some is committed.
type secretInput struct {
	x      []int32          // all inputs
	opened []*loadedOpening // by committed tensor, nil where there is none
	salts  [][32]byte       // by committed tensor; nil if there is none
}

// loadSecretInput reads the inputs that prove takes: those of openings, and the others from files.
func (a *app) loadSecretInput(s subject, key string, input, openings []string) (*secretInput, error) {
	list, program := s.Committed(), s.Program()
	isInput := func(i int) bool { return !list[i].Output }
	in := &secretInput{}
	if len(openings) == 0 && len(input) > 0 {
		x, err := a.loadInput(input, program)
		if err != nil {
			return nil, err
		}
		in.x, in.opened = x, make([]*loadedOpening, len(list))
		return in, in.salt()
	}
	inputs, _ := committedNames(s)
	if len(inputs) == 0 {
		return nil, usageError("--opening goes with a committed input, of which key %s has none", key)
	}
	opened, others, err := a.loadOpenings(openings, list, isInput)
	if err != nil {
		return nil, err
	}
	if len(others) > 0 {
		return nil, inputError("opening %s fits nothing that is left of what key %s has committed: %s", others[0], key, tensorsText(list))
	}
	parts := make([][]int32, len(program.Inputs))
	for i, o := range opened {
		if o == nil {
			continue
		}
		if err := list[i].Check(o.Opening); err != nil {
			return nil, inputError("opening %s: %w", o.path, err)
		}
		parts[list[i].Index] = o.Values
	}
	var want []int
	for k := range parts {
		if parts[k] == nil {
			want = append(want, k)
		}
	}
	if len(want) > 0 && len(input) == 0 {
		return nil, usageError("pass --input for %s", tensorio.InputsText(zkmlfile.Inputs(only(program, want))))
	}
	if len(input) > 0 {
		given, err := a.someInputs(input, program, want)
		if err != nil {
			return nil, err
		}
		if err := agree(list, opened, given); err != nil {
			return nil, inputError("%w", err)
		}
		for k := range parts {
			if parts[k] == nil {
				parts[k] = given[k]
			}
		}
	}
	for _, part := range parts {
		in.x = append(in.x, part...)
	}
	in.opened = opened
	return in, in.salt()
}

// salt takes the salts of openings, and draws the others.
func (in *secretInput) salt() (err error) {
	for _, o := range in.opened {
		var salt [32]byte
		if o != nil {
			salt = o.Salt
		} else if salt, err = zkml.Salt(); err != nil {
			return err
		}
		in.salts = append(in.salts, salt)
	}
	return nil
}

// disagreement is an input that is given twice, and not the same. It does not say what the values are.
type disagreement struct {
	tensor  *zkml.CommittedTensor
	opening string // the file
	element int
}

func (d *disagreement) Error() string {
	return fmt.Sprintf("%s: opening %s is of another value of element %d than the file for it", tensorText(d.tensor), d.opening, d.element)
}

// agree compares openings of inputs with values that were read for them, by the number of the input.
func agree(list []zkml.CommittedTensor, opened []*loadedOpening, x [][]int32) error {
	for i, o := range opened {
		t := &list[i]
		if o == nil || t.Output || x[t.Index] == nil {
			continue
		}
		if err := sameValues(t, o, x[t.Index]); err != nil {
			return err
		}
	}
	return nil
}

// sameValues compares an opening with values that are given for its tensor.
func sameValues(t *zkml.CommittedTensor, o *loadedOpening, values []int32) error {
	for k, v := range values {
		if o.Values[k] != v {
			return &disagreement{t, o.path, k}
		}
	}
	return nil
}

package whirfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zkwarp/zkwarp/whir"
)

// Scheme is one instance of the protocol.
type Scheme struct {
	// Field names the fields: "m31", "cm31", "babybear4", ...
	Field string
	// Hash of the trees: "poseidon2", "blake3" or "sha256".
	Hash string
	// About describes both in a few words.
	About string

	protocol
}

// protocol is what differs between schemes. Points and values are canonical
// words, checked by the caller.
type protocol interface {
	// Spec of the fields, for tables of symbols.
	Spec() whir.Spec
	// EntryWords is the number of words of a table's entry.
	EntryWords() int
	// checkRoot checks that 32 bytes can be a root.
	checkRoot(root Root) error
	choose(vars int, sched *whir.Schedule, o whir.Options) (*Params, error)
	decodeParams(data []byte) (*Params, error)
	checkProof(p *Params, claims int, proof []byte) error
	verify(p *Params, root Root, claims []Claim, proof []byte) error
}

// Root of a commitment: 8 canonical little-endian words where the hash is over a
// field, else the hash's 32 bytes.
type Root [32]byte

// Name is field and hash, as files have it.
func (s *Scheme) Name() string { return s.Field + "-" + s.Hash }

// ErrUnknown is what errors about schemes that are not there wrap.
var ErrUnknown = errors.New("no such scheme")

// Schemes lists all schemes.
func Schemes() []*Scheme { return slices.Clone(schemes) }

// Find returns the scheme of the given name, such as "m31-poseidon2".
func Find(name string) (*Scheme, error) {
	var known []string
	for _, s := range schemes {
		if s.Name() == name {
			return s, nil
		}
		known = append(known, s.Name())
	}
	return nil, fmt.Errorf("%w: %.40q, there are %s", ErrUnknown, name, strings.Join(known, ", "))
}

// Choose finds parameters for commitments to o.Batch tables of 2^vars entries.
func (s *Scheme) Choose(vars int, o whir.Options) (*Params, error) { return s.choose(vars, nil, o) }

// Complete finds parameters with the given schedule.
func (s *Scheme) Complete(vars int, sched whir.Schedule, o whir.Options) (*Params, error) {
	return s.choose(vars, &sched, o)
}

// choose with the schedule, if there is one.
func choose(spec whir.Spec, vars int, sched *whir.Schedule, o whir.Options) (*whir.Params, error) {
	if sched == nil {
		return whir.Choose(spec, vars, o)
	}
	return whir.Complete(spec, vars, *sched, o)
}

package zkml

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// Mode says how a key binds the weights.
type Mode uint8

// Modes.
const (
	// Committed: the key holds a commitment to the weights and a proof that
	// they are within their bounds. Verifiers do not need the weights.
	Committed Mode = iota
	// PublicWeights: the key holds only the weights' digest. Verifiers have the
	// weights, hash them and evaluate them; proofs carry no opening of them.
	PublicWeights
	modes
)

func (m Mode) String() string {
	if m < modes {
		return [...]string{"committed weights", "public weights"}[m]
	}
	return fmt.Sprintf("mode %d", uint8(m))
}

// VerifyingKey is everything that a verifier knows before it sees a proof. It
// is immutable and safe for concurrent use.
type VerifyingKey struct {
	program       *graph.Program
	mode          Mode
	commits       Commits
	weightsDigest [32]byte
	root          merkle.Digest // of the weights' commitment, if Committed
	settings      Settings
	weightsProof  []byte // that the weights are well formed, if Committed

	core      []byte // the encoding that the digest is of
	digest    [32]byte
	inference *Argument
	weights   *Argument // nil in public-weights mode or without parameters

	once     sync.Once
	checkErr error
}

// Commits says which of a program's inputs and outputs are committed instead of
// public, by their numbers. The zero value is none.
type Commits = plan.Commits

// KeyParts are what a key is made of.
type KeyParts struct {
	Program       *graph.Program
	Mode          Mode
	Commits       Commits
	WeightsDigest [32]byte
	Root          merkle.Digest
	Settings      Settings
	WeightsProof  []byte
}

// NewVerifyingKey derives a key from its parts. It checks that they fit
// together; Check says whether the key's own proof holds.
func NewVerifyingKey(parts KeyParts) (*VerifyingKey, error) {
	vk := &VerifyingKey{
		program: parts.Program, mode: parts.Mode, weightsDigest: parts.WeightsDigest,
		commits: parts.Commits.Clone(),
		root:    parts.Root, settings: parts.Settings.clone(), weightsProof: parts.WeightsProof,
	}
	if vk.mode >= modes {
		return nil, fmt.Errorf("zkml: key: unknown %s", vk.mode)
	}
	if vk.program == nil {
		return nil, fmt.Errorf("zkml: key: no program")
	}
	if err := vk.program.Validate(); err != nil {
		return nil, fmt.Errorf("zkml: key: %w", err)
	}
	var err error
	if vk.inference, vk.weights, err = arguments(vk.program, vk.mode, vk.commits, &vk.settings); err != nil {
		return nil, fmt.Errorf("zkml: key: %w", err)
	}
	if vk.core, err = vk.encodeCore(); err != nil {
		return nil, fmt.Errorf("zkml: key: %w", err)
	}
	vk.digest = sha256.Sum256(append([]byte("zkwarp verifying key\n"), vk.core...))
	return vk, nil
}

// WithWeightsProof is the key with the proof of its weights put in. The digest
// does not depend on it.
func (vk *VerifyingKey) WithWeightsProof(proof []byte) (*VerifyingKey, error) {
	return NewVerifyingKey(KeyParts{Program: vk.program, Mode: vk.mode, Commits: vk.commits, WeightsDigest: vk.weightsDigest, Root: vk.root, Settings: vk.settings, WeightsProof: proof})
}

// arguments plans both proofs of a program and gives them their settings.
// weights is nil if there is nothing to prove about weights.
func arguments(p *graph.Program, mode Mode, commits Commits, s *Settings) (inference, weights *Argument, err error) {
	if s.Weights.commitment(plan.Parameters) != nil {
		return nil, nil, fmt.Errorf("weights: a second commitment of the parameters")
	}
	main, err := plan.ForProgram(p, commits)
	if err != nil {
		return nil, nil, err
	}
	inference = &Argument{Label: labelProgram, Plan: main, Work: s.Inference.Work, Commitments: s.Inference.Commitments}
	if err := inference.fits(mode); err != nil {
		return nil, nil, fmt.Errorf("inference: %w", err)
	}
	if mode == PublicWeights || len(p.Params()) == 0 {
		if !s.Weights.empty() {
			return nil, nil, fmt.Errorf("weights: settings where there is nothing to prove")
		}
		return inference, nil, nil
	}
	own, err := plan.ForWeights(p)
	if err != nil {
		return nil, nil, err
	}
	weights = &Argument{Label: labelWeights, Plan: own, Work: s.Weights.Work, Commitments: slices.Clone(s.Weights.Commitments)}
	if len(weights.Commitments) > 0 {
		weights.Commitments[plan.Parameters] = inference.Commitments[plan.Parameters]
	}
	if err := weights.fits(mode); err != nil {
		return nil, nil, fmt.Errorf("weights: %w", err)
	}
	return inference, weights, nil
}

// fits checks that exactly the stacks that need a commitment have parameters,
// for their size.
func (a *Argument) fits(mode Mode) error {
	if a.Work < 0 || a.Work > MaxWork {
		return fmt.Errorf("%d bits of work, want 0 to %d", a.Work, MaxWork)
	}
	if a.Work > 0 && len(a.Plan.Leaves) == 0 {
		return fmt.Errorf("%d bits of work before lookups, of which there are none", a.Work)
	}
	if len(a.Commitments) != len(a.Plan.Stacks) {
		return fmt.Errorf("parameters for %d commitments, want %d", len(a.Commitments), len(a.Plan.Stacks))
	}
	for h, c := range a.Commitments {
		s := &a.Plan.Stacks[h]
		need := len(s.Evals) > 0 && !(mode == PublicWeights && plan.Home(h) == plan.Parameters)
		if need != (c != nil) {
			return fmt.Errorf("%s: committed %t, want %t", s.Home, c != nil, need)
		}
		if c == nil {
			continue
		}
		if c.Vars() != s.Vars {
			return fmt.Errorf("%s: commitment for 2^%d entries, want 2^%d", s.Home, c.Vars(), s.Vars)
		}
		if fold := c.Inner().Round(0).Fold; plan.Home(h) >= plan.FirstCommitted && fold < plan.MinSaltedFold {
			return fmt.Errorf("%s: the first round binds %d variables, want %d or more, so that every row is salted", s.Home, fold, plan.MinSaltedFold)
		}
	}
	return nil
}

// Program that the key is for. It must not be changed.
func (vk *VerifyingKey) Program() *graph.Program { return vk.program }

// Mode of the key.
func (vk *VerifyingKey) Mode() Mode { return vk.mode }

// Digest binds everything but the proof of the weights; every proof names it.
func (vk *VerifyingKey) Digest() [32]byte { return vk.digest }

// WeightsDigest is the digest of the weights (graph.Weights.Digest).
func (vk *VerifyingKey) WeightsDigest() [32]byte { return vk.weightsDigest }

// Root of the weights' commitment; zero in public-weights mode.
func (vk *VerifyingKey) Root() merkle.Digest { return vk.root }

// Inference is the argument of proofs under this key.
func (vk *VerifyingKey) Inference() *Argument { return vk.inference }

// WeightsArgument is the argument of the key's own proof, nil if it has none.
func (vk *VerifyingKey) WeightsArgument() *Argument { return vk.weights }

// WeightsProof is the key's own proof, that its weights are well formed.
func (vk *VerifyingKey) WeightsProof() []byte { return vk.weightsProof }

// Settings of the key.
func (vk *VerifyingKey) Settings() Settings { return vk.settings.clone() }

// Commits says which inputs and outputs are committed.
func (vk *VerifyingKey) Commits() Commits { return vk.commits.Clone() }

// Check verifies what does not depend on any proof: the security budget, and
// the key's own proof that the committed weights are well formed. It does the
// work once; Verify calls it.
func (vk *VerifyingKey) Check() error {
	vk.once.Do(func() {
		// Stands if the check panics and somebody recovers.
		vk.checkErr = rejectf(CheckKeyProof, "the check did not finish")
		vk.checkErr = vk.check()
	})
	return vk.checkErr
}

func (vk *VerifyingKey) check() error {
	if r := Security(vk); !(r.Sum >= MinSecurity) {
		return rejectf(CheckSecurity, "%.2f bits in all, want %d", r.Sum, MinSecurity)
	}
	if vk.weights == nil {
		if len(vk.weightsProof) != 0 {
			return rejectf(CheckKeyProof, "a proof of %d bytes where none belongs", len(vk.weightsProof))
		}
		return nil
	}
	proof, err := vk.weights.DecodeProof(vk.weightsProof)
	if err != nil {
		return reject(CheckKeyProof, err)
	}
	tr, oracle, err := vk.weights.Begin(vk.digest, vk.root)
	if err != nil {
		return reject(CheckKeyProof, err)
	}
	if err := vk.weights.check(tr, &statement{oracle: oracle}, proof); err != nil {
		return reject(CheckKeyProof, err)
	}
	return nil
}

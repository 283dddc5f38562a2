package zkml

import (
	"encoding/binary"
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/internal/mapped"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// Options of Verify; nil means none.
type Options struct {
	// Context is what the caller ties the proof to (a nonce, a session, a
	// name). The prover must have used the same bytes.
	Context []byte
	// Weights of the program; needed in public-weights mode, not used in any
	// other.
	Weights *graph.Weights
}

// Verify checks that proof shows y to be the program's outputs on x under a key
// for which all of them are public. x is the real elements of all inputs, one
// after the other in the program's order, each in row-major order; y those of the
// outputs. It returns nil, or an error naming the first check that failed
// (FailedCheck).
func Verify(vk *VerifyingKey, x, y []int32, proof []byte, opts *Options) error {
	return VerifyStatement(vk, &Statement{X: x, Y: y}, proof, opts)
}

// VerifyStatement is Verify for keys that have some inputs or outputs committed:
// proof shows that whoever made it knows values behind the commitments, within
// their tensors' bounds, which with the public ones are the program's inputs and
// what it gives for them. It returns nil, or an error naming the first check that
// failed (FailedCheck).
func VerifyStatement(vk *VerifyingKey, s *Statement, proof []byte, opts *Options) error {
	if err := given.Check(given.Arg{Name: "verifying key", Given: vk != nil}, given.Arg{Name: "statement", Given: s != nil}); err != nil {
		return fmt.Errorf("zkml: verify: %w", err)
	}
	if opts == nil {
		opts = new(Options)
	}
	if err := s.check(vk); err != nil {
		return err
	}
	h, body, err := DecodeProofHeader(proof)
	if err != nil {
		return reject(CheckFormat, err)
	}
	if err := vk.named(h); err != nil {
		return err
	}
	digests := s.Digests()
	if err := s.named(vk, digests, &h); err != nil {
		return err
	}
	if err := vk.Check(); err != nil {
		return err
	}
	st := s.knowledge(vk)
	if vk.mode == PublicWeights {
		if st.params, err = vk.publicParams(opts.Weights); err != nil {
			return err
		}
	}
	decoded, err := vk.inference.DecodeProof(body)
	if err != nil {
		return err
	}
	tr, oracle, err := vk.inference.Begin(vk.digest, vk.root)
	if err != nil {
		return reject(CheckFormat, err)
	}
	st.oracle = oracle
	AbsorbStatement(tr, digests, opts.Context)
	if st.committed, err = vk.inference.ReceiveStatement(tr, digests.Roots); err != nil {
		return reject(CheckFormat, err)
	}
	return vk.inference.check(tr, st, decoded)
}

// publicParams checks public weights against the key and stacks them.
func (vk *VerifyingKey) publicParams(w *graph.Weights) ([]m31.Element, error) {
	if w == nil {
		return nil, rejectf(CheckWeights, "the key is in public-weights mode and no weights are given")
	}
	got, err := w.Digest(vk.program)
	if err != nil {
		return nil, reject(CheckWeights, err)
	}
	if got != vk.weightsDigest {
		return nil, rejectf(CheckWeights, "these weights are not the key's")
	}
	var stack []m31.Element
	err = mapped.Guard(func() error {
		stack = vk.inference.Plan.StackParams(vk.program, w)
		return nil
	})
	return stack, err
}

// ProofHeader names what a proof claims to be about.
type ProofHeader struct {
	Key     [32]byte // digest of the verifying key
	Digests          // of the statement
}

// DecodeProofHeader takes the header off an encoded proof.
func DecodeProofHeader(proof []byte) (h ProofHeader, body []byte, err error) {
	if h.Key, body, err = readHeader(proof, MagicProof, "proof"); err != nil {
		return h, nil, err
	}
	r := &cursor{data: body}
	copy(h.Input[:], r.take("digest of the input", 32))
	copy(h.Output[:], r.take("digest of the output", 32))
	n := r.u32("number of commitments")
	if n > plan.MaxCommitted {
		return h, nil, formatf("proof: %d commitments, at most %d", n, plan.MaxCommitted)
	}
	for i := uint32(0); i < n && r.err == nil; i++ {
		var root merkle.Digest
		r.words("root of a commitment", root[:])
		h.Roots = append(h.Roots, root)
	}
	if r.err != nil {
		return h, nil, formatf("proof: %w", r.err)
	}
	return h, r.data, nil
}

// DecodeProof reads a proof for the key without verifying it: nil error means
// that it is whole and well-formed, not that it proves anything. Errors are
// those of Verify for CheckFormat and CheckKeyDigest.
func DecodeProof(vk *VerifyingKey, proof []byte) (*Proof, error) {
	if err := given.Check(given.Arg{Name: "verifying key", Given: vk != nil}); err != nil {
		return nil, fmt.Errorf("zkml: proof: %w", err)
	}
	h, body, err := DecodeProofHeader(proof)
	if err != nil {
		return nil, reject(CheckFormat, err)
	}
	if err := vk.named(h); err != nil {
		return nil, err
	}
	if n := len(vk.inference.Plan.Committed); len(h.Roots) != n {
		return nil, rejectf(CheckFormat, "roots of %d commitments, want %d", len(h.Roots), n)
	}
	return vk.inference.DecodeProof(body)
}

// named checks that a proof is for this key and no other.
func (vk *VerifyingKey) named(h ProofHeader) error {
	if h.Key != vk.digest {
		return rejectf(CheckKeyDigest, "the proof is for another key (%x..., this one is %x...)", h.Key[:4], vk.digest[:4])
	}
	return nil
}

// EncodeProof is the encoding of an inference's proof, as Verify reads it; d are
// the digests of its statement.
func EncodeProof(vk *VerifyingKey, d Digests, p *Proof) ([]byte, error) {
	if err := given.Check(given.Arg{Name: "verifying key", Given: vk != nil}, given.Arg{Name: "proof", Given: p != nil}); err != nil {
		return nil, fmt.Errorf("zkml: proof: %w", err)
	}
	b := append(header(MagicProof, vk.digest), d.Input[:]...)
	b = binary.LittleEndian.AppendUint32(append(b, d.Output[:]...), uint32(len(d.Roots)))
	for i := range d.Roots {
		b = m31.AppendBytes(b, d.Roots[i][:])
	}
	return vk.inference.AppendProof(b, p)
}

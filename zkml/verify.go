package zkml

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
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

// Verify checks that proof shows y to be the program's outputs on x under the
// key. x is the real elements of all inputs, one after the other in the
// program's order, each in row-major order; y those of the outputs. It returns
// nil, or an error naming the first check that failed (FailedCheck).
func Verify(vk *VerifyingKey, x, y []int32, proof []byte, opts *Options) error {
	if opts == nil {
		opts = new(Options)
	}
	p := vk.program
	if err := p.CheckInput(x); err != nil {
		return reject(CheckInput, err)
	}
	if err := p.CheckOutput(y); err != nil {
		return reject(CheckOutput, err)
	}
	h, body, err := DecodeProofHeader(proof)
	if err != nil {
		return reject(CheckFormat, err)
	}
	if err := vk.named(h); err != nil {
		return err
	}
	// The header's digests only tell what differs. The transcript has those of x
	// and y, and the argument evaluates x and y themselves.
	digests := DigestsOf(x, y)
	if h.Input != digests.Input {
		return rejectf(CheckInputBind, "the proof is for another input")
	}
	if h.Output != digests.Output {
		return rejectf(CheckOutputBind, "the proof is for another output")
	}
	if err := vk.Check(); err != nil {
		return err
	}
	st := newStatement(p, x, y)
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
	return vk.inference.check(tr, st, decoded)
}

// newStatement tells inputs and outputs apart. Their values are within bounds,
// and so determined by their residues.
func newStatement(p *graph.Program, x, y []int32) *statement {
	st := &statement{public: make([][]int32, len(p.Tensors))}
	for i, v := range p.SplitInput(x) {
		st.public[p.Inputs[i]] = v
	}
	for i, v := range p.SplitOutput(y) {
		st.public[p.Outputs[i]] = v
	}
	return st
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
	return vk.inference.Plan.StackParams(vk.program, w), nil
}

// ProofHeader names what a proof claims to be about.
type ProofHeader struct {
	Key           [32]byte // digest of the verifying key
	Input, Output [32]byte // as DigestsOf makes them
}

// DecodeProofHeader takes the header off an encoded proof.
func DecodeProofHeader(proof []byte) (h ProofHeader, body []byte, err error) {
	if h.Key, body, err = readHeader(proof, MagicProof, "proof"); err != nil {
		return h, nil, err
	}
	if len(body) < 64 {
		return h, nil, formatf("proof: truncated: %d bytes", len(proof))
	}
	copy(h.Input[:], body)
	copy(h.Output[:], body[32:])
	return h, body[64:], nil
}

// DecodeProof reads a proof for the key without verifying it: nil error means
// that it is whole and well-formed, not that it proves anything. Errors are
// those of Verify for CheckFormat and CheckKeyDigest.
func DecodeProof(vk *VerifyingKey, proof []byte) (*Proof, error) {
	h, body, err := DecodeProofHeader(proof)
	if err != nil {
		return nil, reject(CheckFormat, err)
	}
	if err := vk.named(h); err != nil {
		return nil, err
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
// the digests of its inputs and outputs.
func EncodeProof(vk *VerifyingKey, d Digests, p *Proof) ([]byte, error) {
	b := append(header(MagicProof, vk.digest), d.Input[:]...)
	return vk.inference.AppendProof(append(b, d.Output[:]...), p)
}

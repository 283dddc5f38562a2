package chunks

import (
	"fmt"

	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/given"
	"github.com/zkwarp/zkwarp/zkml/internal/wire"
)

// MagicPart begins the encoding of one part's proof.
const MagicPart = "ZKWCHPT\n"

// PartProof is the proof of one part of a chain by itself, as a file holds it while others are being made, or where they are made elsewhere.
// Whoever has those of all parts has the proof of the chain (Join).
type PartProof struct {
	Chain [32]byte        // digest of the chain
	Part  int             // from 0
	Y     []int32         // the values of the part's public outputs
	Roots []merkle.Digest // of the commitments to its others, in order
	Proof []byte          // in the chain's context for the part
}

// NewPart is the proof of part k by itself; s is the statement that it is of, under the part's key.
func (c *Chain) NewPart(k int, s *zkml.Statement, proof []byte) *PartProof {
	p := &PartProof{Chain: c.digest, Part: k, Y: s.Y, Proof: proof}
	for _, made := range s.Commitments[commitments(c.ends[k].in):] {
		p.Roots = append(p.Roots, made.Root)
	}
	return p
}

// Encode is the canonical encoding.
func (p *PartProof) Encode() []byte {
	w := wire.NewWriter(MagicPart, Version)
	w.B = append(w.B, p.Chain[:]...)
	w.U32(uint32(p.Part))
	writePart(w, p.Y, p.Roots, p.Proof)
	return w.B
}

// DecodePart reads the proof of one part.
func DecodePart(data []byte) (*PartProof, error) {
	r := wire.NewReader(data, MagicPart, Version, "proof of a part")
	p := new(PartProof)
	copy(p.Chain[:], r.Take(len(p.Chain), "digest of the chain"))
	if p.Part = int(r.U32("number of the part")); p.Part >= MaxParts {
		r.Fail("part %d, expected less than %d", p.Part, MaxParts)
	}
	p.Y, p.Roots, p.Proof = readPart(r)
	if err := r.Done(); err != nil {
		return nil, err
	}
	return p, nil
}

// Join puts the proofs of all parts together, in any order. It checks that each part is there once and belongs to the chain; whether the proofs
// hold, Verify tells. A part of another chain is a rejection (zkml.CheckKeyDigest); parts that are missing or there twice are other errors.
func Join(c *Chain, parts []*PartProof) (*Proof, error) {
	if err := given.Check(given.Arg{Name: "chain", Given: c != nil}); err != nil {
		return nil, fmt.Errorf("chain: %w", err)
	}
	n := len(c.keys)
	out := &Proof{Y: make([][]int32, n), Roots: make([][]merkle.Digest, n), Proofs: make([][]byte, n)}
	for i, p := range parts {
		switch {
		case p == nil:
			return nil, fmt.Errorf("chain: %w", given.Check(given.Arg{Name: fmt.Sprintf("proof number %d of %d", i+1, len(parts))}))
		case p.Chain != c.digest:
			return nil, fmt.Errorf("chain: part %d: %w", p.Part+1, reject(zkml.CheckKeyDigest, fmt.Errorf("it is of the chain %x, the key is of %x", p.Chain[:8], c.digest[:8])))
		case p.Part < 0 || p.Part >= len(c.keys):
			return nil, fmt.Errorf("chain: a proof of part %d, the chain has %d", p.Part+1, len(c.keys))
		case out.Proofs[p.Part] != nil:
			return nil, fmt.Errorf("chain: two proofs of part %d of %d", p.Part+1, len(c.keys))
		}
		out.Y[p.Part], out.Roots[p.Part], out.Proofs[p.Part] = p.Y, p.Roots, p.Proof
		if p.Proof == nil {
			out.Proofs[p.Part] = []byte{}
		}
	}
	for k, p := range out.Proofs {
		if p == nil {
			return nil, fmt.Errorf("chain: the proof of part %d of %d is missing", k+1, len(c.keys))
		}
	}
	return out, nil
}

package chunks

import (
	"bytes"
	"io"
	"slices"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/wire"
)

// writePart writes what a proof has of one part.
func writePart(w *wire.Writer, y []int32, roots []merkle.Digest, proof []byte) {
	w.U32(uint32(len(y)))
	w.Ints(y, 4)
	w.U32(uint32(len(roots)))
	for i := range roots {
		w.B = m31.AppendBytes(w.B, roots[i][:])
	}
	w.U32(uint32(len(proof)))
	w.B = append(w.B, proof...)
}

// readPart reads what a proof has of one part.
func readPart(r *wire.Reader) (y []int32, roots []merkle.Digest, proof []byte) {
	y = r.Ints(r.Count(graph.MaxElements, 4, "outputs"), 4, "outputs")
	roots = make([]merkle.Digest, r.Count(plan.MaxCommitted, 4*len(merkle.Digest{}), "roots of committed outputs"))
	for i := range roots {
		if b := r.Take(4*len(roots[i]), "root of a committed output"); b != nil {
			if err := m31.Decode(roots[i][:], b); err != nil {
				r.Fail("root of a committed output: %w", err)
			}
		}
	}
	return y, roots, slices.Clone(r.Take(int(r.U32("proof")), "proof"))
}

// Encode is the proof's canonical encoding.
func (p *Proof) Encode() []byte {
	var b bytes.Buffer
	_ = p.Write(&b) // which never fails
	return b.Bytes()
}

// Write writes the proof's canonical encoding part by part, without having all of it in memory once more.
func (p *Proof) Write(out io.Writer) error {
	w := wire.NewWriter(MagicProof, Version)
	w.U32(uint32(len(p.Proofs)))
	for k := range p.Proofs {
		writePart(w, p.Y[k], p.Roots[k], p.Proofs[k])
		if _, err := out.Write(w.B); err != nil {
			return err
		}
		w.B = w.B[:0]
	}
	if len(p.Proofs) == 0 {
		_, err := out.Write(w.B)
		return err
	}
	return nil
}

// DecodeProof reads a proof of a chain.
func DecodeProof(data []byte) (*Proof, error) {
	r := wire.NewReader(data, MagicProof, Version, "proof of a chain")
	p := new(Proof)
	for range r.Count(MaxParts, 12, "parts") {
		y, roots, proof := readPart(r)
		if r.Err() != nil {
			return nil, r.Err()
		}
		p.Y, p.Roots, p.Proofs = append(p.Y, y), append(p.Roots, roots), append(p.Proofs, proof)
	}
	if err := r.Done(); err != nil {
		return nil, err
	}
	return p, nil
}

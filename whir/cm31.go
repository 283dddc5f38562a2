package whir

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/ntt"
)

// SpecCM31 is symbols in the complex extension of Mersenne-31 and challenges
// in its quadratic extension QM31.
func SpecCM31() Spec {
	return Spec{
		Name:           "M31; CM31 = M31[i]/(i^2+1); QM31 = CM31[u]/(u^2-2-i); Poseidon2 t=16,24",
		Modulus:        m31.P,
		SymbolWords:    2,
		ChallengeWords: 4,
		MaxLogDomain:   ntt.MaxLogCM31,
	}
}

// The types of the protocol over CM31 and QM31.
type (
	// SchemeCM31 is the protocol itself.
	SchemeCM31 = Scheme[m31.Element, m31.CM31, m31.QM31]
	// OracleCM31 is a committed word.
	OracleCM31 = Oracle[m31.Element, m31.CM31, m31.QM31]
	// ProofCM31 is a proof.
	ProofCM31 = Proof[m31.Element, m31.QM31]
	// StatementCM31 is what a proof is of.
	StatementCM31 = Statement[m31.Element, m31.QM31]
	// ClaimCM31 is a point and the value there.
	ClaimCM31 = Claim[m31.QM31]
)

// CM31 is the protocol over CM31 and QM31.
func CM31() *SchemeCM31 {
	return &SchemeCM31{
		Spec:       SpecCM31(),
		Root:       ntt.CM31{}.Root,
		Embed:      m31.LiftPair,
		Scale:      m31.QM31.MulCM31,
		Symbols:    m31.Pairs,
		Challenges: m31.Quads,
		Words:      m31.Words,
		VerifyTree: verifyTree,
	}
}

func verifyTree(root [8]m31.Element, arity, depth, width int, indices []int, rows []m31.Element, siblings [][8]m31.Element) ([][]m31.Element, error) {
	o := &merkle.Opening{Rows: rows, Siblings: make([]merkle.Digest, len(siblings))}
	for i, s := range siblings {
		o.Siblings[i] = s
	}
	return merkle.Shape{Rows: 1 << depth, RowWords: width, Arity: arity}.Verify(root, indices, o)
}

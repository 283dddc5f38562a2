package whir

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/ntt"
)

// SpecCM31 is symbols in the complex extension of Mersenne-31 and challenges
// in its quadratic extension QM31, with Poseidon2.
func SpecCM31() Spec { return specCM31(Poseidon2) }

func specCM31(h Hash) Spec {
	return Spec{
		Name:           "M31; CM31 = M31[i]/(i^2+1); QM31 = CM31[u]/(u^2-2-i); " + h.String(),
		Modulus:        m31.P,
		SymbolWords:    2,
		ChallengeWords: 4,
		MaxLogDomain:   ntt.MaxLogCM31,
		CollisionBits:  h.collisionBits(m31.P),
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

// CM31 is the protocol over CM31 and QM31 with Poseidon2.
func CM31() *SchemeCM31 { return CM31With(Poseidon2) }

// CM31With is the protocol over CM31 and QM31 with the given hash.
func CM31With(h Hash) *SchemeCM31 {
	return &SchemeCM31{
		Spec:       specCM31(h),
		Hash:       hashOf(h, merkle.M31()),
		Root:       ntt.CM31{}.Root,
		Embed:      m31.LiftPair,
		Scale:      m31.QM31.MulCM31,
		Symbols:    m31.Pairs,
		Challenges: m31.Quads,
		Words:      m31.Words,
		Evaluate:   evaluateCM31,
		Dot:        dotCM31,
		Inner:      m31.DotQM31,
	}
}

// dotCM31 takes dot products over the base field: a product with b + i c is b times the
// factor plus c times i times it.
func dotCM31(a []m31.QM31) func([]m31.CM31) m31.QM31 {
	twice := withI(a)
	return func(b []m31.CM31) m31.QM31 { return m31.DotBase(m31.PairWords(b), twice) }
}

// withI is each element followed by its product with i.
func withI(a []m31.QM31) []m31.QM31 {
	out := make([]m31.QM31, 0, 2*len(a))
	for _, c := range a {
		out = append(out, c, c.MulI())
	}
	return out
}

// evaluateCM31 takes dot products with the powers of a point, of which it makes as many
// as a block of coefficients has; the blocks' values are coefficients of a power more.
func evaluateCM31(coeffs []m31.QM31, points []m31.CM31) []m31.QM31 {
	const block = 128
	n := min(len(coeffs), block)
	twice := withI(coeffs)
	out, powers := make([]m31.QM31, len(points)), make([]m31.CM31, n)
	for j, x := range points {
		if n > 0 {
			powers[0] = x.One()
		}
		// next is x^k, where k powers are known.
		next := x
		for k := 1; k < n; k, next = 2*k, next.Square() {
			m := min(k, n-k)
			m31.ScaleVecCM31(powers[k:k+m], powers[:m], next)
		}
		// With several blocks, next is x^block.
		for at := (len(coeffs) - 1) / block * block; at >= 0 && n > 0; at -= block {
			m := min(block, len(coeffs)-at)
			out[j] = out[j].MulCM31(next).Add(m31.DotBase(m31.PairWords(powers[:m]), twice[2*at:2*(at+m)]))
		}
	}
	return out
}

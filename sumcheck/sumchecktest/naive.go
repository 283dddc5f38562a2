// Package sumchecktest has the reference prover for tests: the definition of
// the protocol, without any of the real prover's algorithms, and open to
// manipulation at every message.
package sumchecktest

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/transcript"
)

// Cheat changes what a prover sends; the transcript sees the changed messages,
// so that a cheat is consistent with all later challenges. Nil fields do nothing.
type Cheat struct {
	// Round may change the message of round i.
	Round func(i int, message []m31.QM31)
	// Evals may change the final evaluations.
	Evals func(evals []m31.QM31)
	// SkipClaims leaves the absorption of the claimed sums out.
	SkipClaims bool
	// AfterGamma may change the claimed sums once gamma is known (with
	// SkipClaims: a prover that picks its claims late).
	AfterGamma func(gamma m31.QM31, claims []sumcheck.Claim)
	// EqPoint replaces the eq point of claim j in the prover's sums.
	EqPoint func(j int, z []m31.QM31) []m31.QM31
}

// Sum is the true value of a claim, by brute force.
func Sum(c sumcheck.Claim, tables [][]m31.QM31) (sum m31.QM31) {
	eq := mle.EqTable(c.Point)
	summand := summand(c)
	at := make([]m31.QM31, c.Factors)
	for x := range 1 << c.Vars {
		for k := range at {
			at[k] = tables[k][x]
		}
		v := summand(at)
		if c.Eq {
			v = v.Mul(eq[x])
		}
		sum = sum.Add(v)
	}
	return sum
}

// Prove follows the protocol for claims whose factor k of claim j has the
// values tables[j][k]. It costs a constant times degree*2^n*factors products.
func Prove(tr *transcript.Transcript, claims []sumcheck.Claim, tables [][][]m31.QM31, cheat Cheat) *sumcheck.Proof {
	shapes := sumcheck.Shapes(claims)
	n, d := sumcheck.Rounds(shapes), sumcheck.Degree(shapes)
	if !cheat.SkipClaims {
		values := make([]m31.QM31, len(claims))
		for j, c := range claims {
			values[j] = c.Value
		}
		tr.AbsorbExt(values)
	}
	gamma := tr.Challenge()
	if cheat.AfterGamma != nil {
		cheat.AfterGamma(gamma, claims)
	}

	// Every table becomes one over all n variables, constant in the first ones;
	// eq is a table like any other.
	work := make([][][]m31.QM31, len(claims))
	for j, c := range claims {
		all := tables[j]
		if c.Eq {
			z := c.Point
			if cheat.EqPoint != nil {
				z = cheat.EqPoint(j, z)
			}
			all = append(all[:len(all):len(all)], mle.EqTable(z))
		}
		for _, t := range all {
			wide := make([]m31.QM31, 1<<n)
			for x := range wide {
				wide[x] = t[x&(1<<c.Vars-1)]
			}
			work[j] = append(work[j], wide)
		}
	}

	proof := &sumcheck.Proof{}
	for i := range n {
		half := 1 << (n - 1 - i)
		message := make([]m31.QM31, d)
		for e := range message {
			at := m31.Element(e)
			if e > 0 {
				at++ // 0, 2, 3, ...
			}
			message[e] = roundValue(claims, work, gamma, half, m31.Lift(at))
		}
		if cheat.Round != nil {
			cheat.Round(i, message)
		}
		tr.AbsorbExt(message)
		proof.Rounds = append(proof.Rounds, message...)
		r := tr.Challenge()
		for j := range work {
			for k, t := range work[j] {
				for x := range half {
					t[x] = line(t[x], t[x+half], r)
				}
				work[j][k] = t[:half]
			}
		}
	}
	for j, c := range claims {
		for k := range c.Factors {
			proof.Evals = append(proof.Evals, work[j][k][0])
		}
	}
	if cheat.Evals != nil {
		cheat.Evals(proof.Evals)
	}
	tr.AbsorbExt(proof.Evals)
	return proof
}

// roundValue is the combined round polynomial at one place.
func roundValue(claims []sumcheck.Claim, work [][][]m31.QM31, gamma m31.QM31, half int, at m31.QM31) (sum m31.QM31) {
	weight := m31.OneQM31()
	for j, c := range claims {
		summand := summand(c)
		values := make([]m31.QM31, len(work[j]))
		for x := range half {
			for k, t := range work[j] {
				values[k] = line(t[x], t[x+half], at)
			}
			v := summand(values)
			if c.Eq {
				v = v.Mul(values[c.Factors])
			}
			sum = sum.Add(v.Mul(weight))
		}
		weight = weight.Mul(gamma)
	}
	return sum
}

func line(lo, hi, at m31.QM31) m31.QM31 { return lo.Add(at.Mul(hi.Sub(lo))) }

// summand is sum_t coeff_t prod_{k in t} f_k without eq, or the expression by its
// text, written independently of the verifier's.
func summand(c sumcheck.Claim) func(f []m31.QM31) m31.QM31 {
	if c.Expr != nil {
		return exprSummand(c)
	}
	terms := c.Terms
	if terms == nil {
		terms = [][]int{[]int{0, 1, 2}[:c.Factors]}
	}
	return func(f []m31.QM31) (sum m31.QM31) {
		for i, t := range terms {
			v := m31.OneQM31()
			if c.Coeffs != nil {
				v = c.Coeffs[i]
			}
			for _, k := range t {
				v = v.Mul(f[k])
			}
			sum = sum.Add(v)
		}
		return sum
	}
}

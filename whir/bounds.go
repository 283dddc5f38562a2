package whir

import "math"

// regime is the decoding radius that a round's soundness rests on: the
// agreement 1-delta that a word needs with the code, and the number of
// codewords that then can be near it.
type regime struct {
	agreement float64
	list      float64
	multi     int
	rho       float64
	bound     Bound
}

func regimeOf(multiplicity, logInvRate int, bound Bound) regime {
	r := regime{multi: multiplicity, rho: math.Exp2(-float64(logInvRate)), bound: bound}
	if multiplicity == Unique {
		r.agreement, r.list = (1+r.rho)/2, 1
		return r
	}
	m := float64(multiplicity)
	r.agreement = math.Sqrt(r.rho) * (1 + 1/(2*m))
	r.list = (m + 0.5) / math.Sqrt(r.rho)
	return r
}

// exceptional bounds the number of folding challenges that can bring words
// near the code that were not: BCIKS20 for unique decoding, else the theorem
// named by the bound, for a code of the given log2 dimension.
func (r regime) exceptional(logDim int) float64 {
	n := math.Exp2(float64(logDim)) / r.rho
	if r.multi == Unique {
		return n
	}
	t, delta := float64(r.multi)+0.5, 1-r.agreement
	switch r.bound {
	case DKT26:
		// The theorem's rate is that of the code of one dimension less; for
		// dimension 1 it says nothing, and the bound is infinite.
		return 8 * n * t * t * t / (3 * (math.Exp2(float64(logDim)) - 1) / n)
	default:
		return (2*math.Pow(t, 5)+3*t*delta*r.rho)*n/(3*math.Pow(r.rho, 1.5)) + t/math.Sqrt(r.rho)
	}
}

// foldBits is the security of one folding challenge: a degree-2 sum-check
// round for each codeword of the list, and the exceptional challenges of the
// code after the fold.
func (r regime) foldBits(field float64, logDim int) float64 {
	return field - math.Log2(3*r.list+r.exceptional(logDim))
}

// sampleBits is the security of s out-of-domain samples: no two codewords of
// the list agree on all of them.
func (r regime) sampleBits(field float64, vars, s int) float64 {
	return float64(s)*(field-float64(vars)) + 1 - 2*math.Log2(r.list)
}

// queryBits is the security of t independent queries of a word that is not
// near the code, without proof of work.
func (r regime) queryBits(t int) float64 { return -float64(t) * math.Log2(r.agreement) }

// combineBits is the security of combining n fresh claims, about any codeword
// of the list, with powers of one challenge.
func (r regime) combineBits(field float64, n int) float64 {
	return field - math.Log2(r.list) - math.Log2(float64(n))
}

// batchBits is the security of combining n words with powers of one challenge:
// n-1 times the exceptional challenges for two.
func batchBits(field float64, r regime, vars, n int) float64 {
	return field - math.Log2(float64(n-1)*r.exceptional(vars))
}

// workBits is what `bits` bits of proof of work are worth: minus log2 of the
// share of field elements whose low bits are zero.
func workBits(modulus uint64, bits int) float64 {
	if bits == 0 {
		return 0
	}
	return -math.Log2(float64(modulus>>bits+1) / float64(modulus))
}

// workFor is the least number of bits of proof of work that lift have to want.
func workFor(modulus uint64, have, want float64) int {
	b := max(0, min(maxWork, int(want-have)-1)) // workBits(b) is b within 1
	for b <= maxWork && !(have+workBits(modulus, b) >= want) {
		b++
	}
	return b
}

// addBits is the security against either of two events.
func addBits(a, b float64) float64 { return -math.Log2(math.Exp2(-a) + math.Exp2(-b)) }

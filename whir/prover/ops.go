package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
)

// ops is what an opening does on tables. Operations are enqueued, and none waits.
// There are two sets with the same results: Go on the host, kernels elsewhere.
//
// A table's first variable is the top bit of the index. Weights of claims are
// products: a claim over m variables has 2m factors, and its weight for entry b
// is the product of factors[2j + b_j] over the variables j. For an evaluation at
// z these are 1-z_j and z_j, for a Sel claim 1 and the coordinate. Factors of
// several claims lie one after the other.
//
// Destinations do not overlap with inputs, but for tables that are folded.
type ops[W field.Base[W], F field.Element[F], E field.Element[E]] interface {
	// eqPowers writes the factors of the evaluation at (z^(2^(m-1)), ..., z^2, z),
	// 2m of them.
	eqPowers(dst, z device.Buffer[E]) error
	// geometric writes dst[j] = x^(first+j).
	geometric(dst, x device.Buffer[E], first int) error
	// blockSums sums, for claim c and each block u of the 2^fold blocks of the
	// table, f[u, b] times c's weight of b in the last variables, to
	// sums[u*stride + column + c].
	blockSums(sums device.Buffer[E], stride, column int, f device.Buffer[F], factors device.Buffer[E], fold int) error
	blockSumsExt(sums device.Buffer[E], stride, column int, f device.Buffer[E], factors device.Buffer[E], fold int) error
	// blockWeights writes coeffs[c] times claim c's weight of u in the first fold
	// of vars variables to dst[u*stride + column + c].
	blockWeights(dst device.Buffer[E], stride, column int, factors, coeffs device.Buffer[E], fold, vars int) error
	// foldBlocks binds the first variables: dst[b] is the sum of
	// eq(challenges, u)*f[u, b] over the blocks u.
	foldBlocks(dst device.Buffer[E], f device.Buffer[F], challenges device.Buffer[E]) error
	// addWeights adds the claims' weights in the last of vars variables, times
	// their coefficients, to w, or writes them there.
	addWeights(w, factors device.Buffer[E], vars int, coeffs device.Buffer[E], set bool) error
	// addTable adds coeff*t to w; coeff is one element.
	addTable(w, t, coeff device.Buffer[E]) error
	// addPoints adds the sum of gamma^(first+j) omega^(indices[j]*b) to w[b], where
	// omega generates the 2^logLeaves-th roots of unity.
	addPoints(w device.Buffer[E], logLeaves int, indices device.Buffer[uint32], gamma device.Buffer[E], first int) error
	// rounds folds g and w in place by r, if there is one, and does as many rounds
	// of the sum-check as msgs has pairs: the value at 0 and the leading
	// coefficient of the round's polynomial. With a transcript each pair is
	// absorbed and a challenge drawn, by which both tables are folded; the last
	// challenge is left for later. Without one there is one round. The tables'
	// length is a multiple of 2 to the number of rounds and foldings.
	rounds(g, w, r, msgs device.Buffer[E], tr sponge[W, E], challenges device.Buffer[E]) error
	// fold folds g and w in place by r.
	fold(g, w, r device.Buffer[E]) error
	// dot sums a*b over every stride-th element from column on.
	dot(dst, a, b device.Buffer[E], stride, column int) error
	// combine is the sum of coeffs[a]*tables[a]; lift is f as challenges.
	combine(dst device.Buffer[E], tables []device.Buffer[F], coeffs device.Buffer[E]) error
	lift(dst device.Buffer[E], f device.Buffer[F]) error
	// free gives back what the operations hold.
	free()
}

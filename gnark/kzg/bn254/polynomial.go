package bn254

import (
	"context"
	"math/big"
	"runtime"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkwarp/zkwarp/internal/parallel"
)

// grain is the fewest coefficients that it is worth to give to another core.
const grain = 1 << 10

// piece is how many of n coefficients make a piece, of which there are a few for each core.
func piece(n int) int {
	count := 4 * runtime.GOMAXPROCS(0)
	return max(grain, (n+count-1)/count)
}

// carries are the values at z of what is above each piece of a polynomial, pieces of the
// given size: the sum of p[i] z^(i-hi) over all i from the piece's end hi on. The last one,
// one more than there are pieces, is the value of all.
func carries(ctx context.Context, p []fr.Element, z *fr.Element, size int) ([]fr.Element, error) {
	count := (len(p) + size - 1) / size
	own := make([]fr.Element, count)
	parallel.For(count, 1, func(lo, hi int) {
		for k := lo; k < hi && ctx.Err() == nil; k++ {
			var sum fr.Element
			for i := min(len(p), (k+1)*size) - 1; i >= k*size; i-- {
				sum.Mul(&sum, z).Add(&sum, &p[i])
			}
			own[k] = sum
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var step fr.Element
	step.Exp(*z, big.NewInt(int64(size)))
	out := make([]fr.Element, count+1)
	var carry fr.Element
	for k := count - 1; k >= 0; k-- {
		out[k] = carry
		// What is above the last piece is zero, so that its length does not matter.
		carry.Mul(&carry, &step).Add(&carry, &own[k])
	}
	out[count] = carry
	return out, nil
}

// evaluate is p(z).
func evaluate(ctx context.Context, p []fr.Element, z *fr.Element) (fr.Element, error) {
	c, err := carries(ctx, p, z, piece(len(p)))
	if err != nil {
		return fr.Element{}, err
	}
	return c[len(c)-1], nil
}

// divide is p(z), which it writes to q[0] too, and in q[1:] the coefficients of
// (p - p(z)) / (X - z): Horner's rule makes both. q has p's length and may be p.
func divide(ctx context.Context, q, p []fr.Element, z *fr.Element) (fr.Element, error) {
	size := piece(len(p))
	c, err := carries(ctx, p, z, size)
	if err != nil {
		return fr.Element{}, err
	}
	count := len(c) - 1
	parallel.For(count, 1, func(lo, hi int) {
		for k := lo; k < hi && ctx.Err() == nil; k++ {
			sum := c[k]
			for i := min(len(p), (k+1)*size) - 1; i >= k*size; i-- {
				sum.Mul(&sum, z).Add(&sum, &p[i])
				q[i] = sum
			}
		}
	})
	return c[count], ctx.Err()
}

// fold is Σ gamma^i polynomials[i] in out, which has as many elements as the longest of
// them has coefficients.
func fold(ctx context.Context, out []fr.Element, polynomials [][]fr.Element, gamma *fr.Element) error {
	const block = 1 << 9 // of out, which stays in a core's cache
	parallel.For(len(out), grain, func(lo, hi int) {
		for ; lo < hi && ctx.Err() == nil; lo += block {
			to := out[lo:min(hi, lo+block)]
			clear(to)
			for i := len(polynomials) - 1; i >= 0; i-- {
				p := polynomials[i][min(lo, len(polynomials[i])):min(lo+len(to), len(polynomials[i]))]
				for j := range to {
					to[j].Mul(&to[j], gamma)
				}
				for j := range p {
					to[j].Add(&to[j], &p[j])
				}
			}
		}
	})
	return ctx.Err()
}

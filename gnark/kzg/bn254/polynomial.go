package bn254

import (
	"context"
	"math/big"
	"runtime"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkwarp/zkwarp/internal/parallel"
)

const (
	// grain is the fewest coefficients that it is worth to give to another core.
	grain = 1 << 10
	// row is how many coefficients are multiplied by one instruction after the other, which
	// gnark-crypto's vectors do in half the time.
	row = 1 << 8
	// lockstep is how many pieces a core divides at a time, as a product is made of the one
	// before and takes longer than to start it.
	lockstep = 4
)

// piece is how many of n coefficients make a piece, of which there are some for each core.
func piece(n int) int {
	count := 4 * lockstep * runtime.GOMAXPROCS(0)
	return max(grain, (n+count-1)/count)
}

// carries are the values at z of what is above each piece of a polynomial, pieces of the
// given size: the sum of p[i] z^(i-hi) over all i from the piece's end hi on. The last one,
// one more than there are pieces, is the value of all.
func carries(ctx context.Context, p []fr.Element, z *fr.Element, size int) ([]fr.Element, error) {
	count := (len(p) + size - 1) / size
	own := make([]fr.Element, count)
	var step fr.Element
	step.Exp(*z, big.NewInt(row))
	parallel.For(count, 1, func(lo, hi int) {
		sums := make(fr.Vector, row)
		for k := lo; k < hi && ctx.Err() == nil; k++ {
			own[k] = value(p[k*size:min(len(p), (k+1)*size)], z, &step, sums)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
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

// value is p(z), for step z^row, by Horner's rule for each place of a row and then for these.
// It needs memory for a row.
func value(p []fr.Element, z, step *fr.Element, sums fr.Vector) fr.Element {
	clear(sums)
	at := (len(p) - 1) / row * row
	copy(sums, p[at:])
	for at -= row; at >= 0; at -= row {
		sums.ScalarMul(sums, step)
		sums.Add(sums, p[at:at+row])
	}
	var v fr.Element
	for i := row - 1; i >= 0; i-- {
		v.Mul(&v, z).Add(&v, &sums[i])
	}
	return v
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
	parallel.For((count+lockstep-1)/lockstep, 1, func(lo, hi int) {
		for k := lo * lockstep; k < hi*lockstep && ctx.Err() == nil; k += lockstep {
			if (k+lockstep)*size > len(p) {
				for ; k < count; k++ {
					horner(q, p, k*size, min(len(p), (k+1)*size), &c[k], z)
				}
				return
			}
			sums := [lockstep]fr.Element(c[k : k+lockstep])
			for i := size - 1; i >= 0; i-- {
				for j := range sums {
					at := (k+j)*size + i
					sums[j].Mul(&sums[j], z).Add(&sums[j], &p[at])
					q[at] = sums[j]
				}
			}
		}
	})
	return c[count], ctx.Err()
}

// horner sets q[i] to the sum of p[j] z^(j-i) over all j from i on, for i from hi-1 to lo; that
// over those from hi on is the carry.
func horner(q, p []fr.Element, lo, hi int, carry, z *fr.Element) {
	sum := *carry
	for i := hi - 1; i >= lo; i-- {
		sum.Mul(&sum, z).Add(&sum, &p[i])
		q[i] = sum
	}
}

// fold is Σ gamma^i polynomials[i] in out, which has as many elements as the longest of
// them has coefficients.
func fold(ctx context.Context, out []fr.Element, polynomials [][]fr.Element, gamma *fr.Element) error {
	parallel.For(len(out), grain, func(lo, hi int) {
		for ; lo < hi && ctx.Err() == nil; lo += row { // which stays in a core's cache
			to := fr.Vector(out[lo:min(hi, lo+row)])
			clear(to)
			for i := len(polynomials) - 1; i >= 0; i-- {
				p := polynomials[i][min(lo, len(polynomials[i])):min(lo+len(to), len(polynomials[i]))]
				to.ScalarMul(to, gamma)
				some := to[:len(p)]
				some.Add(some, p)
			}
		}
	})
	return ctx.Err()
}

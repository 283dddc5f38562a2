// Package ntt holds number-theoretic transforms: evaluating polynomials, given
// by their coefficients, on the 2^n-th roots of unity.
//
// A Transform is over one field: BabyBear, KoalaBear, or CM31, the complex extension
// of Mersenne-31. Package prover has the same transforms on devices.
package ntt

import (
	"fmt"
	"math/bits"

	"github.com/zkwarp/zkwarp/internal/parallel"
)

// Transform is the transform over one field of elements F. All methods take a
// batch: data holds any number of columns, one after the other, each of 2^n
// elements, and is overwritten. They use all cores and are safe for concurrent
// use. A length that is not a whole number of columns, or an n outside
// [0, MaxLog], is an error.
type Transform[F any] interface {
	// MaxLog is the largest n.
	MaxLog() int
	// Root returns the generator of the 2^n-th roots of unity that the
	// transform uses, for n in [0, MaxLog]; Root(n) = Root(n+1)^2.
	Root(n int) F
	// Forward replaces coefficients c by the values
	// sum_i c[i]*Root(n)^(i*j), j = 0, 1, ...
	Forward(data []F, n int) error
	// ForwardReversed is Forward for columns of which only the first 2^live
	// elements may be other than zero. It leaves the value for j at the index
	// whose n bits are those of j in reverse order.
	ForwardReversed(data []F, n, live int) error
	// ForwardWide is ForwardReversed for columns of 2^n elements of an extension of F
	// with width coordinates, which lie side by side; each coordinate is transformed
	// by itself.
	ForwardWide(data []F, width, n, live int) error
	// Inverse undoes Forward.
	Inverse(data []F, n int) error
}

// Reverse is the number whose n bits are those of i in reverse order.
func Reverse(i, n int) int { return int(bits.Reverse64(uint64(i)) >> (64 - n) & (1<<n - 1)) }

// Permute reorders a column of 2^n elements: the elements at i and at
// Reverse(i, n) change places.
func Permute[F any](column []F, n int) {
	parallel.For(len(column), 1<<14, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			// The smaller index of a pair does the exchange.
			if j := Reverse(i, n); i < j {
				column[i], column[j] = column[j], column[i]
			}
		}
	})
}

func check(length, n, maxLog int) error {
	if n < 0 || n > maxLog {
		return fmt.Errorf("ntt: transform of 2^%d elements, want 2^0 to 2^%d", n, maxLog)
	}
	if length%(1<<n) != 0 {
		return fmt.Errorf("ntt: %d elements are not columns of 2^%d", length, n)
	}
	return nil
}

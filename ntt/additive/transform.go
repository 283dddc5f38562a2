package additive

import (
	"context"
	"math/bits"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/internal/parallel"
)

// blockDim is the dimension up to which a block is transformed by one core while
// it stays in its cache: 2^12 elements are 64 KiB. It is even.
const blockDim = 12

// grain is how many butterflies are worth another core: some 50 microseconds.
const grain = 1 << 11

// Dim is the dimension of a list of 2^dim elements.
func Dim(what string, n int) (int, error) {
	if n < 1 || n&(n-1) != 0 {
		return 0, &LengthError{What: what, Got: n}
	}
	d := bits.Len(uint(n)) - 1
	if d > MaxDim {
		return 0, &DimError{Max: MaxDim, Got: d}
	}
	return d, nil
}

func check(v []gf2.Element, coset uint32) (int, error) {
	d, err := Dim("a transform", len(v))
	if err != nil {
		return 0, err
	}
	if uint64(coset)<<d>>MaxDim != 0 {
		return 0, &CosetError{Dim: d, Coset: coset}
	}
	return d, nil
}

// Forward takes coefficients in the novel basis, 2^d of them, to the polynomial's
// values at the points coset<<d, coset<<d + 1, .., in place.
func Forward(v []gf2.Element, coset uint32) error {
	d, err := check(v, coset)
	if err != nil {
		return err
	}
	if d < blockDim {
		for i := d - 1; i >= 0; i-- {
			levelOf(v, coset<<(d-1-i), i, butterfly)
		}
		return nil
	}
	w := make([]gf2.Polyval, len(v))
	toPolyval(w, v)
	if err := forwardPolyval(context.Background(), w, d, coset); err != nil {
		return err
	}
	fromPolyval(v, w)
	return nil
}

// Inverse undoes Forward.
func Inverse(v []gf2.Element, coset uint32) error {
	d, err := check(v, coset)
	if err != nil {
		return err
	}
	n := 1 << min(d, blockDim)
	parallel.For(len(v)/n, max(1, grain/n), func(lo, hi int) {
		for b := lo; b < hi; b++ {
			for i := range min(d, blockDim) {
				levelOf(v[b*n:(b+1)*n], (uint32(len(v)/n)*coset+uint32(b))<<(min(d, blockDim)-1-i), i, inverseButterfly)
			}
		}
	})
	for i := blockDim; i < d; i++ {
		level(v, coset<<(d-1-i), i, inverseButterfly)
	}
	return nil
}

// Encode sets dst to the values of the polynomial with the coefficients src in the
// novel basis at the first points of the space: a Reed-Solomon codeword of rate
// len(src)/len(dst). Both lengths are powers of two; the two do not overlap.
func Encode(dst, src []gf2.Element) error { return EncodeContext(context.Background(), dst, src) }

// EncodeContext is Encode, which stops with the context's error when that ends; what dst
// holds then is of no use.
func EncodeContext(ctx context.Context, dst, src []gf2.Element) error {
	k, err := Dim("a message", len(src))
	if err != nil {
		return err
	}
	d, err := Dim("a codeword", len(dst))
	if err != nil {
		return err
	}
	if d < k {
		return &LengthError{What: "a codeword", Want: len(src), Got: len(dst)}
	}
	// Above level k one of the two inputs of each butterfly is zero, which copies
	// the other: every coset starts from the message itself.
	if k >= blockDim {
		message, word := make([]gf2.Polyval, len(src)), make([]gf2.Polyval, len(src))
		toPolyval(message, src)
		for c := range 1 << (d - k) {
			copy(word, message)
			if err := forwardPolyval(ctx, word, k, uint32(c)); err != nil {
				return err
			}
			fromPolyval(dst[c<<k:(c+1)<<k], word)
		}
		return nil
	}
	for c := range 1 << (d - k) {
		part := dst[c<<k : (c+1)<<k]
		copy(part, src)
		if err := Forward(part, uint32(c)); err != nil {
			return err
		}
	}
	return nil
}

// Evaluate is the value at x of the polynomial with these coefficients in the novel
// basis, by definition: it is for tests, and for few coefficients.
func Evaluate(coefficients []gf2.Element, x gf2.Element) gf2.Element {
	switch len(coefficients) {
	case 0:
		return gf2.Element{}
	case 1:
		return coefficients[0]
	}
	half := make([]gf2.Element, (len(coefficients)+1)/2)
	for j := range half {
		half[j] = coefficients[2*j]
		if 2*j+1 < len(coefficients) {
			half[j] = half[j].Add(x.Mul(coefficients[2*j+1]))
		}
	}
	return Evaluate(half, x.Square().Add(x))
}

// butterfly takes the parts of a polynomial u + phi^i v to its values on two
// cosets of the kernel of phi^i, whose phi^i are w and w + 1.
func butterfly(u, v []gf2.Element, w gf2.Element) {
	v = v[:len(u)]
	for j := range u {
		a := u[j].Add(w.Mul(v[j]))
		u[j] = a
		v[j] = v[j].Add(a)
	}
}

func inverseButterfly(u, v []gf2.Element, w gf2.Element) {
	v = v[:len(u)]
	for j := range u {
		b := v[j].Add(u[j])
		v[j] = b
		u[j] = u[j].Add(w.Mul(b))
	}
}

// levelOf runs a level's butterflies over blocks of 2^(i+1) elements, of which the
// first has the given number.
func levelOf(v []gf2.Element, first uint32, i int, do func(u, v []gf2.Element, w gf2.Element)) {
	t := newTwiddles(first)
	for b := 0; b < len(v); b += 2 << i {
		do(v[b:b+1<<i], v[b+1<<i:b+2<<i], t.value)
		t.next()
	}
}

// level is levelOf on all cores, for blocks of more than a core's share.
func level(v []gf2.Element, first uint32, i int, do func(u, v []gf2.Element, w gf2.Element)) {
	half, share := 1<<i, grain
	parts := half / share
	parallel.For(len(v)/2/share, 1, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			at := p/parts*2*half + p%parts*share
			do(v[at:at+share], v[at+half:at+half+share], Twiddle(first+uint32(p/parts)))
		}
	})
}

// Package fieldtest holds the tests that every field must pass.
package fieldtest

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field"
)

// Field describes the field under test: F_p or an extension of it.
type Field[T field.Element[T]] struct {
	P uint64 // characteristic
	// Gen are elements of interest (at least one), such as the generators of
	// the extension; every law is tried on them too.
	Gen []T
	// Frobenius is x -> x^P, if the field offers it.
	Frobenius, FrobeniusInverse func(T) T
	// BatchInverse, if the field offers it.
	BatchInverse func(dst, src []T)
}

// Edge returns the elements with coefficients among 0, 1, 2, (P-1)/2, P-2 and
// P-1: all of them in degree 1 and 2, a spread of them in higher degree.
func Edge[T field.Element[T]](p uint64) []T {
	var z T
	v := []uint32{0, 1, 2, uint32(p-1) / 2, uint32(p - 2), uint32(p - 1)}
	d := z.Degree()
	n := 1
	for range d {
		n *= len(v)
	}
	step := max(1, n/64|1)
	var out []T
	for i := 0; i < n; i += step {
		out = append(out, fromDigits[T](v, i))
	}
	return append(out, fromDigits[T](v, n-1))
}

func fromDigits[T field.Element[T]](v []uint32, i int) T {
	var z T
	w := make([]uint32, z.Degree())
	for j := range w {
		w[j] = v[i%len(v)]
		i /= len(v)
	}
	x, err := z.SetWords(w)
	if err != nil {
		panic(err) // edge words are canonical by construction
	}
	return x
}

// Random returns n elements.
func Random[T field.Element[T]](r *rand.Rand, p uint64, n int) []T {
	var z T
	out := make([]T, n)
	w := make([]uint32, z.Degree())
	for i := range out {
		for j := range w {
			w[j] = uint32(r.Uint64N(p))
		}
		out[i], _ = z.SetWords(w)
	}
	return out
}

// Run checks f on edge values and on random ones.
func Run[T field.Element[T]](t *testing.T, f Field[T]) {
	r := rand.New(rand.NewPCG(1, f.P))
	var zero T
	one := zero.One()
	elems := append(Edge[T](f.P), Random[T](r, f.P, 24)...)
	elems = append(elems, f.Gen...)

	t.Run("ring", func(t *testing.T) {
		for _, a := range elems {
			eq(t, "a+0", a.Add(zero), a)
			eq(t, "a*1", a.Mul(one), a)
			eq(t, "a*0", a.Mul(zero), zero)
			eq(t, "a-a", a.Sub(a), zero)
			eq(t, "a+(-a)", a.Add(a.Neg()), zero)
			eq(t, "2a", a.Double(), a.Add(a))
			eq(t, "a^2", a.Square(), a.Mul(a))
			if a.IsZero() != (a == zero) {
				t.Fatalf("IsZero(%v) = %v", a, a.IsZero())
			}
			for _, b := range elems {
				eq(t, "a+b", a.Add(b), b.Add(a))
				eq(t, "a*b", a.Mul(b), b.Mul(a))
				eq(t, "a-b", a.Sub(b), a.Add(b.Neg()))
				eq(t, "(a-b)+b", a.Sub(b).Add(b), a)
			}
		}
		for range 2000 {
			a, b, c := pick(r, elems), pick(r, elems), pick(r, elems)
			eq(t, "(a+b)+c", a.Add(b).Add(c), a.Add(b.Add(c)))
			eq(t, "(a*b)*c", a.Mul(b).Mul(c), a.Mul(b.Mul(c)))
			eq(t, "a*(b+c)", a.Mul(b.Add(c)), a.Mul(b).Add(a.Mul(c)))
		}
	})

	t.Run("inverse", func(t *testing.T) {
		eq(t, "1/0", zero.Inverse(), zero)
		for _, a := range elems {
			if a != zero {
				eq(t, "a/a", a.Mul(a.Inverse()), one)
			}
		}
		if f.BatchInverse == nil {
			return
		}
		for n := range 6 {
			batch(t, f, elems[:n])
		}
		batch(t, f, elems)
	})

	t.Run("power", func(t *testing.T) {
		for _, a := range elems {
			acc := one
			for e := range uint64(9) {
				eq(t, "a^e", a.Exp(e), acc)
				acc = acc.Mul(a)
			}
		}
		a := f.Gen[0]
		eq(t, "a^(2^64-1)", a.Exp(1<<64-1), a.Exp(1<<32-1).Mul(a.Exp(1<<32-1).Exp(1<<32)))
		// The multiplicative group has order p^d - 1.
		order := new(big.Int).Exp(new(big.Int).SetUint64(f.P), big.NewInt(int64(zero.Degree())), nil)
		order.Sub(order, big.NewInt(1))
		for _, a := range elems {
			if a != zero {
				eq(t, "a^(p^d-1)", bigExp(a, order), one)
			}
		}
	})

	t.Run("characteristic", func(t *testing.T) {
		eq(t, "p", zero.FromUint64(f.P), zero)
		eq(t, "p-1", zero.FromUint64(f.P-1), one.Neg())
		top := new(big.Int).SetUint64(1<<64 - 1)
		top.Mod(top, new(big.Int).SetUint64(f.P))
		eq(t, "2^64-1", zero.FromUint64(1<<64-1), zero.FromUint64(top.Uint64()))
		eq(t, "receiver", pick(r, elems).FromUint64(5), one.Double().Double().Add(one))
		eq(t, "receiver", pick(r, elems).One(), one)
	})

	t.Run("frobenius", func(t *testing.T) {
		if f.Frobenius == nil {
			t.Skip("the field has no such method")
		}
		for _, a := range elems {
			eq(t, "a^p", f.Frobenius(a), a.Exp(f.P))
			eq(t, "inverse", f.FrobeniusInverse(f.Frobenius(a)), a)
			b := pick(r, elems)
			eq(t, "s(ab)", f.Frobenius(a.Mul(b)), f.Frobenius(a).Mul(f.Frobenius(b)))
			eq(t, "s(a+b)", f.Frobenius(a.Add(b)), f.Frobenius(a).Add(f.Frobenius(b)))
		}
	})

	t.Run("words", func(t *testing.T) {
		d := zero.Degree()
		for _, a := range elems {
			w := a.AppendWords([]uint32{7})
			if len(w) != 1+d || w[0] != 7 {
				t.Fatalf("AppendWords(%v) = %v", a, w)
			}
			b, err := pick(r, elems).SetWords(w[1:])
			if err != nil {
				t.Fatal(err)
			}
			eq(t, "words", b, a)
			for j := range d {
				for _, bad := range []uint32{uint32(f.P), uint32(f.P) + 1, 1<<32 - 1} {
					c := slices.Clone(w[1:])
					c[j] = bad
					if x, err := zero.SetWords(c); err == nil {
						t.Fatalf("%v decoded to %v", c, x)
					}
				}
			}
			for _, n := range []int{0, d - 1, d + 1} {
				if _, err := zero.SetWords(make([]uint32, n)); err == nil {
					t.Fatalf("%d words decoded", n)
				}
			}
		}
	})
}

func batch[T field.Element[T]](t *testing.T, f Field[T], src []T) {
	t.Helper()
	var zero T
	dst := make([]T, len(src))
	f.BatchInverse(dst, src)
	for i, a := range src {
		if a == zero {
			eq(t, "batch 1/0", dst[i], zero)
		} else {
			eq(t, "batch 1/a", dst[i], a.Inverse())
		}
	}
	alias := slices.Clone(src)
	f.BatchInverse(alias, alias)
	if !slices.Equal(alias, dst) {
		t.Fatal("batch inversion in place differs")
	}
}

func bigExp[T field.Element[T]](a T, e *big.Int) T {
	r := a.One()
	for i := e.BitLen() - 1; i >= 0; i-- {
		r = r.Mul(r)
		if e.Bit(i) == 1 {
			r = r.Mul(a)
		}
	}
	return r
}

func pick[T any](r *rand.Rand, s []T) T { return s[r.IntN(len(s))] }

func eq[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

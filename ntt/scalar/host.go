package scalar

import (
	"math/big"
	"math/bits"
	"strings"
	"unsafe"

	bls12377 "github.com/consensys/gnark-crypto/ecc/bls12-377/fr"
	bls12377fft "github.com/consensys/gnark-crypto/ecc/bls12-377/fr/fft"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	bls12381fft "github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"
	bn254 "github.com/consensys/gnark-crypto/ecc/bn254/fr"
	bn254fft "github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	bw6761 "github.com/consensys/gnark-crypto/ecc/bw6-761/fr"
	bw6761fft "github.com/consensys/gnark-crypto/ecc/bw6-761/fr/fft"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/mont"
)

// fieldOf is one of the fields: its kernels, and what gnark-crypto has for it.
type fieldOf struct {
	*mont.Field
	unit   *kernel.Source
	family family
}

// family is a field's transforms on the CPU.
type family interface {
	generators(f *mont.Field, log int) (w, g *big.Int)
	open(f *mont.Field, log int, divisor *big.Int) hostDomain
}

// hostDomain is a domain on the CPU. Lengths are right.
type hostDomain interface {
	transform(buf []uint64, from Order, inverse, coset bool)
	reverse(buf []uint64)
	quotient(q *device.Queue, a, b, c []uint64) error  // a and b on the coset
	divide(q *device.Queue, a []uint64) error          // by X^n - 1 on the coset
	ofRest(q *device.Queue, a, b, rest []uint64) error // a and b on the coset
}

var fields = []*fieldOf{
	{curve.BN254Fr, unit(curve.BN254Fr), gnark[bn254.Element, *bn254.Element, bn254fft.Decimation, bn254fft.Option, *bn254fft.Domain]{
		dit: bn254fft.DIT, dif: bn254fft.DIF, coset: bn254fft.OnCoset,
		domain: func(n uint64) *bn254fft.Domain { return bn254fft.NewDomain(n) },
		constants: func(n uint64) (w, g bn254.Element) {
			d := bn254fft.NewDomain(n, bn254fft.WithoutPrecompute())
			return d.Generator, d.FrMultiplicativeGen
		},
	}},
	{curve.BLS12377Fr, unit(curve.BLS12377Fr), gnark[bls12377.Element, *bls12377.Element, bls12377fft.Decimation, bls12377fft.Option, *bls12377fft.Domain]{
		dit: bls12377fft.DIT, dif: bls12377fft.DIF, coset: bls12377fft.OnCoset,
		domain: func(n uint64) *bls12377fft.Domain { return bls12377fft.NewDomain(n) },
		constants: func(n uint64) (w, g bls12377.Element) {
			d := bls12377fft.NewDomain(n, bls12377fft.WithoutPrecompute())
			return d.Generator, d.FrMultiplicativeGen
		},
	}},
	{curve.BLS12381Fr, unit(curve.BLS12381Fr), gnark[bls12381.Element, *bls12381.Element, bls12381fft.Decimation, bls12381fft.Option, *bls12381fft.Domain]{
		dit: bls12381fft.DIT, dif: bls12381fft.DIF, coset: bls12381fft.OnCoset,
		domain: func(n uint64) *bls12381fft.Domain { return bls12381fft.NewDomain(n) },
		constants: func(n uint64) (w, g bls12381.Element) {
			d := bls12381fft.NewDomain(n, bls12381fft.WithoutPrecompute())
			return d.Generator, d.FrMultiplicativeGen
		},
	}},
	{curve.BW6761Fr, unit(curve.BW6761Fr), gnark[bw6761.Element, *bw6761.Element, bw6761fft.Decimation, bw6761fft.Option, *bw6761fft.Domain]{
		dit: bw6761fft.DIT, dif: bw6761fft.DIF, coset: bw6761fft.OnCoset,
		domain: func(n uint64) *bw6761fft.Domain { return bw6761fft.NewDomain(n) },
		constants: func(n uint64) (w, g bw6761.Element) {
			d := bw6761fft.NewDomain(n, bw6761fft.WithoutPrecompute())
			return d.Generator, d.FrMultiplicativeGen
		},
	}},
}

// find is the field with f's modulus, nil if there is none.
func find(f *mont.Field) *fieldOf {
	for _, x := range fields {
		if f != nil && x.Modulus.Cmp(f.Modulus) == 0 {
			return x
		}
	}
	return nil
}

func names() string {
	var out []string
	for _, x := range fields {
		out = append(out, x.Name)
	}
	return strings.Join(out, ", ")
}

// element is a pointer to an element of a field.
type element[E any] interface {
	*E
	Mul(x, y *E) *E
	Sub(x, y *E) *E
}

// domain is one of gnark-crypto's types fft.Domain.
type domain[E, D, O any] interface {
	FFT(a []E, decimation D, opts ...O)
	FFTInverse(a []E, decimation D, opts ...O)
}

// gnark is what one of gnark-crypto's packages fft has.
type gnark[E any, P element[E], D, O any, T domain[E, D, O]] struct {
	dit, dif  D
	coset     func() O
	domain    func(n uint64) T
	constants func(n uint64) (w, g E)
}

func (x gnark[E, P, D, O, T]) generators(f *mont.Field, log int) (w, g *big.Int) {
	a, b := x.constants(1 << log)
	number := func(e *E) *big.Int {
		return f.FromMontgomery(unsafe.Slice((*uint32)(unsafe.Pointer(e)), f.Limbs))
	}
	return number(&a), number(&b)
}

func (x gnark[E, P, D, O, T]) open(f *mont.Field, log int, divisor *big.Int) hostDomain {
	d := &gnarkDomain[E, P, D, O, T]{gnark: x, t: x.domain(1 << log), log: log}
	copy(unsafe.Slice((*uint32)(unsafe.Pointer(&d.divisor)), f.Limbs), f.Montgomery(divisor))
	return d
}

type gnarkDomain[E any, P element[E], D, O any, T domain[E, D, O]] struct {
	gnark[E, P, D, O, T]
	t       T
	log     int
	divisor E // what a quotient is multiplied by
}

// elements is the elements that words are.
func elements[E any](words []uint64) []E {
	var z E
	return unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8/int(unsafe.Sizeof(z)))
}

func (d *gnarkDomain[E, P, D, O, T]) transform(buf []uint64, from Order, inverse, coset bool) {
	do, decimation := d.t.FFT, d.dif
	if inverse {
		do = d.t.FFTInverse
	}
	if from == Reversed {
		decimation = d.dit
	}
	var opts []O
	if coset {
		opts = append(opts, d.coset())
	}
	do(elements[E](buf), decimation, opts...)
}

func (d *gnarkDomain[E, P, D, O, T]) reverse(buf []uint64) {
	v := elements[E](buf)
	for i := range v {
		if j := int(bits.Reverse64(uint64(i)) >> (63 - d.log) >> 1); i < j {
			v[i], v[j] = v[j], v[i]
		}
	}
}

func (d *gnarkDomain[E, P, D, O, T]) quotient(q *device.Queue, a, b, c []uint64) error {
	x, z := elements[E](a), elements[E](c)
	d.transform(c, Natural, true, false)
	if err := d.product(q, a, b); err != nil {
		return err
	}
	return q.Parallel(len(x), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			P(&x[i]).Sub(&x[i], &z[i])
			P(&x[i]).Mul(&x[i], &d.divisor)
		}
	})
}

const grain = 1 << 10 // elements that are worth a goroutine

// product turns values on the coset into the coefficients of their product, in a.
func (d *gnarkDomain[E, P, D, O, T]) product(q *device.Queue, a, b []uint64) error {
	x, y := elements[E](a), elements[E](b)
	err := q.Parallel(len(x), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			P(&x[i]).Mul(&x[i], &y[i])
		}
	})
	if err == nil {
		d.transform(a, Natural, true, true)
	}
	return err
}

func (d *gnarkDomain[E, P, D, O, T]) divide(q *device.Queue, a []uint64) error {
	x := elements[E](a)
	return q.Parallel(len(x), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			P(&x[i]).Mul(&x[i], &d.divisor)
		}
	})
}

func (d *gnarkDomain[E, P, D, O, T]) ofRest(q *device.Queue, a, b, rest []uint64) error {
	x, z := elements[E](a), elements[E](rest)
	if err := d.product(q, a, b); err != nil {
		return err
	}
	return q.Parallel(len(x), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			P(&x[i]).Mul(&x[i], &d.divisor)
			P(&x[i]).Sub(&x[i], &z[i])
		}
	})
}

// Package mont describes large prime fields to kernels, in Montgomery form over
// 32-bit words (mont.cuh). The layout in memory is that of gnark-crypto's
// elements: little end first, x standing for x·2^(32·Limbs) mod p.
package mont

import (
	_ "embed" // kernel sources
	"fmt"
	"math/big"
	"strings"

	"github.com/zkwarp/zkwarp/device/kernel"
)

//go:embed mont.cuh
var montText string

//go:embed wide.cuh
var wideText string

//go:embed params.cuh
var paramsText string

// Header is mont.cuh, the arithmetic of every field.
var Header = &kernel.Source{Name: "field/mont/mont.cuh", Text: montText, Headers: []*kernel.Source{kernel.PTX, wide}}

var wide = &kernel.Source{Name: "field/mont/wide.cuh", Text: wideText, Headers: []*kernel.Source{kernel.PTX}}

//go:embed inverse.cuh
var inverseText string

// InverseHeader is inverse.cuh, one thread's inversion by division steps.
var InverseHeader = &kernel.Source{Name: "field/mont/inverse.cuh", Text: inverseText, Headers: []*kernel.Source{Header}}

// Field is one prime field.
type Field struct {
	Name    string // of the struct of its constants in kernels, such as bn254_fp
	Modulus *big.Int
	Limbs   int // 32-bit words of an element, an even number

	params  *kernel.Source
	unradix *big.Int // 2^(-32·Limbs) mod p
}

// New returns the field of a prime modulus, given in hexadecimal digits. Elements take
// whole 64-bit words, and at least one bit of the highest stays unused; a modulus
// that leaves none is a mistake of the program.
func New(name, modulus string) *Field {
	p, ok := new(big.Int).SetString(modulus, 16)
	if !ok || p.Bit(0) == 0 || p.BitLen() < 3 {
		panic(fmt.Sprintf("mont: %s: bad modulus %q", name, modulus))
	}
	f := &Field{Name: name, Modulus: p, Limbs: 2 * ((p.BitLen() + 63) / 64)}
	if 32*f.Limbs == p.BitLen() {
		panic(fmt.Sprintf("mont: %s: %d bits leave none unused", name, p.BitLen()))
	}
	f.unradix = new(big.Int).ModInverse(f.radix(), p)
	one := new(big.Int).Mod(f.radix(), p)
	r2 := new(big.Int).Mod(new(big.Int).Mul(f.radix(), f.radix()), p)
	f.params = kernel.Template{Name: "field/mont/params.cuh", Text: paramsText}.Unit(name, []string{
		"FIELD_LIMBS", fmt.Sprint(f.Limbs),
		"FIELD_SPARE", fmt.Sprint(32*f.Limbs - p.BitLen()),
		"FIELD_SUMS", fmt.Sprint(f.sums()),
		"FIELD_INVERSE", fmt.Sprintf("%#xu", f.Inverse()),
		"FIELD_MODULUS2", f.list(new(big.Int).Lsh(p, 1)),
		"FIELD_MODULUS", f.list(p),
		"FIELD_ONE", f.list(one),
		"FIELD_R2", f.list(r2),
		"FIELD_HALF", f.list(new(big.Int).Rsh(p, 1)),
	}, kernel.PTX)
	return f
}

// Params is the header of the field's constants, a struct called Name.
func (f *Field) Params() *kernel.Source { return f.params }

// Bytes of an element.
func (f *Field) Bytes() int { return 4 * f.Limbs }

// Bits of the modulus.
func (f *Field) Bits() int { return f.Modulus.BitLen() }

func (f *Field) radix() *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(32*f.Limbs)) }

// Inverse is -1/p modulo 2^32.
func (f *Field) Inverse() uint32 {
	word := new(big.Int).Lsh(big.NewInt(1), 32)
	v := new(big.Int).ModInverse(f.Modulus, word)
	return uint32(v.Sub(word, v).Uint64())
}

// sums says whether 2^32 (a + c + p) is below 2^(32·(Limbs+1)) for any elements a and c
// of kernels: see mul_sum_interleaved.
func (f *Field) sums() bool {
	times := int64(3)
	if 32*f.Limbs-f.Bits() >= 2 {
		times = 5
	}
	return new(big.Int).Mul(f.Modulus, big.NewInt(times)).Cmp(f.radix()) < 0
}

// Words are the words of v, which must lie in [0, 2^(32·Limbs)).
func (f *Field) Words(v *big.Int) []uint32 {
	out := make([]uint32, f.Limbs)
	t := new(big.Int).Set(v)
	mask := big.NewInt(1<<32 - 1)
	for i := range out {
		out[i] = uint32(new(big.Int).And(t, mask).Uint64())
		t.Rsh(t, 32)
	}
	return out
}

// Montgomery are the words of the element v mod p.
func (f *Field) Montgomery(v *big.Int) []uint32 {
	t := new(big.Int).Mul(v, f.radix())
	return f.Words(t.Mod(t, f.Modulus))
}

// Int is the number of plain words.
func (f *Field) Int(words []uint32) *big.Int {
	v := new(big.Int)
	for i := len(words) - 1; i >= 0; i-- {
		v.Lsh(v, 32).Or(v, big.NewInt(int64(words[i])))
	}
	return v
}

// FromMontgomery is the number that an element's words stand for.
func (f *Field) FromMontgomery(words []uint32) *big.Int {
	v := f.Int(words)
	return v.Mod(v.Mul(v, f.unradix), f.Modulus)
}

func (f *Field) list(v *big.Int) string {
	var b strings.Builder
	for i, w := range f.Words(v) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%#xu", w)
	}
	return b.String()
}

// Package fp64 describes large prime fields to kernels that multiply on the pipe for
// doubles (fp64.cuh). Suite msm of bench measures it against mont; no prover uses it, for it
// is slower in additions of points (bench/NOTES.md, "Other pipes than the integer one").
package fp64

import (
	_ "embed" // kernel sources
	"fmt"
	"math/big"
	"strings"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/mont"
)

//go:embed fp64.cuh
var text string

//go:embed params.cuh
var paramsText string

// Header is fp64.cuh, the arithmetic of every field.
var Header = &kernel.Source{Name: "field/fp64/fp64.cuh", Text: text, Headers: []*kernel.Source{kernel.PTX, mont.Header}}

// Field is one prime field whose elements are limbs with signs, in Montgomery form with
// the radix 2^(Bits·Limbs).
type Field struct {
	*mont.Field
	Name        string // of the struct of its constants in kernels, such as bn254_fp_fp64
	Bits, Limbs int    // of a limb, of an element

	params *kernel.Source
}

// maxBits of a limb: products of two are whole numbers of twice as many, of which two
// doubles hold no more.
const maxBits = 51

// New returns the field with the fewest limbs: of 48 bits where they are enough, since
// whole words make elements of 16-bit multiples, and of 51 otherwise.
func New(m *mont.Field) *Field {
	f := &Field{Field: m, Name: m.Name + "_fp64", Limbs: (m.Bits() + maxBits) / maxBits, Bits: maxBits}
	if 48*f.Limbs > m.Bits() {
		f.Bits = 48
	}
	p := m.Modulus
	limb := new(big.Int).Lsh(big.NewInt(1), uint(f.Bits))
	inverse := new(big.Int).ModInverse(p, limb)
	inverse = f.centred(inverse.Neg(inverse), limb)
	friendly := new(big.Int).Mul(inverse, p)
	friendly.Add(friendly, big.NewInt(1)).Quo(friendly, limb)
	radix := new(big.Int).Lsh(big.NewInt(1), uint(f.Bits*f.Limbs))
	words := new(big.Int).Lsh(big.NewInt(1), uint(32*m.Limbs))
	enter := new(big.Int).ModInverse(words, p)
	enter.Mul(enter, radix).Mul(enter, radix).Mod(enter, p)
	top := new(big.Int).Rsh(p, uint(f.Bits*(f.Limbs-1)))
	shift := max(0, top.BitLen()-17)
	ratio := new(big.Int).Lsh(big.NewInt(1), uint(28+f.Bits*(f.Limbs-1)+shift))
	var low, high []string
	for _, v := range f.Signed(p) {
		lo := int32(uint32(v)) // the lower word as a number with a sign
		low, high = append(low, fmt.Sprint(lo)), append(high, fmt.Sprint((v-int64(lo))>>32))
	}
	f.params = kernel.Template{Name: "field/fp64/params.cuh", Text: paramsText}.Unit(f.Name, []string{
		"MONT_HEADER", m.Params().Name,
		"MONT_FIELD", m.Name,
		"FP64_LIMBS", fmt.Sprint(f.Limbs),
		"FP64_BITS", fmt.Sprint(f.Bits),
		"FP64_SHIFT", fmt.Sprint(shift),
		"FP64_RATIO", ratio.Div(ratio, p).String(),
		"FP64_INVERSE", inverse.String() + ".0",
		"FP64_FRIENDLY", f.list(friendly),
		"FP64_MODULUS_LOW", strings.Join(low, ", "),
		"FP64_MODULUS_HIGH", strings.Join(high, ", "),
		"FP64_MODULUS", f.list(p),
		"FP64_ENTER", f.list(enter),
		"FP64_LEAVE", f.list(new(big.Int).Mod(words, p)),
	}, m.Params())
	return f
}

// Params is the header of the field's constants, a struct called Name.
func (f *Field) Params() *kernel.Source { return f.params }

func (f *Field) centred(v, limb *big.Int) *big.Int {
	r := new(big.Int).Mod(v, limb)
	if r.Bit(f.Bits-1) == 1 {
		r.Sub(r, limb)
	}
	return r
}

// Signed are the limbs of v, which lie between -2^(Bits-1) and 2^(Bits-1) but for the highest.
func (f *Field) Signed(v *big.Int) []int64 {
	limb := new(big.Int).Lsh(big.NewInt(1), uint(f.Bits))
	out := make([]int64, f.Limbs)
	rest := new(big.Int).Set(v)
	for j := range out {
		r := rest
		if j+1 < len(out) {
			r = f.centred(rest, limb)
		}
		out[j] = r.Int64()
		rest = new(big.Int).Sub(rest, r)
		rest.Rsh(rest, uint(f.Bits))
	}
	return out
}

func (f *Field) list(v *big.Int) string {
	var b strings.Builder
	for i, l := range f.Signed(v) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d.0", l)
	}
	return b.String()
}

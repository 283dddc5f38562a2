package bench

import (
	_ "embed" // kernels
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/fp64"
	"github.com/zkwarp/zkwarp/field/mont"
)

var (
	//go:embed products.cu
	productsText string
	//go:embed products_tensor.cu
	tensorText string
	//go:embed tensor.cuh
	tensorHeaderText string
)

var tensorHeader = &kernel.Source{Name: "bench/tensor.cuh", Text: tensorHeaderText, Headers: []*kernel.Source{mont.Header}}

// productField is a field of the comparison of techniques.
type productField struct {
	doubles *fp64.Field
	words   *mont.Field
	bits    string
	share   int // per cent: rounds in doubles of those in words, side by side
	blocks  int // of 128 threads, which a multiprocessor is to hold at once
	source  *kernel.Source
	tensor  *kernel.Source
}

func newProductField(f *fp64.Field, blocks, share int) productField {
	t := kernel.Template{Name: "bench/products.cu", Text: productsText}
	return productField{doubles: f, words: f.Field, bits: fmt.Sprint(f.Modulus.BitLen()), blocks: blocks, share: share,
		source: t.Unit(strings.TrimSuffix(f.Field.Name, "_fp"), []string{"FP64_HEADER", f.Params().Name, "FP64_FIELD", f.Name, "BLOCKS", fmt.Sprint(blocks)},
			f.Params(), fp64.Header),
		tensor: kernel.Template{Name: "bench/products_tensor.cu", Text: tensorText}.Unit(strings.TrimSuffix(f.Field.Name, "_fp"),
			[]string{"MONT_HEADER", f.Field.Params().Name, "MONT_FIELD", f.Field.Name, "TENSOR_BLOCKS", fmt.Sprint(blocks)}, f.Field.Params(), tensorHeader)}
}

var productFields = []productField{
	newProductField(fp64.New(curve.BN254Fp), 5, 100),
	newProductField(fp64.New(curve.BLS12381Fp), 4, 100),
	newProductField(fp64.New(curve.MNT4753Fp), 2, 100),
}

// ProductSources are the kernels that multiply and add points by each technique.
func ProductSources() []*kernel.Source {
	var out []*kernel.Source
	for _, f := range productFields {
		out = append(out, f.source, f.tensor)
	}
	for _, a := range accumulations {
		if !slices.Contains(out, a.source) {
			out = append(out, a.source)
		}
	}
	return out
}

// productCases are products a second, each technique by itself and two side by side.
func productCases() []Case {
	var out []Case
	for _, f := range productFields {
		for _, t := range []struct{ name, about string }{
			{"words", "integer multiply-adds of 32 bits"},
			{"doubles", "multiply-adds of doubles, limbs of 48 or 51 bits"},
			{"both", "words and doubles, half the warps each"},
			{"tensor", "products by constants on the tensor cores, the others in words"},
		} {
			kernel := "bench_product_" + t.name + "_" + f.variant()
			out = append(out, Case{Suite: "msm", Name: "product-" + t.name + "-" + f.bits, About: "Montgomery products, no memory traffic: " + t.about,
				GPU: true, Kernels: []string{kernel}, Run: func(e *Env) ([]Measurement, error) { return f.run(e, kernel, t.name) }})
		}
	}
	return out
}

func (f productField) variant() string { return strings.TrimSuffix(f.words.Name, "_fp") }

// rounds of a product that a thread makes by each technique; where both run they
// are to end together.
func (f productField) rounds(kind device.Kind, technique string) (words, doubles int) {
	if kind == device.SIMT {
		return 2, 3
	}
	words = 1 << 17 / (f.words.Limbs * f.words.Limbs)
	if technique == "both" {
		return words, words * f.share / 100
	}
	return words, words
}

func (f productField) run(e *Env, kernel, technique string) ([]Measurement, error) {
	q, blocks := e.Queue, 132*f.blocks*4
	if q.Device().Kind() == device.SIMT {
		blocks = 2
	}
	words, doubles := f.rounds(q.Device().Kind(), technique)
	seed, limbs := e.Rand.Uint32(), f.words.Limbs
	out, err := device.Alloc[uint32](q, blocks*128*limbs)
	if err != nil {
		return nil, err
	}
	defer out.Free()
	source, args := f.source, []device.Arg{out.Arg(), device.U32(seed)}
	if technique != "doubles" {
		args = append(args, device.U32(words))
	}
	if technique == "tensor" {
		source = f.tensor
		for _, table := range tensorTables(f.words) {
			b, err := device.Upload(q, table)
			if err != nil {
				return nil, err
			}
			defer b.Free()
			args = append(args, b.Arg())
		}
	}
	if technique == "doubles" || technique == "both" {
		args = append(args, device.U32(doubles))
	}
	m, err := e.Time("ms", 1, nil, func() error {
		return q.Launch(device.Kernel{Source: source, Name: kernel}, device.D1(blocks), device.D1(128), 0, args...)
	})
	if err != nil {
		return nil, err
	}
	got, err := out.Read(q)
	if err != nil {
		return nil, err
	}
	inDoubles := func(t int) bool {
		return technique == "doubles" || technique == "both" && (t/32+t/128)%2 == 1
	}
	var products float64
	for t := range blocks * 128 {
		if inDoubles(t) {
			products += float64(doubles)
		} else {
			products += float64(words)
		}
	}
	for _, t := range []int{0, 77, 130, blocks*128 - 1} {
		n := words
		if inDoubles(t) {
			n = doubles
		}
		if want, have := f.thread(seed, uint32(t), n, inDoubles(t)), f.words.Int(got[t*limbs:(t+1)*limbs]); have.Cmp(want) != 0 {
			return nil, fmt.Errorf("thread %d computed %x, want %x", t, have, want)
		}
	}
	return []Measurement{rate(m, "gops", "Gops/s", products, 1e9)}, nil
}

// thread is one thread of the kernels, by definition.
func (f productField) thread(seed, t uint32, rounds int, inDoubles bool) *big.Int {
	limbs := uint32(f.words.Limbs)
	radix := uint(32 * limbs)
	if inDoubles {
		radix = uint(f.doubles.Bits * f.doubles.Limbs)
	}
	inverse := new(big.Int).Lsh(big.NewInt(1), radix)
	inverse.ModInverse(inverse, f.words.Modulus)
	start := func(k uint32) *big.Int {
		w := make([]uint32, limbs)
		for j := range w {
			w[j] = (seed + t*2*limbs + k*limbs + uint32(j)) * 0x9e3779b9
		}
		w[limbs-1] &= 1<<(f.words.Modulus.BitLen()-32*int(limbs)+31) - 1
		return f.words.Int(w)
	}
	x, y := start(0), start(1)
	for range rounds {
		x.Mul(x, y)
		x.Mod(x.Mul(x, inverse), f.words.Modulus)
	}
	return x
}

// tensorTables are the matrices of the tensor cores: of -1/p modulo 2^(32 Limbs) for the
// lower half of a product, and of p for the upper half and the 16 columns below it.
func tensorTables(f *mont.Field) [][]uint32 {
	radix := new(big.Int).Lsh(big.NewInt(1), uint(32*f.Limbs))
	inverse := new(big.Int).ModInverse(f.Modulus, radix)
	return [][]uint32{
		tensorTable(f, inverse.Sub(radix, inverse), 0, f.Limbs/4),
		tensorTable(f, f.Modulus, f.Limbs/4-1, f.Limbs/4+1),
	}
}

// tensorTable is the fragments of the matrix whose column j has the constant's bytes from row j
// on, of groups of 16 columns from the first one on. A group is two tiles of 8 columns;
// columns 2t and 2t+1 of the first and those of the second are neighbours, so that lane t
// of four gets them all.
func tensorTable(f *mont.Field, constant *big.Int, first, groups int) []uint32 {
	size := 4 * f.Limbs
	bytes := constant.FillBytes(make([]byte, size)) // the highest first
	at := func(row, column int) uint32 {
		if i := column - row; row < size && i >= 0 && i < size {
			return uint32(bytes[size-1-i])
		}
		return 0
	}
	var out []uint32
	for tile := range 2 * groups {
		for step := range (size + 31) / 32 {
			for lane := range 32 {
				g, t := lane/4, lane%4
				column := 16*(first+tile/2) + g/2*4 + tile%2*2 + g%2
				for half := range 2 {
					var w uint32
					for i := range 4 {
						w |= at(32*step+16*half+4*t+i, column) << (8 * i)
					}
					out = append(out, w)
				}
			}
		}
	}
	return out
}

package bench

import (
	_ "embed" // kernels
	"fmt"
	"math/big"
	"strings"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/fp64"
	"github.com/zkwarp/zkwarp/field/mont"
)

//go:embed products.cu
var productsText string

// productField is a field of the comparison of techniques.
type productField struct {
	doubles *fp64.Field
	words   *mont.Field
	bits    string
	share   int // per cent: rounds in doubles of those in words, side by side
	blocks  int // of 128 threads, which a multiprocessor is to hold at once
	source  *kernel.Source
}

func newProductField(f *fp64.Field, blocks, share int) productField {
	t := kernel.Template{Name: "bench/products.cu", Text: productsText}
	return productField{doubles: f, words: f.Field, bits: fmt.Sprint(f.Modulus.BitLen()), blocks: blocks, share: share,
		source: t.Unit(strings.TrimSuffix(f.Field.Name, "_fp"), []string{"FP64_HEADER", f.Params().Name, "FP64_FIELD", f.Name, "BLOCKS", fmt.Sprint(blocks)},
			f.Params(), fp64.Header)}
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
		out = append(out, f.source)
	}
	for _, a := range accumulations {
		out = append(out, a.source)
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
			{"both", "half the warps each"},
		} {
			kernel := "bench_product_" + t.name + "_" + f.variant()
			out = append(out, Case{Suite: "msm", Name: "product-" + t.name + "-" + f.bits, About: "Montgomery products, no memory traffic: " + t.about,
				GPU: true, Kernels: []string{kernel}, Run: func(e *Env) ([]Measurement, error) { return f.run(e, kernel, t.name) }})
		}
	}
	return out
}

func (f productField) variant() string { return strings.TrimSuffix(f.words.Name, "_fp") }

// rounds of two products that a thread makes by each technique; where both run they
// are to end together.
func (f productField) rounds(kind device.Kind, technique string) (words, doubles int) {
	if kind == device.SIMT {
		return 2, 3
	}
	words = 1 << 16 / (f.words.Limbs * f.words.Limbs)
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
	args := []device.Arg{out.Arg(), device.U32(seed)}
	if technique != "doubles" {
		args = append(args, device.U32(words))
	}
	if technique != "words" {
		args = append(args, device.U32(doubles))
	}
	m, err := e.Time("ms", 1, nil, func() error {
		return q.Launch(device.Kernel{Source: f.source, Name: kernel}, device.D1(blocks), device.D1(128), 0, args...)
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
			products += 2 * float64(doubles)
		} else {
			products += 2 * float64(words)
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
	multiply := func(a, b *big.Int) {
		a.Mul(a, b)
		a.Mod(a.Mul(a, inverse), f.words.Modulus)
	}
	for range rounds {
		multiply(x, y)
		multiply(y, x)
	}
	return x
}

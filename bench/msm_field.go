package bench

import (
	_ "embed" // kernels
	"fmt"
	"math/big"
	"slices"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/mont"
)

//go:embed msm_field.cu
var msmFieldText string

// msmField is a field whose arithmetic is measured.
type msmField struct {
	name   string // bits, as in the cases' names
	field  *mont.Field
	source *kernel.Source
}

// msmFieldOp is an operation on two numbers x and y of a thread.
type msmFieldOp struct {
	name, about, kernel string
	// step is what becomes of x; scale is 1/2^(32N), which a product of words is short of.
	step func(x, y, scale, p *big.Int) *big.Int
	sum  bool // the result is x + y
}

var msmFields = newMSMFields()

func newMSMFields() []msmField {
	out := []msmField{
		{name: "254", field: curve.BN254Fp}, {name: "377", field: curve.BLS12377Fp}, {name: "381", field: curve.BLS12381Fp},
		{name: "753", field: curve.MNT4753Fp}, {name: "761", field: curve.BW6761Fp},
	}
	for i, f := range out {
		out[i].source = curve.ScalarUnit(f.field, kernel.Template{Name: "bench/msm_field.cu", Text: msmFieldText}, nil)
	}
	return out
}

// MSMFieldSources are the kernels that do arithmetic in the fields of curves.
func MSMFieldSources() []*kernel.Source {
	var out []*kernel.Source
	for _, f := range msmFields {
		out = append(out, f.source)
	}
	return out
}

var msmFieldOps = []msmFieldOp{
	{name: "mul", about: "Montgomery products", kernel: "bench_mul_", step: func(x, y, scale, p *big.Int) *big.Int {
		v := new(big.Int).Mul(x, y)
		return v.Mod(v.Mul(v, scale), p)
	}},
	{name: "sqr", about: "Montgomery squares", kernel: "bench_sqr_", sum: true, step: func(x, _, scale, p *big.Int) *big.Int {
		v := new(big.Int).Mul(x, x)
		return v.Mod(v.Mul(v, scale), p)
	}},
	{name: "mulsub", about: "differences of two products, reduced once", kernel: "bench_mul_sub_", step: func(x, y, scale, p *big.Int) *big.Int {
		v := new(big.Int).Mul(x, y)
		v.Sub(v, new(big.Int).Mul(y, y))
		return v.Mod(v.Mul(v, scale), p)
	}},
}

// msmFieldCases are the products of the fields of curves, alone.
func msmFieldCases() []Case {
	var cases []Case
	for _, f := range msmFields {
		for _, op := range msmFieldOps {
			cases = append(cases, Case{Suite: msmSuite, Name: "field-" + op.name + "-" + f.name,
				About: op.about + " modulo a prime of " + f.name + " bits", GPU: true, Kernels: []string{op.kernel + f.field.Name},
				Run: func(e *Env) ([]Measurement, error) { return f.run(e, op) }})
		}
	}
	return cases
}

func (f msmField) run(e *Env, op msmFieldOp) ([]Measurement, error) {
	// Many more blocks than a card holds: warps are not served evenly, and the last of them
	// leave a multiprocessor half idle. So many rounds that the longest take milliseconds.
	limbs := f.field.Limbs
	q, blocks, rounds := e.Queue, 8*cardBlocks, 1<<12/(limbs*limbs)
	if q.Device().Kind() != device.CUDA {
		blocks, rounds = 1, 2
	}
	const threads = 128
	seed := e.Rand.Uint32()
	out, err := device.Alloc[uint32](q, blocks*threads*limbs)
	if err != nil {
		return nil, err
	}
	defer out.Free()
	m, err := e.Time("ms", 1, nil, func() error {
		return q.Launch(device.Kernel{Source: f.source, Name: op.kernel + f.field.Name}, device.D1(blocks), device.D1(threads), 0,
			out.Arg(), device.U32(seed), device.U32(rounds))
	})
	if err != nil {
		return nil, err
	}
	got, err := out.Read(q)
	if err != nil {
		return nil, err
	}
	for _, t := range []int{0, 77, blocks*threads - 1} {
		if want, have := f.thread(op, seed, uint32(t), rounds), got[t*limbs:(t+1)*limbs]; !slices.Equal(have, want) {
			return nil, fmt.Errorf("thread %d computed %#x, want %#x", t, have, want)
		}
	}
	return []Measurement{rate(m, "gops", "Gops/s", float64(blocks)*threads*2*float64(rounds), 1e9)}, nil
}

// thread is one thread's result, by definition.
func (f msmField) thread(op msmFieldOp, seed, t uint32, rounds int) []uint32 {
	p, limbs := f.field.Modulus, uint32(f.field.Limbs)
	radix := new(big.Int).Lsh(big.NewInt(1), uint(32*limbs))
	scale := new(big.Int).ModInverse(radix, p)
	start := func(first uint32) *big.Int {
		w := make([]uint32, limbs)
		for i := range w {
			w[i] = (seed + first + uint32(i)) * 0x9e3779b9
		}
		w[limbs-1] &= f.field.Words(p)[limbs-1] >> 1
		return f.field.Int(w)
	}
	x, y := start(t*2*limbs), start(t*2*limbs+limbs)
	for range rounds {
		x = op.step(x, y, scale, p)
		y = op.step(y, x, scale, p)
	}
	if op.sum {
		x.Mod(x.Add(x, y), p)
	}
	return f.field.Words(x)
}

package bench

import (
	_ "embed" // kernels
	"fmt"
	"math/big"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/fp64"
)

var (
	//go:embed accumulate.cuh
	accumulateHeaderText string
	//go:embed accumulate.cu
	accumulateText string
	//go:embed accumulate_steps.cu
	accumulateStepsText string
	//go:embed accumulate_doubles.cu
	accumulateDoublesText string
	//go:embed accumulate_tensor.cu
	accumulateTensorText string
)

var accumulateHeader = &kernel.Source{Name: "bench/accumulate.cuh", Text: accumulateHeaderText, Headers: []*kernel.Source{kernel.PTX}}

// accumulation is a loop of additions over one group.
type accumulation struct {
	group   *curve.Group
	name    string // the technique, as in the case's name
	about   string
	kernel  string // without the variant
	variant string
	source  *kernel.Source
	threads int               // of a block
	shared  int               // bytes a block
	tables  func() [][]uint32 // further arguments
}

// shape is threads of a block and blocks that a multiprocessor is to hold at once.
type shape struct{ threads, blocks int }

// inWords is the arithmetic of bucket sums; products of more words than called are
// functions that are called.
func inWords(g *curve.Group, s shape, name, about, variant string, called, karatsuba int) accumulation {
	t := kernel.Template{Name: "bench/accumulate.cu", Text: accumulateText}
	return accumulation{group: g, name: name, about: about, kernel: "bench_accumulate_words_", variant: g.Name + variant, threads: s.threads,
		source: t.Unit(g.Name+variant, []string{
			"GROUP_HEADER", g.Header().Name, "THREADS", fmt.Sprint(s.threads), "RESIDENT", fmt.Sprint(s.blocks),
			"CALLED_ABOVE", fmt.Sprint(called), "BY_KARATSUBA", fmt.Sprint(karatsuba),
		}, g.Header(), accumulateHeader)}
}

// inSteps are additions without what makes them fast, each with one thing more.
func inSteps(g *curve.Group, s, spilling shape) []accumulation {
	unit := g.Unit(kernel.Template{Name: "bench/accumulate_steps.cu", Text: accumulateStepsText}, []string{
		"SPILLING_THREADS", fmt.Sprint(spilling.threads), "SPILLING_RESIDENT", fmt.Sprint(spilling.blocks),
		"THREADS", fmt.Sprint(s.threads), "RESIDENT", fmt.Sprint(s.blocks),
	}, accumulateHeader)
	var out []accumulation
	for _, step := range []struct{ name, about string }{
		{"padd", "any two sums, 14 products"},
		{"pacc", "a point to a sum, 10 products"},
		{"order", "the same in the order with the fewest live integers"},
	} {
		out = append(out, accumulation{group: g, name: step.name, about: step.about, kernel: "bench_accumulate_" + step.name + "_", variant: g.Name,
			source: unit, threads: s.threads})
	}
	const numbers = 7
	return append(out, accumulation{group: g, name: "spilling", about: "as words, numbers in shared memory", kernel: "bench_accumulate_spilling_", variant: g.Name,
		source: unit, threads: spilling.threads, shared: numbers * spilling.threads * g.Base.Bytes()})
}

// inDoubles is words' arithmetic by the FP64 pipe.
func inDoubles(g *curve.Group, s shape) accumulation {
	f := fp64.New(g.Base)
	return accumulation{group: g, name: "doubles", about: "the same in doubles", kernel: "bench_accumulate_doubles_", variant: g.Name, threads: s.threads,
		source: g.Unit(kernel.Template{Name: "bench/accumulate_doubles.cu", Text: accumulateDoublesText}, []string{
			"FP64_HEADER", f.Params().Name, "FP64_FIELD", f.Name, "RESIDENT", fmt.Sprint(s.blocks),
		}, f.Params(), fp64.Header, accumulateHeader)}
}

// byTensor is words' arithmetic with reductions by the tensor cores.
func byTensor(g *curve.Group, s shape) accumulation {
	return accumulation{group: g, name: "tensor", about: "the same, reductions on the tensor cores", kernel: "bench_accumulate_tensor_", variant: g.Name,
		threads: s.threads, tables: func() [][]uint32 { return tensorTables(g.Base) },
		source: g.Unit(kernel.Template{Name: "bench/accumulate_tensor.cu", Text: accumulateTensorText}, []string{
			"MONT_FIELD", g.Base.Name, "THREADS", fmt.Sprint(s.threads), "RESIDENT", fmt.Sprint(s.blocks),
		}, tensorHeader, accumulateHeader)}
}

var accumulations = newAccumulations()

func newAccumulations() []accumulation {
	const (
		words     = "squares by themselves, the two products of Y reduced once"
		inline    = "as words, products inlined"
		karatsuba = "as words, products by Karatsuba's method"
		edwards   = "twisted Edwards form, 7 products"
	)
	var out []accumulation
	out = append(out, inSteps(curve.BN254G1, shape{128, 4}, shape{64, 8})...)
	out = append(out, inWords(curve.BN254G1, shape{128, 4}, "words", words, "", 8, 0), inDoubles(curve.BN254G1, shape{128, 4}), byTensor(curve.BN254G1, shape{128, 3}))
	out = append(out, inSteps(curve.BLS12381G1, shape{128, 3}, shape{64, 8})...)
	out = append(out,
		inWords(curve.BLS12381G1, shape{128, 3}, "words", words, "", 8, 0),
		inWords(curve.BLS12381G1, shape{128, 3}, "inline", inline, "_inline", 12, 0),
		inWords(curve.BLS12381G1, shape{128, 3}, "karatsuba", karatsuba, "_karatsuba", 8, 1),
		inDoubles(curve.BLS12381G1, shape{128, 2}),
		byTensor(curve.BLS12381G1, shape{128, 2}),
		inWords(curve.BLS12377G1, shape{128, 3}, "words", words, "", 8, 0),
		inWords(curve.BLS12377Edwards, shape{128, 3}, "edwards", edwards, "", 8, 1))
	out = append(out, inSteps(curve.MNT4753G1, shape{64, 4}, shape{64, 4})...)
	return append(out, inWords(curve.MNT4753G1, shape{64, 4}, "words", words, "", 8, 0), byTensor(curve.MNT4753G1, shape{64, 4}))
}

// accumulateCases are additions of points a second, by each technique.
func accumulateCases() []Case {
	var out []Case
	for _, a := range accumulations {
		out = append(out, Case{Suite: msmSuite, Name: fmt.Sprintf("accumulate-%s-%d", a.name, a.group.Base.Bits()),
			About: "points from memory added up, a sum a thread: " + a.about, GPU: true, Kernels: []string{a.kernel + a.variant}, Run: a.run})
	}
	return out
}

func (a accumulation) run(e *Env) ([]Measurement, error) {
	q, blocks, count, n := e.Queue, 132*16*128/a.threads, 128, 1<<20
	if q.Device().Kind() == device.SIMT {
		blocks, count, n = 1, 3, 64
	}
	words := a.points(e, n)
	list := make([]uint32, blocks*a.threads*count)
	for i := range list {
		// Not point 0, nor one twice in a row, which additions would take as a doubling.
		for {
			list[i] = e.Rand.Uint32()&(1<<31) | (1 + e.Rand.Uint32N(uint32(n-1)))
			if i%count == 0 || (list[i]^list[i-1])<<1 != 0 {
				break
			}
		}
	}
	points, err := device.Upload(q, words)
	if err != nil {
		return nil, err
	}
	defer points.Free()
	entries, err := device.Upload(q, list)
	if err != nil {
		return nil, err
	}
	defer entries.Free()
	limbs := a.group.Base.Limbs
	out, err := device.Alloc[uint32](q, blocks*a.threads*4*limbs)
	if err != nil {
		return nil, err
	}
	defer out.Free()
	args := []device.Arg{out.Arg(), points.Arg(), entries.Arg(), device.U32(count)}
	if a.tables != nil {
		for _, table := range a.tables() {
			b, err := device.Upload(q, table)
			if err != nil {
				return nil, err
			}
			defer b.Free()
			args = append(args, b.Arg())
		}
	}
	m, err := e.Time("ms", 1, nil, func() error {
		return q.Launch(device.Kernel{Source: a.source, Name: a.kernel + a.variant}, device.D1(blocks), device.D1(a.threads), a.shared, args...)
	})
	if err != nil {
		return nil, err
	}
	got, err := out.Read(q)
	if err != nil {
		return nil, err
	}
	for _, t := range []int{0, 37, blocks*a.threads - 1} {
		var v [4]*big.Int
		for i := range v {
			at := (4*t + i) * limbs
			v[i] = a.group.Base.FromMontgomery(got[at : at+limbs])
		}
		if !a.right(v, words, list[t*count:(t+1)*count]) {
			return nil, fmt.Errorf("the sum of thread %d is wrong", t)
		}
	}
	return []Measurement{rate(m, "gops", "Gops/s", float64(len(list)), 1e9)}, nil
}

// points are n points as kernels take them. The first is not one, but both of its
// coordinates are 1, for kernels that want such a number.
func (a accumulation) points(e *Env, n int) []uint32 {
	f := a.group.Base
	one := f.Montgomery(big.NewInt(1))
	out := make([]uint32, 0, n*a.group.AffineBytes()/4)
	if a.group.Edwards != nil {
		// A few hundred points, again and again.
		const different = 251
		out = append(append(append(out, one...), one...), one...)
		form := newEdwards(a.group)
		x, y := form.x, form.y
		for len(out) < different*3*f.Limbs {
			for _, v := range form.given(x, y) {
				out = append(out, f.Montgomery(v)...)
			}
			x, y = form.add(x, y, form.x, form.y)
		}
		cycle := out[3*f.Limbs:]
		for len(out) < cap(out) {
			out = append(out, cycle[:min(len(cycle), cap(out)-len(out))]...)
		}
		return out
	}
	// Any two numbers are a point of some curve, which the formulas do not ask for.
	out = append(append(out, one...), one...)
	for i := len(out); i < cap(out); i++ {
		w := e.Rand.Uint32()
		if i%f.Limbs == f.Limbs-1 {
			w &= 1<<(f.Bits()-32*f.Limbs+31) - 1
		}
		out = append(out, w)
	}
	return out
}

// right says whether coordinates v are the sum of the list's points, by definition.
func (a accumulation) right(v [4]*big.Int, words, list []uint32) bool {
	f := a.group.Base
	p, size := f.Modulus, a.group.AffineBytes()/4
	number := func(entry uint32, i int) *big.Int {
		at := int(entry&(1<<31-1))*size + i*f.Limbs
		return f.FromMontgomery(words[at : at+f.Limbs])
	}
	var x, y *big.Int // of the sum
	under := [2]*big.Int{v[2], v[3]}
	if a.group.Edwards != nil {
		form, half := newEdwards(a.group), new(big.Int).ModInverse(big.NewInt(2), p)
		x, y = new(big.Int), big.NewInt(1)
		for _, e := range list {
			minus, plus := number(e, 0), number(e, 1)
			qx, qy := new(big.Int).Sub(plus, minus), new(big.Int).Add(plus, minus)
			qx.Mod(qx.Mul(qx, half), p)
			qy.Mod(qy.Mul(qy, half), p)
			if e>>31 == 1 {
				qx.Sub(p, qx)
			}
			x, y = form.add(x, y, qx, qy)
		}
		under = [2]*big.Int{v[3], v[3]}
	} else {
		for _, e := range list {
			qx, qy := number(e, 0), number(e, 1)
			if e>>31 == 1 {
				qy.Sub(p, qy)
			}
			if x == nil {
				x, y = qx, qy
				continue
			}
			slope := new(big.Int).Sub(qx, x)
			slope.ModInverse(slope.Mod(slope, p), p)
			slope.Mul(slope, new(big.Int).Sub(qy, y)).Mod(slope, p)
			sum := new(big.Int).Mul(slope, slope)
			sum.Sub(sum, x).Sub(sum, qx).Mod(sum, p)
			y.Sub(slope.Mul(slope, x.Sub(x, sum)), y).Mod(y, p)
			x = sum
		}
	}
	x.Mul(x, under[0]).Sub(x, v[0]).Mod(x, p)
	y.Mul(y, under[1]).Sub(y, v[1]).Mod(y, p)
	return under[0].Sign() != 0 && under[1].Sign() != 0 && x.Sign() == 0 && y.Sign() == 0
}

// edwards is arithmetic by definition on -x² + y² = 1 + d x² y².
type edwards struct {
	p, d, x, y *big.Int // x, y: the generator
}

func newEdwards(g *curve.Group) edwards {
	e, p := g.Edwards, g.Base.Modulus
	s := new(big.Int).ModInverse(e.Root3, p)
	over := new(big.Int).Add(g.Generator[0], big.NewInt(1)) // x + 1
	u := new(big.Int).Mul(s, over)
	x := new(big.Int).Mul(e.C, over)
	x.Mod(x.Mul(x, new(big.Int).ModInverse(g.Generator[1], p)), p)
	y := new(big.Int).Sub(u, big.NewInt(1))
	y.Mod(y.Mul(y, new(big.Int).ModInverse(u.Add(u, big.NewInt(1)), p)), p)
	return edwards{p: p, d: e.D, x: x, y: y}
}

// given is (y - x, y + x, 2dxy).
func (e edwards) given(x, y *big.Int) [3]*big.Int {
	minus, plus, t := new(big.Int).Sub(y, x), new(big.Int).Add(y, x), new(big.Int).Mul(x, y)
	t.Mul(t.Lsh(t, 1), e.d)
	return [3]*big.Int{minus.Mod(minus, e.p), plus.Mod(plus, e.p), t.Mod(t, e.p)}
}

func (e edwards) add(x1, y1, x2, y2 *big.Int) (x, y *big.Int) {
	mul := func(a, b *big.Int) *big.Int {
		r := new(big.Int).Mul(a, b)
		return r.Mod(r, e.p)
	}
	one, t := big.NewInt(1), mul(e.d, mul(mul(x1, x2), mul(y1, y2)))
	x = new(big.Int).Add(mul(x1, y2), mul(y1, x2))
	y = new(big.Int).Add(mul(y1, y2), mul(x1, x2))
	plus, minus := new(big.Int).Add(one, t), new(big.Int).Sub(one, t)
	return mul(x, plus.ModInverse(plus, e.p)), mul(y, minus.ModInverse(minus.Mod(minus, e.p), e.p))
}

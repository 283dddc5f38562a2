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

//go:embed accumulate.cu
var accumulateText string

// accumulation is the loop of additions over one group.
type accumulation struct {
	group  *curve.Group
	source *kernel.Source
}

func newAccumulation(g *curve.Group, words, doubles int) accumulation {
	f := fp64.New(g.Base)
	return accumulation{group: g, source: g.Unit(kernel.Template{Name: "bench/accumulate.cu", Text: accumulateText}, []string{
		"FP64_HEADER", f.Params().Name, "FP64_FIELD", f.Name, "WORDS_BLOCKS", fmt.Sprint(words), "DOUBLES_BLOCKS", fmt.Sprint(doubles),
	}, f.Params(), fp64.Header)}
}

var accumulations = []accumulation{
	newAccumulation(curve.BN254G1, 4, 4),
	newAccumulation(curve.BLS12381G1, 3, 2),
}

// accumulateCases are additions of points a second, by each technique.
func accumulateCases() []Case {
	var out []Case
	for _, a := range accumulations {
		for _, technique := range []string{"words", "doubles"} {
			name := "bench_accumulate_" + technique + "_" + a.group.Name
			out = append(out, Case{Suite: "msm", Name: fmt.Sprintf("accumulate-%s-%d", technique, a.group.Base.Bits()),
				About: "points from memory added up in XYZZ coordinates, a sum a thread: " + technique, GPU: true, Kernels: []string{name},
				Run: func(e *Env) ([]Measurement, error) { return a.run(e, name) }})
		}
	}
	return out
}

func (a accumulation) run(e *Env, name string) ([]Measurement, error) {
	q, blocks, count, n := e.Queue, 132*16, 128, 1<<20
	if q.Device().Kind() == device.SIMT {
		blocks, count, n = 1, 3, 64
	}
	limbs := a.group.Base.Limbs
	// Any two numbers are a point of some curve, which the formulas do not ask for.
	words := make([]uint32, n*2*limbs)
	for i := range words {
		if words[i] = e.Rand.Uint32(); i%limbs == limbs-1 {
			words[i] &= 1<<(a.group.Base.Bits()-32*limbs+31) - 1
		}
	}
	list := make([]uint32, blocks*128*count)
	for i := range list {
		list[i] = e.Rand.Uint32() & (1<<31 | uint32(n-1))
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
	out, err := device.Alloc[uint32](q, blocks*128*4*limbs)
	if err != nil {
		return nil, err
	}
	defer out.Free()
	m, err := e.Time("ms", 1, nil, func() error {
		return q.Launch(device.Kernel{Source: a.source, Name: name}, device.D1(blocks), device.D1(128), 0,
			out.Arg(), points.Arg(), entries.Arg(), device.U32(count))
	})
	if err != nil {
		return nil, err
	}
	got, err := out.Read(q)
	if err != nil {
		return nil, err
	}
	for _, t := range []int{0, 77, blocks*128 - 1} {
		x, y := a.thread(words, list[t*count:(t+1)*count])
		var v [4]*big.Int
		for i := range v {
			at := (4*t + i) * limbs
			v[i] = a.group.Base.FromMontgomery(got[at : at+limbs])
		}
		p := a.group.Base.Modulus
		x.Mul(x, v[2]).Sub(x, v[0]).Mod(x, p)
		y.Mul(y, v[3]).Sub(y, v[1]).Mod(y, p)
		if v[2].Sign() == 0 || x.Sign() != 0 || y.Sign() != 0 {
			return nil, fmt.Errorf("the sum of thread %d is wrong", t)
		}
	}
	return []Measurement{rate(m, "gops", "Gops/s", float64(len(list)), 1e9)}, nil
}

// thread is the affine sum of a thread's points.
func (a accumulation) thread(words, list []uint32) (x, y *big.Int) {
	p, limbs := a.group.Base.Modulus, a.group.Base.Limbs
	for _, e := range list {
		at := int(e&(1<<31-1)) * 2 * limbs
		qx, qy := a.group.Base.FromMontgomery(words[at:at+limbs]), a.group.Base.FromMontgomery(words[at+limbs:at+2*limbs])
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
	return x, y
}

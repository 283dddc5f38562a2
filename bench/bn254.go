package bench

import (
	_ "embed" // kernels
	"fmt"
	"math/big"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
)

//go:embed bn254.cu
var bn254Text string

// BN254Source holds the kernel that multiplies in a 254-bit field.
var BN254Source = &kernel.Source{Name: "bench/bn254.cu", Text: bn254Text, Headers: []*kernel.Source{kernel.PTX}}

// bn254Prime is the order of the base field of the curve BN254.
const bn254Prime = "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47"

const bn254Limbs = 8

// bn254Mul measures multiplications of 254 bits, and how many of Mersenne-31 the
// same card does in the time of one.
func bn254Mul(e *Env) ([]Measurement, error) {
	q, blocks, rounds := e.Queue, cardBlocks, 1<<9
	if q.Device().Kind() == device.SIMT {
		blocks, rounds = 1, 3
	}
	seed := e.Rand.Uint32()
	out, err := device.Alloc[uint32](q, blocks*256*bn254Limbs)
	if err != nil {
		return nil, err
	}
	defer out.Free()
	m, err := e.Time("ms", 1, nil, func() error {
		return q.Launch(device.Kernel{Source: BN254Source, Name: "bench_bn254_mul"}, device.D1(blocks), device.D1(256), 0,
			out.Arg(), device.U32(seed), device.U32(rounds))
	})
	if err != nil {
		return nil, err
	}
	got, err := out.Read(q)
	if err != nil {
		return nil, err
	}
	for _, t := range []int{0, 77, blocks*256 - 1} {
		if want, have := bn254Thread(seed, uint32(t), rounds), bigOf(got[t*bn254Limbs:(t+1)*bn254Limbs]); have.Cmp(want) != 0 {
			return nil, fmt.Errorf("thread %d computed %x, want %x", t, have, want)
		}
	}
	large := rate(m, "gops", "Gops/s", float64(blocks)*256*2*float64(rounds), 1e9)
	small, err := mulChains.run(e)
	if err != nil {
		return nil, err
	}
	ratio := Measurement{Metric: "m31-ratio", Unit: "times", Note: "multiplications of Mersenne-31 in the time of one"}
	for _, s := range large.Samples {
		ratio.Samples = append(ratio.Samples, Median(small[0].Samples)/s)
	}
	return []Measurement{large, ratio}, nil
}

// bn254Thread is one thread of the kernel, by definition.
func bn254Thread(seed, t uint32, rounds int) *big.Int {
	p, _ := new(big.Int).SetString(bn254Prime, 16)
	inverse := new(big.Int).ModInverse(new(big.Int).Lsh(big.NewInt(1), 32*bn254Limbs), p)
	start := func(from uint32) *big.Int {
		var w [bn254Limbs]uint32
		for i := range w {
			w[i] = (seed + t*16 + from + uint32(i)) * 0x9e3779b9
		}
		w[bn254Limbs-1] &= 0x1fffffff
		return bigOf(w[:])
	}
	x, y := start(0), start(bn254Limbs)
	multiply := func(a, b *big.Int) {
		a.Mul(a, b)
		a.Mod(a.Mul(a, inverse), p)
	}
	for range rounds {
		multiply(x, y)
		multiply(y, x)
	}
	return x
}

// bigOf is the number with these limbs, little end first.
func bigOf(w []uint32) *big.Int {
	v := new(big.Int)
	for i := len(w) - 1; i >= 0; i-- {
		v.Or(v.Lsh(v, 32), big.NewInt(int64(w[i])))
	}
	return v
}

package bench

import (
	_ "embed" // kernels
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

//go:embed arith.cu
var arithText string

// ArithSource holds kernels that do arithmetic only.
var ArithSource = &kernel.Source{Name: "bench/arith.cu", Text: arithText,
	Headers: []*kernel.Source{kernel.PTX, m31.Header, poseidon2.Header}}

// arith is a chain of operations that every thread runs on values of its own.
type arith struct {
	kernel string
	metric string
	unit   string
	size   float64 // of the unit
	ops    int     // in one round of one thread
	rounds int     // on a GPU
	// thread is the Go twin: one thread's result.
	thread func(seed, t uint32, rounds int) m31.Element
}

var (
	mulChains = arith{"bench_m31_mul", "gops", "Gops/s", 1e9, 8, 1 << 13, mulThread}
	permute16 = arith{"bench_poseidon2_w16", "gperm/s", "Gperm/s", 1e9, 1, 1 << 6, permuteThread}
)

func mulThread(seed, t uint32, rounds int) m31.Element {
	var x [8]m31.Element
	for i := range x {
		x[i] = m31.New(uint64(seed) + uint64(t*8+uint32(i)+2))
	}
	for range rounds {
		for i := range x {
			x[i] = x[i].Mul(x[(i+1)&7])
		}
	}
	var sum m31.Element
	for i := range x {
		sum = sum.Add(x[i])
	}
	return sum
}

func permuteThread(seed, t uint32, rounds int) m31.Element {
	var s [16]m31.Element
	for i := range s {
		s[i] = m31.New(uint64(seed) + uint64(t*16+uint32(i)))
	}
	for range rounds {
		poseidon2.Permute16(&s)
	}
	return s[0]
}

func (a arith) run(e *Env) ([]Measurement, error) {
	q, blocks, rounds := e.Queue, cardBlocks, a.rounds
	switch q.Device().Kind() {
	case device.CPU:
		blocks, rounds = 1, rounds/8
	case device.SIMT:
		blocks, rounds = 1, 4
	}
	seed := e.Rand.Uint32()
	out, err := device.Alloc[m31.Element](q, blocks*256)
	if err != nil {
		return nil, err
	}
	defer out.Free()
	m, err := e.Time("ms", 1, nil, func() error {
		if q.OnHost() {
			to := out.Host()
			return q.Parallel(len(to), 64, func(lo, hi int) {
				for t := lo; t < hi; t++ {
					to[t] = a.thread(seed, uint32(t), rounds)
				}
			})
		}
		return q.Launch(device.Kernel{Source: ArithSource, Name: a.kernel}, device.D1(blocks), device.D1(256), 0,
			out.Arg(), device.U32(seed), device.U32(rounds))
	})
	if err != nil {
		return nil, err
	}
	got, err := out.Read(q)
	if err != nil {
		return nil, err
	}
	for _, t := range []int{0, len(got) - 1} {
		if want := a.thread(seed, uint32(t), rounds); got[t] != want {
			return nil, fmt.Errorf("thread %d computed %v, want %v", t, got[t], want)
		}
	}
	return []Measurement{rate(m, a.metric, a.unit, float64(len(got))*float64(a.ops)*float64(rounds), a.size)}, nil
}

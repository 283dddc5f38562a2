package bench

import (
	_ "embed" // kernels
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
)

//go:embed card.cu
var cardText string

// CardSource holds the kernels of the card suite.
var CardSource = &kernel.Source{Name: "bench/card.cu", Text: cardText, Headers: []*kernel.Source{kernel.PTX}}

func cardKernel(name string) device.Kernel { return device.Kernel{Source: CardSource, Name: name} }

const cardSuite = "card"

// cardCases are the limits of the card: what to hold all other rows against.
func cardCases() []Case {
	return []Case{
		{Suite: cardSuite, Name: "copy", About: "device memory copied, bytes read and written counted", Run: cardCopy},
		{Suite: cardSuite, Name: "read", About: "device memory read", Run: cardRead},
		{Suite: cardSuite, Name: "imad", About: "32-bit multiply-adds", GPU: true, Kernels: []string{"card_imad"}, Run: cardALU("imad")},
		{Suite: cardSuite, Name: "lop3", About: "three-input logic operations", GPU: true, Kernels: []string{"card_lop3"}, Run: cardALU("lop3")},
		{Suite: cardSuite, Name: "launch", About: "an empty kernel enqueued from Go, and one waited for", GPU: true,
			Kernels: []string{"card_nothing"}, Run: cardLaunch},
		{Suite: cardSuite, Name: "graph-node", About: "an empty kernel within a graph", GPU: true, Kernels: []string{"card_nothing"}, Run: cardGraph},
	}
}

// cardBytes is the size of the memory tests: far beyond a GPU's caches, and
// small where a CPU stands in.
func cardBytes(e *Env) int {
	switch e.Queue.Device().Kind() {
	case device.CUDA:
		return 1 << 31
	case device.SIMT:
		return 1 << 16
	}
	return 1 << 27
}

// cardBlocks fills any present card several times over.
const cardBlocks = 132 * 16

// fillRandom gives b random words, by doubling a random beginning.
func fillRandom(q *device.Queue, b device.Buffer[uint32], rng *rand.Rand) error {
	head := make([]uint32, min(b.Len(), 1<<16))
	for i := range head {
		head[i] = rng.Uint32()
	}
	if err := b.Slice(0, len(head)).CopyFrom(q, head); err != nil {
		return err
	}
	for have := len(head); have < b.Len(); {
		n := min(have, b.Len()-have)
		if err := device.Copy(q, b.Slice(have, have+n), b.Slice(0, n)); err != nil {
			return err
		}
		have += n
	}
	return nil
}

func cardCopy(e *Env) ([]Measurement, error) {
	q, words := e.Queue, cardBytes(e)/4
	in, err := device.Alloc[uint32](q, words)
	if err != nil {
		return nil, err
	}
	defer in.Free()
	out, err := device.Alloc[uint32](q, words)
	if err != nil {
		return nil, err
	}
	defer out.Free()
	if err := fillRandom(q, in, e.Rand); err != nil {
		return nil, err
	}
	m, err := e.Time("ms", 4, nil, func() error {
		if q.OnHost() {
			from, to := in.Host(), out.Host()
			return q.Parallel(words, 1<<18, func(lo, hi int) { copy(to[lo:hi], from[lo:hi]) })
		}
		return q.Launch(cardKernel("card_copy"), device.D1(cardBlocks), device.D1(256), 0, out.Arg(), in.Arg(), device.U32(words/4))
	})
	if err != nil {
		return nil, err
	}
	if err := sameEnds(q, in, out); err != nil {
		return nil, err
	}
	return []Measurement{rate(m, "tb/s", "TB/s", float64(words)*8, 1e12)}, nil
}

// sameEnds checks that a copy arrived, at both ends.
func sameEnds(q *device.Queue, in, out device.Buffer[uint32]) error {
	n := in.Len()
	for _, at := range []int{0, n - 1024} {
		a, err := in.Slice(at, at+1024).Read(q)
		if err != nil {
			return err
		}
		b, err := out.Slice(at, at+1024).Read(q)
		if err != nil {
			return err
		}
		for i := range a {
			if a[i] != b[i] {
				return fmt.Errorf("copy differs at word %d", at+i)
			}
		}
	}
	return nil
}

func cardRead(e *Env) ([]Measurement, error) {
	q, words := e.Queue, cardBytes(e)/4
	in, err := device.Alloc[uint32](q, words)
	if err != nil {
		return nil, err
	}
	defer in.Free()
	out, err := device.Upload(q, []uint32{0})
	if err != nil {
		return nil, err
	}
	defer out.Free()
	if err := fillRandom(q, in, e.Rand); err != nil {
		return nil, err
	}
	m, err := e.Time("ms", 4, func() error { return out.Zero(q) }, func() error {
		if q.OnHost() {
			from, partial := in.Host(), make([]uint32, words>>18+1)
			err := q.Parallel(words>>18, 1, func(lo, hi int) {
				for c := lo; c < hi; c++ {
					partial[c] = sumWords(from[c<<18 : (c+1)<<18])
				}
			})
			out.Host()[0] += sumWords(partial)
			return err
		}
		return q.Launch(cardKernel("card_read"), device.D1(cardBlocks), device.D1(256), 0, out.Arg(), in.Arg(), device.U32(words/4))
	})
	if err != nil {
		return nil, err
	}
	got, err := out.Read(q)
	if err != nil {
		return nil, err
	}
	all, err := in.Read(q)
	if err != nil {
		return nil, err
	}
	if want := 4 * sumWords(all); got[0] != want {
		return nil, fmt.Errorf("sum of what was read is %#x, want %#x", got[0], want)
	}
	return []Measurement{rate(m, "tb/s", "TB/s", float64(words)*4, 1e12)}, nil
}

// sumWords adds words modulo 2^32, in four chains so that memory is the limit.
func sumWords(w []uint32) uint32 {
	var a, b, c, d uint32
	for ; len(w) >= 4; w = w[4:] {
		a, b, c, d = a+w[0], b+w[1], c+w[2], d+w[3]
	}
	for _, v := range w {
		a += v
	}
	return a + b + c + d
}

// cardALU measures one of the instruction kernels and checks one thread of it.
func cardALU(name string) func(*Env) ([]Measurement, error) {
	step := map[string]func(x, next, third, y uint32) uint32{
		"imad": func(x, next, _, y uint32) uint32 { return x*y + next },
		"lop3": func(x, next, third, _ uint32) uint32 { return x&next ^ third },
	}[name]
	return func(e *Env) ([]Measurement, error) {
		q, blocks, rounds := e.Queue, cardBlocks, 1<<14
		if q.Device().Kind() == device.SIMT {
			blocks, rounds = 2, 64
		}
		seed := e.Rand.Uint32()
		out, err := device.Alloc[uint32](q, blocks*256)
		if err != nil {
			return nil, err
		}
		defer out.Free()
		m, err := e.Time("ms", 2, nil, func() error {
			return q.Launch(cardKernel("card_"+name), device.D1(blocks), device.D1(256), 0, out.Arg(), device.U32(seed), device.U32(rounds))
		})
		if err != nil {
			return nil, err
		}
		got, err := out.Read(q)
		if err != nil {
			return nil, err
		}
		for _, t := range []int{0, len(got) - 1} {
			if want := aluThread(name, step, seed, uint32(t), rounds); got[t] != want {
				return nil, fmt.Errorf("thread %d computed %#x, want %#x", t, got[t], want)
			}
		}
		return []Measurement{rate(m, "tops", "Tops/s", float64(blocks)*256*8*float64(rounds), 1e12)}, nil
	}
}

// aluThread is one thread of an instruction kernel.
func aluThread(name string, step func(x, next, third, y uint32) uint32, seed, t uint32, rounds int) uint32 {
	var x [8]uint32
	for i := range x {
		x[i] = seed + t*8 + uint32(i)
		if name == "lop3" {
			x[i] *= 0x9e3779b9
		}
	}
	for range rounds {
		for i := range x {
			x[i] = step(x[i], x[(i+1)&7], x[(i+3)&7], seed|1)
		}
	}
	return x[0] ^ x[1] ^ x[2] ^ x[3] ^ x[4] ^ x[5] ^ x[6] ^ x[7]
}

func cardLaunch(e *Env) ([]Measurement, error) {
	q := e.Queue
	out, err := device.Upload(q, []uint32{0})
	if err != nil {
		return nil, err
	}
	defer out.Free()
	launch := func() error {
		return q.Launch(cardKernel("card_nothing"), device.D1(1), device.D1(32), 0, out.Arg())
	}
	many, err := e.Time("enqueue-us", 1000, nil, launch)
	if err != nil {
		return nil, err
	}
	one, err := e.Time("roundtrip-us", 1, nil, launch)
	if err != nil {
		return nil, err
	}
	return []Measurement{micro(many, 1), micro(one, 1)}, nil
}

// micro turns milliseconds into microseconds a part, of which there are n.
func micro(m Measurement, n float64) Measurement {
	m.Unit = "us"
	m.Cold *= 1e3 / n
	for i := range m.Samples {
		m.Samples[i] *= 1e3 / n
	}
	return m
}

// cardGraph runs a chain of empty kernels as one graph.
func cardGraph(e *Env) ([]Measurement, error) {
	const nodes = 1000
	q := e.Queue
	out, err := device.Upload(q, []uint32{0})
	if err != nil {
		return nil, err
	}
	defer out.Free()
	launch := func() error {
		return q.Launch(cardKernel("card_nothing"), device.D1(1), device.D1(32), 0, out.Arg())
	}
	if err := launch(); err != nil { // compiles, which a recording cannot
		return nil, err
	}
	g, err := q.Record(func() error {
		for range nodes {
			if err := launch(); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, device.ErrUnavailable) {
		return nil, nil // the emulator, and old drivers
	}
	if err != nil {
		return nil, err
	}
	m, err := e.Time("us", 10, nil, g.Launch)
	if err = errors.Join(err, q.Sync(), g.Free()); err != nil {
		return nil, err
	}
	m.Note = fmt.Sprintf("%d nodes in a chain", nodes)
	return []Measurement{micro(m, nodes)}, nil
}

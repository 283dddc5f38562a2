package bench

import (
	_ "embed" // kernels
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

//go:embed whir_hash.cu
var hashText string

var hashTemplate = kernel.Template{Name: "bench/whir_hash.cu", Text: hashText}

func hashSource[W field.Base[W]](p *poseidon2.Permutation[W]) *kernel.Source {
	return hashTemplate.Unit(p.Name, []string{"POSEIDON2_HEADER", p.Header.Name}, p.Header)
}

// BabyBearHashSource and KoalaBearHashSource hold the kernels of hashCases.
var (
	BabyBearHashSource  = hashSource(poseidon2.BabyBear())
	KoalaBearHashSource = hashSource(poseidon2.KoalaBear())
)

// hashCases are the permutations that WHIR's trees are made of, out of registers.
func hashCases() []Case {
	return []Case{
		permutations("poseidon2-babybear-w16", "bench_permute16_babybear", poseidon2.BabyBear(), BabyBearHashSource, false),
		permutations("poseidon2-koalabear-w16", "bench_permute16_koalabear", poseidon2.KoalaBear(), KoalaBearHashSource, false),
		permutations("compress-babybear-w16", "bench_compress16_babybear", poseidon2.BabyBear(), BabyBearHashSource, true),
		permutations("compress-koalabear-w16", "bench_compress16_koalabear", poseidon2.KoalaBear(), KoalaBearHashSource, true),
	}
}

// permutations is the case of a chain of permutations in every thread. If compress
// is true, words 8 to 15 are the same before each.
func permutations[W field.Base[W]](name, entry string, p *poseidon2.Permutation[W], source *kernel.Source, compress bool) Case {
	about := "permutations, no memory traffic"
	if compress {
		about = "two digests to one by a permutation, no memory traffic"
	}
	thread := func(seed, t uint32, rounds int) W {
		s := hashState[W](seed, t)
		fixed := [8]W(s[8:])
		for range rounds {
			if compress {
				copy(s[8:], fixed[:])
			}
			p.Permute16(&s)
		}
		return s[0]
	}
	run := func(e *Env) ([]Measurement, error) {
		q, blocks, rounds := e.Queue, cardBlocks, 1<<6
		switch q.Device().Kind() {
		case device.CPU:
			blocks, rounds = 1, 4
		case device.SIMT:
			blocks, rounds = 1, 1
		}
		seed := e.Rand.Uint32()
		out, err := device.Alloc[W](q, blocks*256)
		if err != nil {
			return nil, err
		}
		defer out.Free()
		m, err := e.Time("ms", 1, nil, func() error {
			if q.OnHost() {
				return hashLanes(q, p, out.Host(), seed, rounds, compress)
			}
			return q.Launch(device.Kernel{Source: source, Name: entry}, device.D1(blocks), device.D1(256), 0,
				out.Arg(), device.U32(seed), device.U32(uint32(rounds)))
		})
		if err != nil {
			return nil, err
		}
		got, err := out.Read(q)
		if err != nil {
			return nil, err
		}
		for _, t := range []int{0, 77, len(got) - 1} {
			if want := thread(seed, uint32(t), rounds); got[t] != want {
				return nil, fmt.Errorf("thread %d computed %v, want %v", t, got[t], want)
			}
		}
		return []Measurement{rate(m, "gperm/s", "Gperm/s", float64(len(got))*float64(rounds), 1e9)}, nil
	}
	return Case{Suite: "whir", Name: name, About: about, Kernels: []string{entry}, Run: run}
}

// hashState is what thread t starts with: the words whose memory forms stand for
// consecutive numbers divided by 2^32.
func hashState[W field.Base[W]](seed, t uint32) (s [16]W) {
	var zero W
	scale := zero.FromUint64(1 << 32).Inverse()
	for i := range s {
		s[i] = W(zero.FromUint64(uint64(seed) + uint64(t*16+uint32(i))).Mul(scale).Uint32())
	}
	return s
}

// hashLanes is the kernels' work on a host, as many states at once as there are
// lanes.
func hashLanes[W field.Base[W]](q *device.Queue, p *poseidon2.Permutation[W], out []W, seed uint32, rounds int, compress bool) error {
	n := p.Lanes
	return q.Parallel(len(out)/n, 1, func(lo, hi int) {
		s, fixed := make([]W, 16*n), make([]W, 16*n)
		for g := lo; g < hi; g++ {
			for j := range n {
				for k, w := range hashState[W](seed, uint32(g*n+j)) {
					s[k*n+j] = w
				}
			}
			copy(fixed, s)
			for range rounds {
				if compress {
					copy(s[8*n:], fixed[8*n:])
				}
				p.Many16(s)
			}
			copy(out[g*n:(g+1)*n], s)
		}
	})
}

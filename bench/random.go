package bench

import (
	_ "embed" // kernels
	"encoding/binary"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/field/m31"
)

//go:embed random.cu
var randomText string

// RandomSource is the kernel that makes random data on a device.
var RandomSource = &kernel.Source{Name: "bench/random.cu", Text: randomText, Headers: []*kernel.Source{kernel.PTX, m31.Header}}

// randomWord is word i of a random sequence (SplitMix64), any part of which is
// made anew where it is needed. With words, both halves are elements of M31.
func randomWord(seed, i uint64, words bool) uint64 {
	z := seed + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	if words {
		lo, hi := m31.New(z&m31.P), m31.New(z>>32&m31.P)
		z = uint64(hi)<<32 | uint64(lo)
	}
	return z
}

// fillSequence gives b the random sequence of that seed, from its beginning. b
// is a multiple of 8 bytes long.
func fillSequence[T int8 | uint32 | m31.Element | gf2.Element](q *device.Queue, b device.Buffer[T], seed uint64) error {
	out := device.View[uint64](b)
	words := isWords[T]()
	if q.OnHost() {
		o := out.Host()
		return q.Parallel(len(o), 1<<16, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				o[i] = randomWord(seed, uint64(i), words)
			}
		})
	}
	flag := 0
	if words {
		flag = 1
	}
	return q.Launch(device.Kernel{Source: RandomSource, Name: "bench_random"}, device.D1(device.Blocks(out.Len(), 256)), device.D1(256), 0,
		out.Arg(), device.U64(out.Len()), device.U64(seed), device.U32(flag))
}

func isWords[T any]() bool {
	var z T
	_, ok := any(z).(m31.Element)
	return ok
}

// sequence writes entries of the random sequence, from entry `from` on, as field
// elements. from and len(dst) are multiples of 8.
func sequence[T int8 | m31.Element](dst []m31.Element, seed uint64, from int) {
	words := isWords[T]()
	size := 8
	if words {
		size = 2
	}
	var bytes [8]byte
	for i := 0; i < len(dst); i += size {
		w := randomWord(seed, uint64((from+i)/size), words)
		if words {
			dst[i], dst[i+1] = m31.Element(uint32(w)), m31.Element(w>>32)
			continue
		}
		binary.LittleEndian.PutUint64(bytes[:], w)
		for k, b := range bytes {
			v := int32(int8(b))
			if dst[i+k] = m31.Element(v); v < 0 {
				dst[i+k] += m31.P // wraps around to P - |v|
			}
		}
	}
}

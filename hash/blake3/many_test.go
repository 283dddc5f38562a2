package blake3

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// SumMany is Sum of each input, for numbers of inputs around multiples of the lanes and
// for sizes of whole blocks and others.
func TestSumMany(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	var key [8]uint32
	for i := range key {
		key[i] = g.Uint32()
	}
	for _, size := range []int{4, 63, 64, 65, 128, 192, 256, 960, 1024, 1028, 2048} {
		for _, n := range []int{0, 1, 15, 16, 17, 32, 50} {
			data := make([]byte, n*size+7)
			for i := range data {
				data[i] = byte(g.Uint32())
			}
			got := make([][8]uint32, n)
			SumMany(&key, got, data, size)
			for i := range got {
				if want := Sum(&key, data[i*size:(i+1)*size]); got[i] != want {
					t.Fatalf("%d inputs of %d bytes: input %d has %08x, want %08x", n, size, i, got[i], want)
				}
			}
		}
	}
}

func BenchmarkSumMany(b *testing.B) {
	key := [8]uint32{1, 2, 3}
	for _, size := range []int{64, 256} {
		b.Run(sizeName(size), func(b *testing.B) {
			data := make([]byte, 1024*size)
			for i := 0; i < len(data); i += 4 {
				binary.LittleEndian.PutUint32(data[i:], uint32(i)*0x9e3779b9)
			}
			dst := make([][8]uint32, 1024)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				SumMany(&key, dst, data, size)
			}
		})
	}
}

func sizeName(size int) string {
	if size == 64 {
		return "node"
	}
	return "leaf"
}

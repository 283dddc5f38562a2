package poseidon2

import (
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
)

// The S-box at the limits that the permutation relies on.
func TestLazyBounds(t *testing.T) {
	for _, x := range []uint64{0, 1, m31.P - 1, m31.P, m31.P + 1, 1<<31 + 1<<10 - 1} {
		y := sbox(x)
		if y >= 1<<34 {
			t.Fatalf("sbox(%d) = %d", x, y)
		}
		if m31.New(y) != m31.New(x).Exp(5) {
			t.Fatalf("sbox(%d) is wrong", x)
		}
	}
}

func BenchmarkPermute16(b *testing.B) {
	var s [16]m31.Element
	for b.Loop() {
		Permute16(&s)
	}
}

func BenchmarkPermute24(b *testing.B) {
	var s [24]m31.Element
	for b.Loop() {
		Permute24(&s)
	}
}

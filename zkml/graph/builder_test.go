package graph

import (
	"math/rand/v2"
	"testing"
)

// clampTable returns the values of clamp(q, lo, hi).
func clampTable(bits uint8, lo, hi int32) []int32 {
	y := make([]int32, 1<<bits)
	for i := range y {
		y[i] = min(max(int32(i)-int32(1)<<(bits-1), lo), hi)
	}
	return y
}

func randomValues(rng *rand.Rand, n int, lo, hi int64) []int32 {
	v := make([]int32, n)
	for i := range v {
		v[i] = int32(lo + rng.Int64N(hi-lo+1))
	}
	return v
}

// mlp builds a network x -> lookup(x W0 + b0) -> ... with random weights, a residual where widths agree, and a reshape at the end.
func mlp(t testing.TB, seed uint64, batch int, widths ...int) (*Program, *Weights, []int32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	b := NewBuilder("mlp")
	x := b.Input("x", []int{batch, widths[0]}, -127, 127, 1.0/127)
	for i := 1; i < len(widths); i++ {
		k, n := widths[i-1], widths[i]
		transposed := i%2 == 0
		shape := []int{k, n}
		if transposed {
			shape = []int{n, k}
		}
		w := b.Param("w", shape, randomValues(rng, k*n, -127, 127), 1)
		bias := b.Param("b", []int{n}, randomValues(rng, n, -100000, 100000), 1)
		acc := b.Linear("acc", []Term{{1, b.MatMul("mm", x, w, transposed, 1)}, {1, bias}}, int64(i), 1)
		if k == n {
			acc = b.Linear("res", []Term{{1, acc}, {37, x}}, -5, 1)
		}
		if b.Err() != nil {
			t.Fatal(b.Err())
		}
		shift := uint8(8)
		bits := uint8(LookupBits(b.Tensor(acc).Lo, b.Tensor(acc).Hi, shift))
		x = b.Lookup("y", acc, shift, b.Table("clamp", bits, clampTable(bits, -127, 127)), 1)
	}
	n := widths[len(widths)-1]
	flat := b.Reshape("flat", x, []int{n * batch})
	p, w, err := b.Build(flat, NoPost, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, w, randomValues(rng, batch*widths[0], -127, 127)
}

func TestRunPaddedAgrees(t *testing.T) {
	sizes := []int{1, 3, 5, 7, 33, 100}
	for i, a := range sizes {
		for j, c := range sizes {
			p, w, x := mlp(t, uint64(i*10+j), 1+2*(i%2), a, c, c, 5)
			real, err := Run(p, w, x)
			if err != nil {
				t.Fatal(err)
			}
			padded, err := RunPadded(p, w, x)
			if err != nil {
				t.Fatal(err)
			}
			for id := range p.Tensors {
				shape := p.Tensors[id].Shape
				if len(padded[id]) != Elements(PaddedShape(shape)) {
					t.Fatalf("tensor %d: %d padded values for %v", id, len(padded[id]), shape)
				}
				for e, v := range real[id] {
					if got := padded[id][PaddedIndex(shape, e)]; got != v {
						t.Fatalf("%dx%d tensor %d element %d: padded %d, real %d", a, c, id, e, got, v)
					}
				}
			}
		}
	}
}

package graph

import (
	"slices"
	"testing"
)

// shapesOf lists the ordered factorisations of n, some with unit axes.
func shapesOf(n int) [][]int {
	out := [][]int{{n}, {1, n}, {n, 1}}
	for d := 2; d < n; d++ {
		if n%d == 0 {
			for _, rest := range shapesOf(n / d) {
				out = append(out, append([]int{d}, rest...))
			}
		}
	}
	return out
}

// TestReshapeIsFree compares the rule with the element maps themselves.
func TestReshapeIsFree(t *testing.T) {
	free := 0
	for _, n := range []int{1, 2, 6, 8, 12, 15, 24} {
		shapes := shapesOf(n)
		for _, a := range shapes {
			for _, b := range shapes {
				same := Elements(PaddedShape(a)) == Elements(PaddedShape(b))
				for i := range n {
					same = same && PaddedIndex(a, i) == PaddedIndex(b, i)
				}
				if ReshapeIsFree(a, b) != same {
					t.Fatalf("%v -> %v: rule says %t, the maps say %t", a, b, !same, same)
				}
				if same {
					free++
				}
			}
		}
	}
	if free < 50 {
		t.Fatalf("only %d free reshapes seen", free)
	}
}

func TestPad(t *testing.T) {
	for _, shape := range [][]int{{}, {1}, {3}, {3, 5}, {2, 3, 4}, {5, 1, 3}} {
		data := randomValues(newRand(8), Elements(shape), -9, 9)
		padded := Pad(shape, data)
		if !slices.Equal(Unpad(shape, padded), data) {
			t.Fatalf("%v: padding does not round-trip", shape)
		}
		if len(padded) != 1<<Vars(shape) {
			t.Fatalf("%v: %d padded elements, %d variables", shape, len(padded), Vars(shape))
		}
		for i, v := range data {
			if padded[PaddedIndex(shape, i)] != v {
				t.Fatalf("%v: element %d is not at its padded index", shape, i)
			}
		}
	}
}

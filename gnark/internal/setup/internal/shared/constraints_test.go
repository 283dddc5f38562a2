package shared

import "testing"

func TestCompact(t *testing.T) {
	for _, n := range []int{0, 1, 1<<15 - 1, 1 << 15, 1<<17 + 5} {
		for _, every := range []int{1, 2, 3, 40000, 1 << 30} {
			v, drop := make([]int, n), make([]bool, n)
			var want []int
			for i := range v {
				if v[i] = i; i%every == every/2 {
					drop[i] = true
				} else {
					want = append(want, i)
				}
			}
			got := Compact(v, drop)
			if len(got) != len(want) {
				t.Fatalf("%d of %d kept, want %d", len(got), n, len(want))
			}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("element %d of %d is %d, want %d", i, n, got[i], want[i])
				}
			}
		}
	}
}

package opcount

import "testing"

// The switches of section IV.A, whether the initial claim counts or not.
func TestSwitchRound(t *testing.T) {
	for d, want := range map[int]int{2: 3, 3: 2, 4: 2, 5: 1} {
		if got := SwitchRound(d); got != want {
			t.Errorf("d = %d: round %d, want %d", d, got, want)
		}
		for _, claim := range []bool{false, true} {
			for i := range 5 {
				if cheaper := BDT2(d, i).Weight() <= BDT1(d, claim).Weight(); cheaper != (i < want) {
					t.Errorf("d = %d, round %d, claim %t: BDT-2 takes %v, BDT-1 %v", d, i, claim, BDT2(d, i).Weight(), BDT1(d, claim).Weight())
				}
			}
		}
	}
}

// mul counts the multiplications of bits that Karatsuba's rule makes of a product of
// elements of a bits by elements of b bits, where one of them divides the other.
func mul(a, b int) int {
	switch {
	case a == 1 || b == 1:
		return a * b
	case a < b:
		return b / a * mul(a, a)
	case b < a:
		return mul(b, a)
	default:
		return 3 * mul(a/2, a/2)
	}
}

func TestWeights(t *testing.T) {
	for _, w := range []struct{ a, b, want int }{{1, 1, BitBit}, {1, 128, BitExt}, {4, 128, ShortExt}, {128, 128, ExtExt}} {
		if got := mul(w.a, w.b); got != w.want {
			t.Errorf("%d by %d bits: %d, want %d", w.a, w.b, w.want, got)
		}
	}
}

// Counts of whole provers with small n by going through their loops.
func TestCounts(t *testing.T) {
	const n = 6
	for d := 2; d <= 5; d++ {
		for i := range 2 {
			points := 1 << (n - i - 1)
			var one Count
			for range points {
				for range d + 1 { // points of interpolation
					for range d - 1 {
						one.ShortExt++
						one.ExtExt++
					}
				}
				for range d - 1 {
					one.ExtExt++
				}
			}
			want := BDT1(d, false)
			if one.ShortExt != want.ShortExt*float64(points) || one.ExtExt != want.ExtExt*float64(points) {
				t.Errorf("BDT-1, d = %d: %v a point, counted %v for %d", d, want, one, points)
			}
			for range 2 * points * (d - 1) { // composing all of the arrays
				one.ExtExt++
			}
			if with := BDT1(d, true); one.ExtExt != with.ExtExt*float64(points) {
				t.Errorf("BDT-1 with the claim, d = %d: %v a point, counted %v for %d", d, with, one, points)
			}
			var two Count
			for range 1 << (d * (i + 1)) {
				for range points {
					for range d - 2 {
						two.BitBit++
					}
					two.BitExt++
				}
			}
			if want := BDT2(d, i); two.BitBit != want.BitBit*float64(points) || two.BitExt != want.BitExt*float64(points) {
				t.Errorf("BDT-2, d = %d, round %d: %v a point, counted %v for %d", d, i, want, two, points)
			}
		}
	}
}

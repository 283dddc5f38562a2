package zkml

import (
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// The arguments why lookups leave no freedom, checked exhaustively over the
// prime 127 = 2^7 - 1, where 2^6 plays the part of 2^30.

const (
	smallPrime = 127
	smallLog   = 7
)

func mod(v int) int { return (v%smallPrime + smallPrime) % smallPrime }

// solutions counts pairs of a quotient of b bits and a remainder of s bits
// that satisfy acc + half = 2^s q + r modulo the prime, and says whether one of
// them is the true one.
func solutions(acc, s, b int) (n int, truth bool) {
	half := 0
	if s > 0 {
		half = 1 << (s - 1)
	}
	for q := -1 << (b - 1); q < 1<<(b-1); q++ {
		for r := range 1 << s {
			if mod(acc+half-(q<<s)-r) == 0 {
				n++
				truth = truth || q == (acc+half)>>s
			}
		}
	}
	return n, truth
}

// TestDyadicRequantisation: with s + b <= 6 bits and a total table there is
// exactly one quotient and remainder; with 7 bits there are accumulators with
// two.
func TestDyadicRequantisation(t *testing.T) {
	total := func(acc, s, b int) bool {
		half := 0
		if s > 0 {
			half = 1 << (s - 1)
		}
		if acc < 0 {
			acc = -acc
		}
		return acc+half < 1<<(s+b-1)
	}
	cases := 0
	for s := 0; s < smallLog; s++ {
		for b := 1; s+b < smallLog; b++ {
			for acc := -smallPrime; acc <= smallPrime; acc++ {
				if !total(acc, s, b) {
					continue
				}
				cases++
				if n, truth := solutions(acc, s, b); n != 1 || !truth {
					t.Errorf("acc %d, s %d, b %d: %d solutions, the true one among them: %t", acc, s, b, n, truth)
				}
			}
		}
	}
	if cases < 500 {
		t.Errorf("only %d cases", cases)
	}
	ambiguous := 0
	for s := 0; s < smallLog; s++ {
		for acc := -smallPrime / 2; acc <= smallPrime/2; acc++ {
			if n, _ := solutions(acc, s, smallLog-s); n > 1 {
				ambiguous++
			}
		}
	}
	if ambiguous == 0 {
		t.Error("a window of 2^7 residues should be ambiguous modulo 127")
	}
	// The limit that programs must keep is the one of the argument.
	if graph.MaxWindow != 30 || 1<<graph.MaxWindow >= m31.P || graph.BoundLimit > 1<<29 {
		t.Error("programs may leave the window in which quotients are unique")
	}
}

// threshold counts the triples (lo, hi, acc) for which the two range checks of
// a threshold table disagree with lo <= acc < hi. |acc| <= bound; ranges are
// [0, 2^6).
func threshold(bound int, emptyRows bool) (wrong int) {
	const r = 1 << (smallLog - 1)
	for lo := -bound; lo <= bound+1; lo++ {
		first := lo + 1
		if emptyRows {
			first = lo
		}
		for hi := first; hi <= bound+1; hi++ {
			for acc := -bound; acc <= bound; acc++ {
				accepted := mod(acc-lo) < r && mod(hi-1-acc) < r
				if accepted != (lo <= acc && acc < hi) {
					wrong++
				}
			}
		}
	}
	return wrong
}

// TestThresholdTables: requantisation by thresholds, which importers of other
// formats may use, is sound below a quarter of the range and not at it.
func TestThresholdTables(t *testing.T) {
	const r = 1 << (smallLog - 1)
	if n := threshold(r/2-1, false); n != 0 {
		t.Errorf("%d wrong decisions within the bound", n)
	}
	if n := threshold(r/2, false); n == 0 {
		t.Error("a bound one too large should allow forgeries")
	}
	if a, b := threshold(r/2, true), threshold(r/2, false); a <= b {
		t.Errorf("rows for values that never occur should allow more forgeries: %d against %d", a, b)
	}
}

// TestThresholdForgery is the forgery over Mersenne-31: a fused int8 ReLU whose
// table has rows for negative outputs, which never occur, at the bound 2^29.
func TestThresholdForgery(t *testing.T) {
	accepted := func(bound int64) (n int) {
		acc := bound - 1
		for y := -128; y < 0; y++ {
			lo, hi := -bound, -bound // the empty row of output y
			d, e := m31.FromInt(acc-lo), m31.FromInt(hi-1-acc)
			if d < 1<<30 && e < 1<<30 {
				n++
			}
		}
		return n
	}
	if n := accepted(1 << 29); n != 128 {
		t.Errorf("%d false outputs pass at the bound 2^29, want 128", n)
	}
	if n := accepted(1<<29 - 1); n != 0 {
		t.Errorf("%d false outputs pass below the bound 2^29", n)
	}
}

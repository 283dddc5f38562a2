package schedule

import (
	"fmt"
	"testing"
)

// DistMSM, section 4.2.2: PACC with 5 long integers in registers in place of 7, 4 moved to
// shared memory and back, at most 3 there at a time. Ours has no more than 2 there.
func TestSpill(t *testing.T) {
	steps, moves, ok := Spill(PACC, 5, 3)
	if !ok {
		t.Fatal("PACC does not go with 5 and 3")
	}
	stores := map[string]bool{}
	for _, s := range steps {
		if s.Store != "" {
			stores[s.Store] = true
		}
	}
	if len(stores) != 4 || moves != 8 {
		t.Errorf("%d values stored, %d moves; want 4 there and back", len(stores), moves)
	}
	if registers, shared, err := Check(PACC, steps); err != nil || registers > 5 || shared > 3 {
		t.Errorf("%d in registers, %d in shared memory: %v\n%v", registers, shared, err, steps)
	}
	for _, c := range []struct {
		registers, shared, moves int
		ok                       bool
	}{{7, 3, 0, true}, {6, 3, 4, true}, {5, 2, 8, true}, {5, 1, 0, false}} {
		if _, moves, ok := Spill(PACC, c.registers, c.shared); ok != c.ok || ok && moves != c.moves {
			t.Errorf("%d in registers, %d in shared memory: %d moves, %v; want %d, %v", c.registers, c.shared, moves, ok, c.moves, c.ok)
		}
	}
	if _, _, err := Check(PACC, steps[1:]); err == nil {
		t.Error("steps without the first pass the check")
	}
}

func ExampleBest() {
	g, peak := Best(PACC)
	fmt.Println(peak, "long integers")
	fmt.Print(g)
	// Output:
	// 7 long integers
	// U = x * ZZ
	// P = U - X
	// PP = P * P
	// PPP = PP * P
	// Q = X * PP
	// ZZ' = ZZ * PP
	// S = y * ZZZ
	// R = S - Y
	// Y2 = Y * PPP
	// ZZZ' = ZZZ * PPP
	// V0 = R * R
	// V1 = V0 - PPP
	// V2 = V1 - Q
	// X' = V2 - Q
	// T = Q - X'
	// Y1 = R * T
	// Y' = Y1 - Y2
}

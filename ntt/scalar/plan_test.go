package scalar

import "testing"

func TestPlan(t *testing.T) {
	for _, tune := range []tuning{usual, {logTile: 4, logHigh: 5}} {
		for log := range MaxLog + 1 {
			passes := tune.plan(log)
			left := log
			for i, p := range passes {
				last := i == len(passes)-1
				if p.remaining != left || p.bits < min(2, log) || p.width < 0 || p.bits+p.width > tune.logTile || p.bits+p.width > left {
					t.Errorf("%v, 2^%d: pass %d of %v", tune, log, i, passes)
				}
				// Columns that lie side by side are whole sectors of memory.
				if !last && len(passes) > 2 && p.width < 1 {
					t.Errorf("%v, 2^%d: single columns in pass %d of %v", tune, log, i, passes)
				}
				left -= p.bits
			}
			if left != 0 {
				t.Errorf("%v, 2^%d: %v leaves %d bits", tune, log, passes, left)
			}
		}
	}
	for log, want := range map[int]int{0: 0, 1: 1, 10: 1, 11: 2, 20: 2, 21: 3, 24: 3, 27: 3} {
		if got := usual.plan(log); len(got) != want {
			t.Errorf("2^%d: %d passes, want %d", log, len(got), want)
		}
	}
}

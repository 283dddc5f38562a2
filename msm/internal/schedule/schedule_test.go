package schedule

import "testing"

// The counts of DistMSM, sections 4.2 and 4.2.1; PDBL's are ours.
func TestPeaks(t *testing.T) {
	for _, c := range []struct {
		f              Formula
		straight, best int
	}{{PACC, 9, 7}, {PADD, 11, 9}, {PDBL, 9, 7}} {
		if got := Peak(c.f); got != c.straight {
			t.Errorf("%s as written: %d, want %d", c.f.Name, got, c.straight)
		}
		g, peak := Best(c.f)
		if peak != c.best || Peak(g) != peak {
			t.Errorf("%s: best %d, as ordered %d, want %d:\n%s", c.f.Name, peak, Peak(g), c.best, g)
		}
	}
}

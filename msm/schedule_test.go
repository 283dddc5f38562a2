package msm

import (
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// More groups of windows are there to take less memory, and so are the schedules of
// scalars that are sorted already.
func TestGroupsTakeLessMemory(t *testing.T) {
	g, n := curve.BN254G1, 1<<26
	w, err := plan.Split(g.Scalar, 12)
	if err != nil {
		t.Fatal(err)
	}
	l := limits{info: device.Info{Units: 132, SharedPerBlock: 227 << 10}}
	last := int64(0)
	for groups := 1; groups <= 12; groups++ {
		s, err := layOut(g, w, plan.Range{To: n, High: w.Buckets()}, n, groups, false, l)
		if err != nil || s == nil {
			t.Fatal(s, err)
		}
		// Each has a table more, of some tens of bytes.
		if last > 0 && s.bytes > last+100 {
			t.Errorf("%d groups take %d bytes, one fewer %d", groups, s.bytes, last)
		}
		last = s.bytes
		if groups == 2 || groups == 3 || groups == 12 {
			for _, b := range s.groups[1:] {
				if d := (b[1] - b[0]) - (s.groups[0][1] - s.groups[0][0]); d > w.Buckets()/10 || -d > w.Buckets()/10 {
					t.Errorf("%d groups: %v", groups, s.groups)
				}
			}
		}
		other := s.forGroup(curve.BN254G2, l.info, adderBest)
		same := s.forGroup(g, l.info, adderBest)
		if same.bytes >= s.bytes || other.bytes <= same.bytes {
			t.Errorf("%d groups: %d bytes, sorted before %d, in G2 %d", groups, s.bytes, same.bytes, other.bytes)
		}
	}
}

package msm

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
	"github.com/zkwarp/zkwarp/msm/internal/scatter"
)

// Memory is the bytes of a device's memory that sums take, a model that is some percent
// more than what they do take.
type Memory struct {
	Points int64 // of the bases, in the form in which they are added
	Sum    int64 // of one sum, besides the bases and scalars on the device, where there is plenty
	Least  int64 // of one sum whose windows are done one after the other, all points at a time
	Lists  int64 // of prepared scalars; their sums take Sum less Lists besides
}

// Memory is what n bases on a device and sums over them take; nothing on the CPU. A sum for
// which there is less than Least is made in chunks of the points.
func (c *Curve[P, S]) Memory(dev *device.Device, n int, o Options) (Memory, error) {
	if err := c.check(); err != nil {
		return Memory{}, err
	}
	if err := o.check(); err != nil {
		return Memory{}, err
	}
	if dev.Kind() == device.CPU || n <= 0 {
		return Memory{}, nil
	}
	info, g := dev.Info(), form(c.Group, &o)
	p := plan.Problem{Group: g, N: n, Devices: 1, Card: plan.CardOf(info), Window: o.Window, Alone: o.whole()}
	var w *plan.Windows
	if o.Digits != nil {
		w = o.Digits.windows
	} else if all := p.Choices(); len(all) > 0 {
		w = all[0]
	}
	if w == nil {
		return Memory{}, fmt.Errorf("msm: %s: %w: no windows for %d points", g.Name, ErrInput, n)
	}
	m := Memory{Points: int64(n) * int64(g.AffineBytes())}
	sets := len(w.Sets()) - 1
	for _, groups := range []int{1, sets} {
		s, err := layOut(g, w, plan.Range{To: n, High: w.Buckets()}, n, groups, false, limits{info: info})
		if err != nil {
			return Memory{}, err
		}
		if s == nil { // too many entries for one list
			continue
		}
		m.Least = s.bytes
		if m.Sum == 0 {
			m.Sum = s.bytes
		}
		if groups == 1 {
			for _, l := range s.layouts[0] {
				m.Lists += scatter.Bytes(l)
			}
		}
	}
	return m, nil
}

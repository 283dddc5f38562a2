package msm

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
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

// Windows whose buckets leave no room for points are refused without a try of every length
// of chunks, which are many where points are: 2^28 on a card of 80 GB took longer than
// anybody waited.
func TestNoLengthOfChunksFits(t *testing.T) {
	g, n := curve.MNT4753G1, 1<<28
	l := limits{info: device.Info{Arch: "sm_90", Units: 132, SharedPerBlock: 227 << 10, Memory: 80 << 30}, memory: 29 << 30, upload: true, link: 55e9}
	refused := 0
	p := plan.Problem{Group: g, N: n, Devices: 1, Card: plan.CardOf(l.info)}
	for _, w := range p.Choices() {
		s, err := newSchedule(g, w, plan.Range{To: n, High: w.Buckets()}, l)
		if e := (*device.Error)(nil); errors.As(err, &e) {
			if refused++; !errors.Is(err, device.ErrNoMemory) || e.Bytes <= l.memory {
				t.Errorf("%d windows: %d bytes of %d: %v", len(w.List), e.Bytes, l.memory, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if s.bytes > l.memory || len(s.chunks) < 2 || refused == 0 {
			t.Errorf("%d windows: %d chunks, %d bytes of %d, after %d refused", len(w.List), len(s.chunks), s.bytes, l.memory, refused)
		}
		return
	}
	t.Errorf("no windows of %d fit", refused)
}

// A schedule's bytes are what it allocates, but for what is added for rounding: whatever
// windows, groups and chunks there are.
func TestScheduleBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	devicetest.Kernels(t, func(t *testing.T, q *device.Queue) {
		info := q.Device().Info()
		for range 100 {
			g := []*curve.Group{curve.Toy61, curve.BN254G1, curve.BLS12377Edwards, curve.BW6761G1}[r.IntN(4)]
			n := 1 + r.IntN(1<<13)
			w, err := plan.Split(g.Scalar, g.Scalar.Bits()/(4+r.IntN(9)))
			if r.IntN(2) == 0 {
				w, err = plan.Uniform(g.Scalar, 4+r.IntN(9), r.IntN(4), n)
			}
			if err != nil {
				t.Fatal(err)
			}
			l := limits{info: info, upload: r.IntN(2) == 0, adder: r.IntN(3)}
			s, err := layOut(g, w, plan.Range{To: n, High: w.Buckets()}, 1+n/(1+r.IntN(4)), 1+r.IntN(6), false, l)
			if err != nil || s == nil {
				t.Fatal(s, err)
			}
			before := q.Device().InUse()
			x := &run{schedule: s, main: q, side: q, uploads: q}
			if err := x.alloc(); err != nil {
				t.Fatal(err)
			}
			took, said := q.Device().InUse()-before, (s.bytes-1<<20)*8/9
			x.free()
			// Buffers of some words, and each buffer's last bytes; affine sums take more later.
			if took > said+4096 || !s.affine && took < said*9/10-4096 {
				t.Errorf("%s: %d points, %d windows, %d groups, %d chunks, affine %v: takes %d bytes, not %d", g.Name, n, len(w.List), len(s.groups), len(s.chunks), s.affine, took, said)
			}
		}
	})
}

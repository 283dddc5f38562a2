package prover

import (
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// TestStep evaluates tables of all sizes up to some of several rows at points
// whose coordinates come from anywhere, two of them at one point, and makes
// tables of eq with powers of a challenge. It runs twice, as counters are to be
// as they were.
func TestStep(t *testing.T) {
	const coords, most = 20, lowBits + 2
	g := devicetest.Rand(7)
	challenges := make([]m31.QM31, coords+1)
	devicetest.Fill(g, m31.Words(challenges), m31.P)
	tables := make([]m31.Element, 2<<most)
	devicetest.Fill(g, tables, m31.P)

	l := &layout{plan: &plan.Plan{Stacks: make([]plan.Stack, plan.FirstCommitted), Coords: coords}}
	l.gamma = coords
	var st step
	points := []plan.Point{}
	for vars := range most + 1 {
		p := make(plan.Point, vars)
		for i := range p {
			p[i] = int32(g.Intn(coords))
		}
		points = append(points, p)
	}
	points = append(points, points[most-1])
	l.zeroed = len(points)
	begin := make([]int, len(points))
	evaluations(l, &st, points, begin)
	scaled := func(p plan.Point, power int) (at int) {
		at, st.scratch = st.scratch, st.scratch+1<<len(p)
		st.tables = append(st.tables, eqTable{at, p, power})
		return at
	}
	eqs := []int{scaled(points[3], 5), scaled(points[0], 1), scaled(points[4], 1000)}
	st.finish(l)
	l.live = l.zeroed + len(tables)
	l.messages = coords + 1 + len(points)

	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		key, err := loadKey(q, l, new(ProvingKey), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer key.free()
		s := &session{layout: l, q: q, key: key}
		defer s.free()
		if err := s.allocate(); err != nil {
			t.Fatal(err)
		}
		if err := s.live.Slice(l.zeroed, l.live).CopyFrom(q, tables); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := s.ext.Zero(q); err != nil {
				t.Fatal(err)
			}
			if err := s.part(0, coords+1).CopyFrom(q, challenges); err != nil {
				t.Fatal(err)
			}
			if err := s.run(&st); err != nil {
				t.Fatal(err)
			}
			got, err := s.ext.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			scratch, err := s.scratch.Read(q)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range points {
				at := begin[i] - l.zeroed
				if want := mle.EvaluateBase(tables[at:at+1<<len(p)], values(challenges, p)); got[coords+1+i] != want {
					t.Errorf("evaluation %d, of 2^%d entries: %v, want %v", i, len(p), got[coords+1+i], want)
				}
			}
			for i, c := range []struct{ point, power int }{{3, 5}, {0, 1}, {4, 1000}} {
				want := mle.ScaledEqTable(values(challenges, points[c.point]), challenges[coords].Exp(uint64(c.power)))
				for x, w := range want {
					if scratch[eqs[i]+x] != w {
						t.Errorf("table %d: entry %d is %v, want %v", i, x, scratch[eqs[i]+x], w)
					}
				}
			}
		}
	})
}

// evaluations adds an evaluation of a table at each point, one table after the
// other from l.zeroed on.
func evaluations(l *layout, st *step, points []plan.Point, begin []int) {
	at := l.zeroed
	for i, p := range points {
		begin[i] = at
		st.add(l, place(at), p, l.gamma+1+i)
		at += 1 << len(p) / 2 // tables may overlap
	}
}

func values(challenges []m31.QM31, p plan.Point) []m31.QM31 {
	out := make([]m31.QM31, len(p))
	for i, c := range p {
		out[i] = challenges[c]
	}
	return out
}

package resident

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// indices are a list's wires.
func indices(l List) (out []int) {
	for i := range l.N {
		if l.Index != nil {
			out = append(out, int(l.Index[i]))
		} else {
			out = append(out, l.From+i)
		}
	}
	return out
}

// Lists of queries' wires have those and no others, in order, and parts of them are right;
// places finds the wires of one list in another.
func TestLists(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 7, 300, grain + 5, 3 * grain} {
		for _, odds := range []int{1, 3} { // of being in a query; 1 is always
			a, b := make([]bool, n), make([]bool, n)
			for i := range a {
				a[i], b[i] = r.IntN(odds) > 0, r.IntN(odds) > 0
			}
			k := r.IntN(n)
			m := members(a, b, k)
			for of := set(1); of < sets; of++ {
				lo := r.IntN(n)
				hi := lo + r.IntN(n-lo+1)
				var want []int
				for i := lo; i < hi; i++ {
					if of&inA != 0 && !a[i] || of&inB != 0 && !b[i] || of&inK != 0 && i >= k {
						want = append(want, i)
					}
				}
				l := m.list(of, lo, hi)
				if got := indices(l); !slices.Equal(got, want) || l.Len() != len(want) {
					t.Fatalf("%d wires, %b: %d of [%d, %d), want %d", n, of, len(got), lo, hi, len(want))
				}
				if got := union(m.counts(lo, hi), of); got != len(want) {
					t.Errorf("%d wires, %b: counted %d, want %d", n, of, got, len(want))
				}
				if gaps := l.Index != nil; len(want) > 0 && gaps != (want[len(want)-1]-want[0] != len(want)-1) {
					t.Errorf("%d wires, %b: gaps: %v", n, of, gaps)
				}
				middle := (lo + hi) / 2
				i, j := l.within(middle, hi)
				if got := indices(l.part(i, j)); !slices.Equal(got, slices.DeleteFunc(slices.Clone(want), func(w int) bool { return w < middle })) {
					t.Errorf("%d wires, %b: within [%d, %d): %d", n, of, middle, hi, len(got))
				}
				own := m.list(of&-of, lo, hi)
				for i, place := range places(&own, &l) {
					if indices(l.part(int(place), int(place)+1))[0] != indices(own.part(i, i+1))[0] {
						t.Fatalf("%d wires, %b: place %d", n, of, i)
					}
				}
			}
		}
	}
	for _, c := range []struct {
		from, to int
		out      []int
		want     []int
	}{{2, 6, nil, []int{2, 3, 4, 5}}, {2, 6, []int{2, 5}, []int{3, 4}}, {2, 6, []int{3}, []int{2, 4, 5}}, {2, 4, []int{2, 3}, nil}} {
		l := Except(c.from, c.to, c.out)
		if got := indices(l); !slices.Equal(got, c.want) {
			t.Errorf("[%d, %d) but %v: %v", c.from, c.to, c.out, got)
		}
		values := []int{0, 10, 20, 30, 40, 50}
		for i, v := range scalarsOf(&l, values) {
			if v != 10*c.want[i] {
				t.Errorf("value %d of %v is %d", i, c.want, v)
			}
		}
	}
}

// Cuts give parts of costs in proportion to the weights, to a wire.
func TestCut(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 10, 2*grain + 77} {
		m := make(membership, n)
		for i := range m {
			m[i] = set(r.IntN(sets))
			if i < n/2 {
				m[i] |= inB
			}
		}
		cost := [sets]float64{0, 1, 4, 5, 1, 2, 5, 6}
		sum := func(lo, hi int) (s float64) {
			for _, x := range m[lo:hi] {
				s += cost[x]
			}
			return s
		}
		for _, weights := range [][]float64{{1}, {1, 1}, {0, 2, 3}, {5, 0, 1, 1}} {
			ends := m.cut(cost, weights)
			if len(ends) != len(weights)+1 || ends[0] != 0 || ends[len(weights)] != n || !slices.IsSorted(ends) {
				t.Fatalf("%d wires, %v: cut at %v", n, weights, ends)
			}
			all := 0.0
			for _, w := range weights {
				all += w
			}
			for i, w := range weights {
				if got, want := sum(ends[i], ends[i+1]), sum(0, n)*w/all; got < want-7 || got > want+7 {
					t.Errorf("%d wires, %v: part %d costs %v, want %v", n, weights, i, got, want)
				}
			}
		}
	}
}

package prover

import (
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// scheduleOf is a program's layout with, for each operation, its launch and how many
// top bits the slices of its run share.
func scheduleOf(t *testing.T, p *graph.Program) (l *layout, launches, shared []int) {
	t.Helper()
	l = layoutOf(t, p)
	launches, shared = make([]int, len(p.Ops)), make([]int, len(p.Ops))
	for i := range launches {
		launches[i] = -1
	}
	of := map[place]int{}
	for i, op := range p.Ops {
		of[l.polys[op.Outputs()[0]]] = i
	}
	for n, a := range l.pass {
		products := a.products
		for k := range products.n {
			i, ok := of[place(l.desc[products.at+13*k+1])]
			if !ok || launches[i] >= 0 {
				t.Fatalf("launch %d: product %d is of no operation, or made for the second time", n, k)
			}
			launches[i] = n
		}
		if a.wide != nil {
			launches[a.op] = n
		}
		for k := range a.runs.n {
			head, at := l.desc[a.runs.at+2*k], int(l.desc[a.runs.at+2*k+1])
			word := func(j int) uint32 { return uint32(l.desc[at+j/2] >> (32 * (j % 2))) }
			for j := 0; j < int(head>>32); j += int(word(j + 1)) {
				i, ok := of[place(word(j+3))|place(word(j+4))<<32]
				if !ok || launches[i] >= 0 {
					t.Fatalf("launch %d: words of no operation, or of %d for the second time", n, i)
				}
				launches[i] = n
				shared[i] = l.plan.Polys[p.Ops[i].Outputs()[0]].Vars - int(word(j+2))
			}
		}
	}
	return l, launches, shared
}

// TestSchedule checks that every operation is done once, after what it needs, and
// that blocks need nothing of other blocks' slices: every operand's index below any
// index of the result begins with the same bits.
func TestSchedule(t *testing.T) {
	cases := zkmltest.Cases()
	for seed := range uint64(20) {
		cases = append(cases, zkmltest.Wide(seed))
	}
	cases = append(cases, zkmltest.Decoder(2, 16, 64, 4, true))
	merged := 0
	for _, c := range cases {
		p := c.Program
		l, launches, shared := scheduleOf(t, p)
		producer := map[graph.TensorID]int{}
		for i, op := range p.Ops {
			for k, id := range op.Inputs() {
				from, made := producer[id]
				if !made {
					continue
				}
				if launches[from] > launches[i] {
					t.Fatalf("%s: operation %d is done before %d, which it needs", c.Name, i, from)
				}
				if launches[from] < launches[i] {
					continue
				}
				merged++
				s := scheduler{l: l, p: p}
				if shared[from] != shared[i] || s.leading(i, op, k) < shared[i] {
					t.Fatalf("%s: operation %d shares %d bits of its slices, its operand %d %d; %d may be", c.Name, i, shared[i], from, shared[from], s.leading(i, op, k))
				}
			}
			if launches[i] < 0 {
				t.Fatalf("%s: operation %d is in no launch", c.Name, i)
			}
			for _, id := range op.Outputs() {
				producer[id] = i
			}
		}
	}
	if merged < 100 {
		t.Errorf("%d operands come from the same launch", merged)
	}
}

func TestLeading(t *testing.T) {
	for _, c := range []struct {
		out, term []int
		want      int
	}{
		{[]int{5, 7, 33}, []int{5, 7, 33}, 12}, {[]int{5, 7, 33}, []int{5, 7, 1}, 6}, {[]int{5, 7, 33}, []int{5, 1, 33}, 3}, {[]int{5, 7, 33}, []int{1, 7, 33}, 0},
		{[]int{5, 7, 33}, []int{33}, 0}, {[]int{1, 64, 1}, []int{64, 1}, 6}, {[]int{5}, []int{}, 0},
	} {
		poly := func(shape []int) *plan.Poly {
			axes, vars := plan.AxisVars(shape)
			return &plan.Poly{Shape: shape, Axes: axes, Vars: vars}
		}
		out, term := poly(c.out), poly(c.term)
		if got := leading(segments(out, term), term.Vars, out.Vars); got != c.want {
			t.Errorf("a term of shape %v of %v: %d bits, want %d", c.term, c.out, got, c.want)
		}
	}
	for _, c := range []struct {
		a, b []int
		want int
	}{{[]int{1, 64, 768}, []int{64, 1, 12, 64}, 6}, {[]int{64, 768}, []int{768, 64}, 0}, {[]int{3, 5}, []int{3, 5}, 5}, {[]int{}, []int{1, 1}, 0}} {
		if got := samePrefix(c.a, c.b); got != c.want {
			t.Errorf("shapes %v and %v begin with the same %d bits, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestScheduleWidth keeps slices of large tensors many, though a step of a run would
// make them few, and joins small ones.
func TestScheduleWidth(t *testing.T) {
	for _, c := range []struct {
		shape    []int
		launches int
	}{{[]int{2, 1 << 17}, 2}, {[]int{2, 8}, 1}} {
		b := newOps("width")
		x := b.column("x", c.shape, 90)
		p := b.program(t, b.Linear("sum", []graph.Term{{Coef: 1, T: x}, {Coef: 1, T: b.Reshape("row", b.Einsum("rows", "ab->a", x, graph.None, 1), []int{2, 1})}}, 0, 1))
		if l := layoutOf(t, p); len(l.pass) != c.launches {
			t.Errorf("%v: %d launches, want %d", c.shape, len(l.pass), c.launches)
		}
	}
}

// TestForwardRuns has runs of several levels side by side, of slices that blocks
// share out and of single entries, with sums that a warp and a block make.
func TestForwardRuns(t *testing.T) {
	b := newOps("runs")
	var outputs []graph.TensorID
	for k, shape := range [][]int{{3, 5, 33}, {7, 1100}, {1}, {65, 9}} {
		x := b.column("x"+string(rune('a'+k)), shape, 20)
		last := len(shape) - 1
		labels := "abc"[:len(shape)]
		total := b.Einsum("total", labels+"->"+labels[:last], x, graph.None, 1)
		row := b.Reshape("row", total, append(slices.Clone(shape[:last]), 1))
		outputs = append(outputs, b.Linear("centred", []graph.Term{{Coef: 3, T: x}, {Coef: -1, T: row}}, 7, 1))
	}
	p := b.test(t, outputs...)
	if l := layoutOf(t, p); len(l.pass) != 1 || l.pass[0].runs.n != 4 {
		t.Errorf("%d launches", len(l.pass))
	}
}

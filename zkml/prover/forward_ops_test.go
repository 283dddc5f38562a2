package prover

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// opsBuilder makes programs whose tensors hold random values that are not zero
// in padding.
type opsBuilder struct {
	*graph.Builder
	rng *rand.Rand
	x   []int32
}

func newOps(name string) *opsBuilder {
	return &opsBuilder{Builder: graph.NewBuilder(name), rng: rand.New(rand.NewPCG(31, 1))}
}

func (b *opsBuilder) values(n, lo, hi int) []int32 {
	v := make([]int32, n)
	for i := range v {
		v[i] = int32(lo + b.rng.IntN(hi-lo+1))
	}
	return v
}

// column is a looked-up input within [-most, most].
func (b *opsBuilder) column(name string, shape []int, most int) graph.TensorID {
	x := b.Input(name+".in", shape, -127, 127, 1)
	b.x = append(b.x, b.values(graph.Elements(shape), -127, 127)...)
	y := b.values(256, -most, most)
	y[128], y[0], y[1] = int32(most), int32(-most), int32(most)
	return b.Lookup(name, x, 0, b.Table(name, 8, y), 1)
}

func (b *opsBuilder) test(t *testing.T, outputs ...graph.TensorID) *graph.Program {
	t.Helper()
	p, w, err := b.BuildAll(outputs, nil)
	if err != nil {
		t.Fatal(err)
	}
	testForward(t, p, w, b.x)
	return p
}

func (b *opsBuilder) program(t *testing.T, outputs ...graph.TensorID) *graph.Program {
	t.Helper()
	p, _, err := b.BuildAll(outputs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestForwardEinsum computes sums of every form. Extents of a, b, c and so on
// call for every kernel, with axes that are no powers of two.
func TestForwardEinsum(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct {
		formula string
		extents []int
	}{
		{"->", nil}, {"a->", []int{7}}, {"a->", []int{1000}}, {"ab->a", []int{33, 5}}, {"ab->b", []int{300, 33}}, {"ab->b", []int{33, 100}}, {"abc->ca", []int{3, 65, 5}},
		{"abcd->d", []int{5, 3, 7, 33}}, {"abcd->ac", []int{3, 5, 7, 33}}, {"a->a", []int{9}},
		{"a,a->", []int{3000}}, {"a,->a", []int{33}}, {"a,a->a", []int{33}}, {"ab,ab->ba", []int{7, 33}}, {"ab,b->ab", []int{5, 33}}, {"ab,a->ab", []int{5, 33}}, {"a,b->ba", []int{7, 33}},
		{"ab,bc->ac", []int{33, 65, 70}}, {"ab,cb->ac", []int{33, 65, 70}}, {"ba,bc->ac", []int{33, 65, 70}}, {"ba,cb->ca", []int{20, 33, 70}},
		{"ab,bc->ca", []int{9, 12, 65}}, {"ab,bc->ac", []int{3, 100, 70}}, {"ab,cb->ac", []int{1, 100, 70}}, {"ab,bc->ac", []int{1, 33, 33}}, {"ab,bc->ac", []int{65, 33, 7}},
		{"bac,bcd->bad", []int{9, 3, 33, 17}}, {"abhd,cbhd->bhac", []int{9, 3, 2, 33, 0, 0, 0, 5}}, {"bhac,cbhd->abhd", []int{9, 3, 33, 17, 0, 0, 0, 5}},
		{"acij,bcijuv->abuv", []int{9, 8, 7, 0, 0, 0, 0, 0, 3, 3}}, {"cij,bcijuv->bcuv", []int{0, 2, 7, 0, 0, 0, 0, 0, 3, 3}}, {"abc,abc->b", []int{33, 3, 7}}, {"abc,bc->a", []int{9, 33, 65}},
	} {
		t.Run(c.formula+fmt.Sprint(c.extents), func(t *testing.T) {
			b := newOps("einsum")
			in, _, _ := strings.Cut(c.formula, "->")
			first, second, two := strings.Cut(in, ",")
			shape := func(labels string) []int {
				s := []int{}
				for _, l := range labels {
					n := 5
					if i := int(l - 'a'); i < len(c.extents) && c.extents[i] > 0 {
						n = c.extents[i]
					}
					s = append(s, n)
				}
				return s
			}
			x, y := b.column("x", shape(first), 90), graph.None
			outputs := []graph.TensorID{}
			if two {
				y = b.column("y", shape(second), 90)
				if a := b.Einsum("by parameter", c.formula, x, b.Param("w", shape(second), b.values(graph.Elements(shape(second)), -90, 90), 1), 1); a != graph.None {
					outputs = append(outputs, a)
				}
			}
			p := b.test(t, append(outputs, b.Einsum("out", c.formula, x, y, 1))...)
			l := layoutOf(t, p)
			for i, op := range p.Ops {
				if op.Kind() == graph.KindEinsum {
					e := l.ops[i].einsum
					switch e.kernel() {
					case inProduct:
						seen["product"] = true
					case inWide:
						seen["wide"] = true
					default:
						seen[fmt.Sprint("run by ", e.lanes)] = true
					}
				}
			}
		})
	}
	for _, k := range []string{"run by 1", "run by 32", "run by 0", "wide", "product"} {
		if !seen[k] {
			t.Errorf("no case is for %s", k)
		}
	}
}

// TestForwardProducts has products of every number of digits, of sums in one part and
// in several, with terms next to each other or not, several in a launch.
func TestForwardProducts(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct {
		formula      string
		a, b         []int
		mostA, mostB int
	}{
		{"ab,bc->ac", []int{9, 300}, []int{300, 70}, 127, 127}, {"ab,cb->ac", []int{65, 260}, []int{9, 260}, 128, 127}, {"ab,bc->ac", []int{33, 130}, []int{130, 12}, 100, 32639},
		{"ab,cb->ac", []int{33, 124}, []int{12, 124}, 32639, 80}, {"ba,bc->ac", []int{129, 9}, []int{129, 65}, 1800, 2000}, {"ba,cb->ac", []int{200, 9}, []int{65, 200}, 32640, 60},
		{"ab,bc->ac", []int{9, 257}, []int{257, 17}, 1, 1 << 20}, {"ba,cb->ac", []int{32, 9}, []int{17, 32}, 250000, 33}, {"ab,bc->ac", []int{9, 40}, []int{40, 130}, 60, 60},
		{"abc,acd->abd", []int{3, 9, 140}, []int{3, 140, 66}, 127, 1000}, {"abc,dbc->ad", []int{9, 5, 33}, []int{12, 5, 33}, 127, 1000},
	} {
		t.Run(fmt.Sprint(c.formula, c.a, c.b, c.mostA, c.mostB), func(t *testing.T) {
			b := newOps("products")
			x, y := b.column("x", c.a, c.mostA), b.column("y", c.b, c.mostB)
			w := b.Param("w", c.b, b.values(graph.Elements(c.b), -c.mostB, c.mostB), 1)
			p := b.test(t, b.Einsum("xy", c.formula, x, y, 1), b.Einsum("xw", c.formula, x, w, 1))
			l := layoutOf(t, p)
			for _, a := range l.pass {
				for k := range a.products.n {
					d := l.desc[a.products.at+13*k:]
					seen[fmt.Sprint("digits ", d[10], d[11])] = true
					seen[fmt.Sprint("along ", d[12])] = true
					seen[fmt.Sprint("in parts: ", d[7] > 1)] = true
					seen[fmt.Sprint("several: ", a.products.n > 1)] = true
				}
			}
		})
	}
	for _, k := range []string{"digits 1 1", "digits 1 2", "digits 2 1", "digits 2 2", "digits 4 1", "digits 1 4", "along 0", "along 1", "along 2", "along 3", "in parts: true", "in parts: false", "several: true"} {
		if !seen[k] {
			t.Errorf("no case has %s", k)
		}
	}
}

func TestForwardRearrange(t *testing.T) {
	for round := range 40 {
		b := newOps("rearrange")
		b.rng = rand.New(rand.NewPCG(uint64(round), 2))
		shape := make([]int, round%4)
		for a := range shape {
			shape[a] = []int{1, 3, 5, 7, 33}[b.rng.IntN(5)]
		}
		var maps []graph.AxisMap
		n, size := 0, 1
		for _, a := range b.rng.Perm(len(shape)) {
			m := graph.AxisMap{Axis: a, Shape: []int{shape[a]}}
			if b.rng.IntN(3) > 0 && size < 2000 {
				m.Shape = []int{}
				for range b.rng.IntN(3) {
					m.Shape = append(m.Shape, []int{1, 3, 5, 7, 17}[b.rng.IntN(5)])
				}
				m.Index = b.values(graph.Elements(m.Shape), -1, shape[a]-1)
			}
			n, size = n+len(m.Shape), size*graph.Elements(m.Shape)
			maps = append(maps, m)
		}
		b.test(t, b.Rearrange("y", b.column("x", shape, 100), maps, b.rng.Perm(n)))
	}
}

// TestForwardWindows slides windows over the last axes, as a convolution does.
func TestForwardWindows(t *testing.T) {
	b := newOps("windows")
	x := b.column("x", []int{2, 3, 9, 33}, 100)
	window := func(axis, n, size, stride, pad int) graph.AxisMap {
		m := graph.AxisMap{Axis: axis, Shape: []int{size, (n+2*pad-size)/stride + 1}}
		for i := range size {
			for o := range m.Shape[1] {
				at := int32(o*stride + i - pad)
				if at < 0 || int(at) >= n {
					at = -1
				}
				m.Index = append(m.Index, at)
			}
		}
		return m
	}
	stay := func(axis, n int) graph.AxisMap { return graph.AxisMap{Axis: axis, Shape: []int{n}} }
	y := b.Rearrange("y", x, []graph.AxisMap{stay(0, 2), stay(1, 3), window(2, 9, 3, 2, 1), window(3, 33, 5, 1, 2)}, []int{0, 1, 2, 4, 3, 5})
	w := b.Param("w", []int{7, 3, 3, 5}, b.values(7*45, -90, 90), 1)
	b.test(t, b.Einsum("conv", "ocij,bcijuv->bouv", w, y, 1))
}

func TestForwardPair(t *testing.T) {
	for _, shape := range [][]int{{}, {33}, {3, 5, 7}} {
		b := newOps("pair")
		x, y := b.column("x", shape, 7), b.column("y", shape, 31)
		table := b.PairTable("pairs", 4, 6, b.values(1<<10, -1000, 1000))
		n := graph.Elements(shape)
		b.test(t, b.Pair("xy", x, y, table, 1), b.Pair("xw", x, b.Param("w", shape, b.values(n, -32, 31), 1), table, 1),
			b.Pair("xx", x, x, b.PairTable("square", 4, 4, b.values(256, -9, 9)), 1))
	}
}

func TestForwardThreshold(t *testing.T) {
	for _, c := range []struct {
		shape  []int
		axis   int
		values int
	}{{[]int{}, -1, 1}, {[]int{33}, -1, 256}, {[]int{33}, 0, 5}, {[]int{3, 5, 33}, 0, 7}, {[]int{3, 5, 33}, 1, 256}, {[]int{3, 5, 33}, 2, 7}} {
		b := newOps("threshold")
		x := b.column("x", c.shape, 100)
		wide := b.Linear("wide", []graph.Term{{Coef: 5000000, T: x}}, 12345, 1) // near 2^29
		channels := 1
		if c.axis >= 0 {
			channels = c.shape[c.axis]
		}
		limit := int32(graph.BoundLimit - 1)
		var lo []int32
		for range channels {
			th := b.values(c.values+1, -int(limit), int(limit))
			th[0], th[c.values] = -limit, limit+1
			if c.values > 4 {
				th[1], th[2] = -limit, th[3]
			}
			slices.Sort(th)
			lo = append(lo, th...)
		}
		table := b.StepsTable("steps", channels, -3, int64(limit), lo)
		b.test(t, b.Threshold("y", wide, c.axis, table, 1), b.Threshold("z", x, c.axis, table, 1))
	}
}

func TestForwardEmbed(t *testing.T) {
	for _, c := range [][]int{{5, 7}, {1, 33, 3}, {33, 5, 3, 5}} { // width, then rows, then the tokens' shape
		b := newOps("embed")
		rows := 9
		if len(c) > 1 {
			rows = c[1]
		}
		shape := c[2:]
		tokens := b.Input("tokens", shape, 0, int64(rows-1), 1)
		b.x = append(b.x, b.values(graph.Elements(shape), 0, rows-1)...)
		b.test(t, b.Embed("y", tokens, b.Param("w", []int{rows, c[0]}, b.values(rows*c[0], 1, 90), 1), 1))
	}
}

// TestForwardBroadcast adds computed tensors that repeat along different axes.
func TestForwardBroadcast(t *testing.T) {
	b := newOps("broadcast")
	x, y, z := b.column("x", []int{3, 1, 33}, 90), b.column("y", []int{7, 1}, 90), b.column("z", []int{}, 90)
	w := b.Param("w", []int{5, 1, 1, 1}, b.values(5, -90, 90), 1)
	b.test(t, b.Linear("sum", []graph.Term{{Coef: 2, T: x}, {Coef: -3, T: y}, {Coef: 7, T: w}, {Coef: 1, T: z}}, 11, 1))
}

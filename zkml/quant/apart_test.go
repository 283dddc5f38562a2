package quant

import (
	"math"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// thirds is a product whose thirds have weights of very different sizes, cut into these.
func thirds(n *net, reshaped bool, spreads ...float64) []int {
	const width = 16
	x := n.input(2, 3, width)
	w := n.constant([]int{width, 3 * width}, func(i int) float64 { return spreads[i%(3*width)/width] * n.rng.NormFloat64() })
	y := n.einsum("abi,ij->abj", x, w)
	y = n.pair(onnx.OpAdd, n.random(0.1, 3*width), y)
	y = n.pair(onnx.OpAdd, y, n.scalar(0.02))
	if reshaped {
		y = n.reshape(y, 6, 3*width)
	}
	var cut []int
	for k := range 3 {
		index := make([]int32, width)
		for i := range index {
			index[i] = int32(k*width + (i+k)%width) // in another order, too
		}
		cut = append(cut, n.mapped(y, len(n.shape(y))-1, 0, []int{width}, index...))
	}
	return append(cut, y)
}

// TestApart: products that are cut into pieces become one for each, with the same results and a scale of its own.
func TestApart(t *testing.T) {
	for _, reshaped := range []bool{false, true} {
		n := newNet(41)
		y := thirds(n, reshaped, 3, 1, 0.01)
		n.output(y[:3]...)
		p := prepare(n.m)
		count := func(m *onnx.Model, op onnx.Op) int {
			k := 0
			for i := range m.Nodes {
				if m.Nodes[i].Op == op {
					k++
				}
			}
			return k
		}
		if a, b := count(p, onnx.OpEinsum), count(p, onnx.OpRearrange); a != 3 || b != 0 {
			t.Fatalf("%d products and %d cuts", a, b)
		}
		x, err := split(n.m, n.samples(1)[0])
		if err != nil {
			t.Fatal(err)
		}
		want, err := n.m.Run(x)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Run(x)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range y[:3] {
			if !slices.Equal(got[v].Shape, want[v].Shape) {
				t.Fatalf("shape %v, expected %v", got[v].Shape, want[v].Shape)
			}
			for i := range want[v].Len() {
				if math.Abs(got[v].At(i)-want[v].At(i)) > 1e-6 {
					t.Fatalf("element %d is %g, expected %g", i, got[v].At(i), want[v].At(i))
				}
			}
		}
	}
	// Inside a network the smallest third is as exact as the others.
	n := newNet(42)
	y := thirds(n, true, 3, 1, 0.01)
	small := n.dense(n.pair(onnx.OpAdd, y[2], n.scalar(0)), 8)
	n.output(n.pair(onnx.OpAdd, small, n.einsum("ti,ij->tj", n.fn(onnx.FuncTanh, n.pair(onnx.OpAdd, y[0], y[1])), n.random(0.001, 16, 8))))
	n.check(t, Options{ActivationBits: 8}, 30)
}

// TestNotApart: what is read otherwise, or twice, stays one product.
func TestNotApart(t *testing.T) {
	for name, f := range map[string]func(n *net, y []int) int{
		"whole":   func(n *net, y []int) int { return n.fn(onnx.FuncTanh, y[3]) },
		"overlap": func(n *net, y []int) int { return n.mapped(y[3], 2, 0, []int{2}, 4, 5) },
		"twice":   func(n *net, y []int) int { return n.mapped(y[3], 2, 0, []int{16}, make([]int32, 16)...) },
		"padded":  func(n *net, y []int) int { return n.mapped(y[3], 2, 0, []int{2}, -1, -1) },
		"other axis": func(n *net, y []int) int {
			return n.mapped(y[3], 1, 0, []int{2}, 0, 1)
		},
		"output": func(_ *net, y []int) int { return y[3] },
	} {
		n := newNet(43)
		y := thirds(n, false, 1, 1, 1)
		n.output(append(y[:3:3], f(n, y))...)
		before := len(n.m.Nodes)
		if p := prepare(n.m); len(p.Nodes) != before {
			t.Errorf("%s: %d nodes became %d", name, before, len(p.Nodes))
		}
	}
	n := newNet(44) // nothing constant
	x := n.input(4, 32)
	y := n.einsum("ti,tj->ij", x, x)
	n.output(n.mapped(y, 1, 0, []int{16}, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), n.mapped(y, 1, 0, []int{2}, 16, 17))
	if p := prepare(n.m); len(p.Nodes) != 3 {
		t.Errorf("a product of computed tensors became %d nodes", len(p.Nodes))
	}
}

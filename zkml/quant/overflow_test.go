package quant

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// TestOverflow has models whose sums and products do not fit 29 bits whatever the scales, with something behind them: calibration names the node
// and how far its values reach, or finds coarser numbers that fit.
func TestOverflow(t *testing.T) {
	const long, wide = 300_000, 1 << 28
	axes := func(a ...int) onnx.Attr { return onnx.Attr{Axes: a} }
	for name, c := range map[string]struct {
		net  func(n *net) int
		want string // of the error; empty: none
	}{
		"real sum":           {func(n *net) int { return n.reduce(onnx.OpReduceSum, n.input(1, long), 1) }, `node "n0".*times 2\^29`},
		"real sum, reshaped": {func(n *net) int { return n.reshape(n.reduce(onnx.OpReduceSum, n.input(1, long), 1), 1, 1) }, `node "n0".*times 2\^29`},
		"real sum, added": {func(n *net) int {
			return n.pair(onnx.OpAdd, n.reduce(onnx.OpReduceSum, n.input(1, long), 1), n.random(1, 1))
		}, `node "n0".*times 2\^29`},
		"real sum, squared": {func(n *net) int {
			x := n.reduce(onnx.OpReduceSum, n.input(1, long), 1)
			return n.pair(onnx.OpMul, x, x)
		}, `node "n0".*times 2\^29`},
		"real sum, one of two parts": {func(n *net) int {
			x := n.reshape(n.reduce(onnx.OpReduceSum, n.input(1, long), 1), 1, 1)
			return n.concat(1, x, x)
		}, `node "n0".*times 2\^29`},
		"integer sum": {func(n *net) int {
			return n.intOp(onnx.OpReduceSum, axes(0), 0, 4*wide, []int{1}, n.intInput(0, wide, 4, 1))
		}, `node "n0".*times 2\^29`},
		"integer sum, compared": {func(n *net) int {
			x := n.intOp(onnx.OpReduceSum, axes(0), 0, 4*wide, []int{1}, n.intInput(0, wide, 4, 1))
			return n.intOp(onnx.OpMax, onnx.Attr{}, 0, 4*wide, []int{1}, x, n.ints([]int{1}, 5, 5))
		}, `node "n0".*times 2\^29`},
		"integer product": {func(n *net) int {
			x := n.intInput(0, wide, 4)
			return n.intOp(onnx.OpMul, onnx.Attr{}, 0, wide*wide, []int{4}, x, x)
		}, `node "n0".*times 2\^29`},
		"integer product, moved": {func(n *net) int {
			x := n.intInput(0, wide, 4)
			x = n.intOp(onnx.OpMul, onnx.Attr{}, 0, wide*wide, []int{4}, x, x)
			return n.intOp(onnx.OpReshape, onnx.Attr{}, 0, wide*wide, []int{2, 2}, x)
		}, `node "n0".*times 2\^29`},
		"integer addition": {func(n *net) int {
			x := n.intInput(0, wide, 4)
			x = n.intOp(onnx.OpAdd, onnx.Attr{}, 0, 2*wide, []int{4}, x, x)
			return n.intOp(onnx.OpAdd, onnx.Attr{}, 0, 4*wide, []int{4}, x, x)
		}, `node "n0".*times 2\^29`},
		"long product": {func(n *net) int { return n.einsum("ik,kj->ij", n.input(1, long), n.random(1, long, 1)) }, ""},
		"product of computed tensors": {func(n *net) int {
			x := n.input(1, long)
			return n.fn(onnx.FuncRelu, n.einsum("ik,ik->i", x, x))
		}, `node "n0".*times 2\^29`},
		"norm":    {func(n *net) int { return n.norm(n.input(1, long), true, 1) }, `node "n0".*times 2\^29`},
		"softmax": {func(n *net) int { return n.fn(onnx.FuncRelu, n.softmax(n.input(1, long), 1)) }, `node "n0".*times 2\^29`},
		"unequal terms": {func(n *net) int {
			return n.pair(onnx.OpAdd, n.pair(onnx.OpMul, n.input(4), n.scalar(1e9)), n.pair(onnx.OpMul, n.input(4), n.scalar(1e-9)))
		}, `node "n2".*"x1".*"x0".*e\+17 times`},
	} {
		n := newNet(1)
		m := n.output(c.net(n))
		_, _, err := Calibrate(m, n.samples(1), Options{InputBits: 12})
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !errors.Is(err, onnx.ErrUnsupported) || !regexp.MustCompile(c.want).MatchString(err.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestInfiniteConstants has a weight of minus infinity where there is no softmax that it could be a mask for. Importing refuses others.
func TestInfiniteConstants(t *testing.T) {
	for name, behind := range map[string]func(n *net, x int) int{
		"output":   func(_ *net, x int) int { return x },
		"lookup":   func(n *net, x int) int { return n.fn(onnx.FuncRelu, x) },
		"sum":      func(n *net, x int) int { return n.pair(onnx.OpAdd, x, n.scalar(1)) },
		"reshaped": func(n *net, x int) int { return n.fn(onnx.FuncRelu, n.reshape(x, 3, 2)) },
	} {
		n := newNet(1)
		w := n.constant([]int{3}, func(i int) float64 { return []float64{1, math.Inf(-1), 2}[i] })
		m := n.output(behind(n, n.pair(onnx.OpAdd, n.input(2, 3), w)))
		_, _, err := Calibrate(m, n.samples(2), Options{})
		if want := fmt.Sprintf("%q has an infinite element", m.Values[w].Name); err == nil || !errors.Is(err, onnx.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

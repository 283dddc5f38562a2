package graph_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/zkml/graph"
)

// A program with one layer: y = clamp(round((x W + b) / 16), -7, 7).
func Example() {
	b := graph.NewBuilder("example")
	x := b.Input("x", []int{1, 3}, -127, 127, 1)
	w := b.Param("w", []int{3, 2}, []int32{1, -2, 3, 4, -5, 6}, 1)
	bias := b.Param("b", []int{2}, []int32{10, -10}, 1)
	acc := b.Linear("acc", []graph.Term{{Coef: 1, T: b.MatMul("xW", x, w, false, 1)}, {Coef: 1, T: bias}}, 0, 1)
	const shift, bits = 4, 10
	clamp := make([]int32, 1<<bits)
	for i := range clamp {
		clamp[i] = int32(min(max(i-1<<(bits-1), -7), 7))
	}
	y := b.Lookup("y", acc, shift, b.Table("clamp", bits, clamp), 16)
	program, weights, err := b.Build(y, graph.NoPost, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := graph.Output(program, weights, []int32{10, -20, 30})
	if err != nil {
		fmt.Println(err)
		return
	}
	t := program.Tensor(acc)
	fmt.Printf("accumulator within [%d, %d], output %v\n", t.Lo, t.Hi, out)
	// Output: accumulator within [-3064, 3063], output [-7 4]
}

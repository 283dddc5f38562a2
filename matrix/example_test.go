package matrix_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/matrix"
)

func ExampleMul() {
	a := []m31.Element{1, 2, 3, 4} // 2 x 2
	b := []int8{-1, 0, 0, 5}
	c := make([]m31.Element, 4)
	if err := matrix.Mul(c, a, b, matrix.Shape{M: 2, K: 2, N: 2}); err != nil {
		fmt.Println(err)
	}
	for _, v := range c {
		fmt.Print(v.Int(), " ")
	}
	// Output: -1 10 -3 20
}

// How many moduli a product needs.
func ExampleSystemFor() {
	full, _ := matrix.SystemFor(8192, matrix.Bounds{})
	weights, _ := matrix.SystemFor(8192, matrix.Bounds{Right: 128})
	short, _ := matrix.SystemFor(768, matrix.Bounds{Left: 1 << 15, Right: 128})
	fmt.Println(len(full.Moduli), len(weights.Moduli), len(short.Moduli))
	// Output: 10 7 5
}

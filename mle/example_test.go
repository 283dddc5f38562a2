package mle_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
)

// At a vertex of the cube an extension has the table's value; in the middle it
// is the average. The first variable is the top bit of the index.
func ExampleEvaluate() {
	lift := func(v ...uint64) (out []m31.QM31) {
		for _, x := range v {
			out = append(out, m31.Lift(m31.New(x)))
		}
		return out
	}
	table := lift(10, 11, 12, 13)
	half := m31.Lift(m31.Element(2).Inverse())
	fmt.Println(mle.Evaluate(table, lift(1, 0)) == lift(12)[0])
	fmt.Println(mle.Evaluate(table, []m31.QM31{half, half}).Double() == lift(23)[0])
	// Output:
	// true
	// true
}

package m31_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
)

// Elements are canonical words, and so are those of the extensions.
func Example() {
	a := m31.New(1<<31 + 5) // modulo p = 2^31 - 1
	b := m31.FromInt(-3)
	fmt.Println(a, b, a.Mul(b).Int(), a.Add(b).Inverse().Mul(3))

	// i^2 = -1 and u^2 = 2 + i.
	i := m31.I()
	u := m31.FromWords([4]m31.Element{0, 0, 1, 0})
	fmt.Println(i.Mul(i) == m31.LiftCM31(m31.FromInt(-1)), u.Mul(u) == m31.LiftPair(m31.LiftCM31(2).Add(i)))
	// Output:
	// 6 2147483644 -18 1
	// true true
}

// A vector operation, and a sum-check's fold: (1-r) lo + r hi.
func ExampleFoldBase() {
	lo, hi := []m31.Element{1, 2}, []m31.Element{11, 22}
	sum := make([]m31.Element, 2)
	m31.AddVec(sum, lo, hi)
	folded := make([]m31.QM31, 2)
	m31.FoldBase(folded, lo, hi, m31.Lift(3))
	fmt.Println(sum, m31.Words(folded))
	// Output: [12 24] [31 0 0 0 62 0 0 0]
}

package babybear_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/babybear"
)

// Elements print as numbers, but are words in Montgomery form.
func Example() {
	a := babybear.New(babybear.P + 7)
	fmt.Println(a, a.Inverse().Mul(a), uint32(babybear.One()))

	// X^4 = 11 and X^5 = 2.
	x4, x5 := babybear.E4{1: babybear.One()}, babybear.E5{1: babybear.One()}
	fmt.Println(x4.Exp(4), x5.Exp(5), x4.Mul(x4.Inverse()) == babybear.OneE4())

	w := babybear.Root(2)
	bytes := babybear.AppendBytes(nil, []babybear.Element{a})
	fmt.Println(w.Square() == babybear.One().Neg(), len(bytes), bytes[0])
	// Output:
	// 7 1 268435454
	// [11 0 0 0] [2 0 0 0 0] true
	// true 4 7
}

// A sum-check's fold, and its next message, for a table of words and one of elements
// of the extension.
func ExampleFoldBase() {
	lo, hi := []babybear.Element{babybear.New(1), babybear.New(2)}, []babybear.Element{babybear.New(11), babybear.New(22)}
	folded := make([]babybear.E4, 2)
	babybear.FoldBase(folded, lo, hi, babybear.LiftE4(babybear.New(3)))
	weights := babybear.EqTable([]babybear.E4{babybear.LiftE4(babybear.New(5))}) // 1-5, 5
	atZero, lead := babybear.RoundExt(folded[:1], folded[1:], weights[:1], weights[1:])
	fmt.Println(folded, atZero[0] == babybear.New(31*4).Neg(), lead[0])
	// Output: [[31 0 0 0] [62 0 0 0]] true 279
}

package koalabear_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/koalabear"
)

// Elements print as numbers, but are words in Montgomery form.
func Example() {
	a := koalabear.New(koalabear.P + 7)
	fmt.Println(a, a.Inverse().Mul(a), uint32(koalabear.One()))

	// X^4 = 3 and X^5 = 1 - X^2.
	x4, x5 := koalabear.E4{1: koalabear.One()}, koalabear.E5{1: koalabear.One()}
	fmt.Println(x4.Exp(4), x5.Exp(5), x4.Mul(x4.Inverse()) == koalabear.OneE4())

	w := koalabear.Root(2)
	bytes := koalabear.AppendBytes(nil, []koalabear.Element{a})
	fmt.Println(w.Square() == koalabear.One().Neg(), len(bytes), bytes[0])
	// Output:
	// 7 1 33554430
	// [3 0 0 0] [1 0 2130706432 0 0] true
	// true 4 7
}

// A sum-check's fold, and its next message, for a table of words and one of elements
// of the extension.
func ExampleFoldBase() {
	lo, hi := []koalabear.Element{koalabear.New(1), koalabear.New(2)}, []koalabear.Element{koalabear.New(11), koalabear.New(22)}
	folded := make([]koalabear.E4, 2)
	koalabear.FoldBase(folded, lo, hi, koalabear.LiftE4(koalabear.New(3)))
	weights := koalabear.EqTable([]koalabear.E4{koalabear.LiftE4(koalabear.New(5))}) // 1-5, 5
	atZero, lead := koalabear.RoundExt(folded[:1], folded[1:], weights[:1], weights[1:])
	fmt.Println(folded, atZero[0] == koalabear.New(31*4).Neg(), lead[0])
	// Output: [[31 0 0 0] [62 0 0 0]] true 279
}

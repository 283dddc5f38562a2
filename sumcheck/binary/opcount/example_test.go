package opcount_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/sumcheck/binary/opcount"
)

// Multiplications of bits for each point of a round, of a product of three polynomials.
func Example() {
	for i := range 4 {
		fmt.Println(i, opcount.BDT2(3, i).Weight(), opcount.BDT1(3, false).Weight())
	}
	fmt.Println("fold from round", opcount.SwitchRound(3))
	// Output:
	// 0 1032 24174
	// 1 8256 24174
	// 2 66048 24174
	// 3 528384 24174
	// fold from round 2
}

package whir_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/whir"
)

// One commitment to a table of 4 entries and one of 8: the claim about the first
// becomes one about the stack.
func ExampleOnStack() {
	stack, err := whir.NewStack(2, 3)
	if err != nil {
		panic(err)
	}
	fmt.Println("a table of", 1<<stack.Vars(), "entries; the first starts at", stack.Offset(0))
	one := babybear.OneE4()
	point := []babybear.E4{one.Double(), one}
	claim, err := whir.OnStack(stack, 0, whir.Claim[babybear.E4]{Weight: whir.Eq[babybear.E4]{Point: point}, Value: one})
	if err != nil {
		panic(err)
	}
	fmt.Println("a claim in", claim.Weight.Vars(), "variables")
	// Output:
	// a table of 16 entries; the first starts at 8
	// a claim in 4 variables
}

package fribinius_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/fribinius"
)

// Parameters for 2^24 bits, and what their proofs rest on. Package fribinius/prover has an
// example that commits, opens and verifies.
func ExampleNew() {
	p, err := fribinius.New(24, 2, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p)
	for _, line := range p.Report().Lines {
		fmt.Printf("%6.2f bits %s\n", line.Bits, line.Name)
	}
	_, err = fribinius.New(24, 2, 120)
	fmt.Println(err)
	// Output:
	// FRI-Binius: 2^24 bits, rate 2^-2, 3 layers, 148 queries, 100.35 bits
	// 125.19 bits ring switching
	// 122.91 bits sum-check
	// 111.00 bits layer 0: folding
	// 115.00 bits layer 1: folding
	// 119.00 bits layer 2: folding
	// 100.35 bits queries
	// fribinius: the security level of 2^24 bits at rate 2^-2 is 120, want 100 to 110
}

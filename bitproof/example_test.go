package bitproof_test

import (
	"fmt"
	"os"

	"github.com/zkwarp/zkwarp/bitproof"
)

// The verifier's half: a statement, and a proof that somebody sent. How proofs are made is
// shown in package bitproof/prover.
func Example() {
	statement, err := bitproof.Parse(`
		rows 2^10
		columns a b cin s cout t
		s = a ^ b ^ cin            # an XOR gate
		t = (a ^ b) & cin          # AND gates have one & each
		cout = a & b ^ t
	`)
	if err != nil {
		fmt.Println(err)
		return
	}
	params, err := bitproof.NewParams(statement)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(params.Describe())

	file, err := os.ReadFile("testdata/adder.proof")
	if err != nil {
		fmt.Println(err)
		return
	}
	proof, err := params.DecodeProof(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("verify:", params.Verify(proof))

	// Which columns they are, the root alone says: compare it if that matters.
	fmt.Printf("root: %08x...\n", proof.Root[0])

	proof.AtZ[0].Lo ^= 1 // anything else is refused, by the check that is named
	fmt.Println("verify:", params.Verify(proof))
	// Output:
	// 6 columns of 2^10 bits, 2 AND and 1 XOR gates
	// verify: <nil>
	// root: 9336573f...
	// verify: XOR gates: a ^ b ^ cin ^ s = 0 does not hold
}

// Errors say where, what was found and what was wanted.
func ExampleParse() {
	_, err := bitproof.Parse("rows 2^10\ncolumns a b c\nc = a | b")
	fmt.Println(err)
	// Output: line 3, column 7: found "|", want ^, & or the end of the line
}

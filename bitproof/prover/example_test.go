package prover_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkwarp/zkwarp/bitproof"
	"github.com/zkwarp/zkwarp/bitproof/prover"
	"github.com/zkwarp/zkwarp/device"
)

// A column that is the AND of two others, in each of 128 rows.
func Example() {
	statement, err := bitproof.Parse(`
		rows 2^7
		columns a b c
		c = a & b`)
	if err != nil {
		log.Fatal(err)
	}
	params, err := bitproof.NewParams(statement)
	if err != nil {
		log.Fatal(err)
	}
	a := []uint32{0x01234567, 0x89abcdef, 0xdeadbeef, 0xcafef00d}
	b := []uint32{0x0f1e2d3c, 0x4b5a6978, 0x8796a5b4, 0xc3d2e1f0}
	c := make([]uint32, len(a))
	for i := range c {
		c[i] = a[i] & b[i]
	}

	ctx := context.Background()
	dev, err := device.Open("auto")
	if err != nil {
		log.Fatal(err)
	}
	q, err := dev.NewQueue(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer q.Close()
	columns, err := prover.Upload(q, params, [][]uint32{a, b, c})
	if err != nil {
		log.Fatal(err)
	}
	defer columns.Free()
	proof, err := prover.Prove(ctx, q, columns, prover.Options{})
	if err != nil {
		log.Fatal(err)
	}
	file, err := params.AppendProof(nil, proof)
	if err != nil {
		log.Fatal(err)
	}

	// The verifier has the statement and the file.
	received, err := params.DecodeProof(file)
	if err != nil {
		log.Fatal(err)
	}
	if err := params.Verify(received); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: accepted, at least %.0f bits\n", params.Describe(), float64(bitproof.MinBits))
	// Output: 3 columns of 2^7 bits, 1 AND and 0 XOR gates: accepted, at least 100 bits
}

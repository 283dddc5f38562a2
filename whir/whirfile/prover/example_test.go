package prover_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/whir/whirfile"
	"github.com/zkwarp/zkwarp/whir/whirfile/prover"
)

// Commit to a table and prove an entry of it: the README's example.
func Example() {
	dev, err := device.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	q, err := dev.NewQueue(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer q.Close()
	scheme, err := whirfile.Find("m31-poseidon2")
	if err != nil {
		log.Fatal(err)
	}
	params, err := scheme.Choose(3, whir.Options{Lambda: 100})
	if err != nil {
		log.Fatal(err)
	}
	committed, err := prover.Commit(q, params, []uint32{10, 11, 12, 13, 14, 15, 16, 17})
	if err != nil {
		log.Fatal(err)
	}
	claims, err := committed.Evaluate([]whirfile.Claim{{Kind: whirfile.Eval, Point: []whirfile.Words{{1}, {0}, {1}}}})
	if err != nil {
		log.Fatal(err)
	}
	proof, err := committed.Open(q, claims)
	if err != nil {
		log.Fatal(err)
	}
	file := (&whirfile.Bundle{Commitment: committed.Commitment(), Claims: claims, Proof: proof}).Encode()

	// The other side: no device, nothing secret.
	bundle, err := whirfile.DecodeBundle(file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("entry 101 is", bundle.Claims[0].Values[0][0], "with error", bundle.Verify())
	// Output: entry 101 is 15 with error <nil>
}

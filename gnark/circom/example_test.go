package circom_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkwarp/zkwarp/gnark/circom"
)

// The circuit shows that somebody knows two factors of 33.
func Example() {
	key, err := circom.OpenZKey("testdata/multiplier_bn128.zkey")
	if err != nil {
		log.Fatal(err)
	}
	witness, err := circom.OpenWitness("testdata/multiplier_bn128.wtns")
	if err != nil {
		log.Fatal(err)
	}
	proof, err := circom.Prove(context.Background(), key, witness, circom.Options{Device: "cpu"}) // or nothing: "auto"
	if err != nil {
		log.Fatal(err)
	}
	public := witness.Public(key.NumPublic())
	fmt.Println(public[0].Big(), circom.Verify(key.VerifyingKey(), public, proof))
	// Output: 33 <nil>
}

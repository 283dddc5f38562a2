package kzg_test

import (
	"context"
	"fmt"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	gnark "github.com/consensys/gnark-crypto/ecc/bn254/kzg"

	"github.com/zkwarp/zkwarp/gnark/kzg"
	"github.com/zkwarp/zkwarp/gnark/kzg/bn254"
)

// A program of gnark-crypto's commits and opens on the GPU, if there is one, and verifies
// as before.
func Example() {
	srs, err := gnark.NewSRS(1<<10, big.NewInt(42)) // whoever knows 42 can cheat: for examples alone
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := bn254.New(srs.Pk, kzg.WithDevice("auto"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	p := make([]fr.Element, 1000) // 1 + 2 X + 3 X² + ...
	for i := range p {
		p[i].SetUint64(uint64(i + 1))
	}
	digest, err := c.Commit(p)
	if err != nil {
		fmt.Println(err)
		return
	}
	point := fr.NewElement(1)
	proof, err := c.Open(context.Background(), p, point)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("p(1) =", proof.ClaimedValue.String())
	fmt.Println("rejected:", gnark.Verify(&digest, &proof, point, srs.Vk))
	// Output:
	// p(1) = 500500
	// rejected: <nil>
}

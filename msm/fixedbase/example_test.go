package fixedbase_test

import (
	"context"
	"fmt"
	"log"

	gnark "github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm/bn254"
	"github.com/zkwarp/zkwarp/msm/fixedbase"
)

// Powers of a number times the generator, as in a reference string.
func Example() {
	dev, err := device.Open("cpu") // or "auto": a GPU if there is one
	if err != nil {
		log.Fatal(err)
	}
	scalars := make([]fr.Element, 1000)
	scalars[0].SetOne()
	tau := fr.NewElement(42)
	for i := 1; i < len(scalars); i++ {
		scalars[i].Mul(&scalars[i-1], &tau)
	}
	_, _, g, _ := gnark.Generators()
	table, err := fixedbase.New(dev, bn254.G1, bn254.G1Multiples, g, fixedbase.Options{N: len(scalars)})
	if err != nil {
		log.Fatal(err)
	}
	defer table.Close()

	points := make([]gnark.G1Affine, len(scalars))
	if err := table.Multiply(context.Background(), points, scalars); err != nil {
		log.Fatal(err)
	}
	want := gnark.BatchScalarMultiplicationG1(&g, scalars)
	fmt.Println(points[0] == g, points[999] == want[999])
	// Output: true true
}

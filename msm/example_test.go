package msm_test

import (
	"context"
	"fmt"
	"log"
	"math/big"

	gnark "github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/bn254"
)

// Bases are made once and serve any number of sums.
func Example() {
	dev, err := device.Open("cpu") // or "auto": a GPU if there is one
	if err != nil {
		log.Fatal(err)
	}
	_, _, g, _ := gnark.Generators()
	points := make([]gnark.G1Affine, 4)
	for i := range points {
		points[i].ScalarMultiplication(&g, big.NewInt(int64(i+1)))
	}
	bases, err := msm.New(dev, bn254.G1, points, msm.Options{Check: true})
	if err != nil {
		log.Fatal(err)
	}
	defer bases.Close()

	scalars := []fr.Element{fr.NewElement(10), fr.NewElement(20), fr.NewElement(30), fr.NewElement(40)}
	sum, err := bases.Sum(context.Background(), scalars)
	if err != nil {
		log.Fatal(err)
	}
	var want gnark.G1Affine
	want.ScalarMultiplication(&g, big.NewInt(10*1+20*2+30*3+40*4))
	fmt.Println(sum == want)
	// Output: true
}

package scalar_test

import (
	"context"
	"fmt"
	"log"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/ntt/scalar"
)

// A polynomial's values on a domain, and back. "auto" in place of "cpu" is the first GPU,
// if there is one.
func Example() {
	if err := example(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// sum of the coefficients: 36
	// coefficients again: 1 2 3 4 5 6 7 8
}

func example() error {
	dev, err := device.Open("cpu")
	if err != nil {
		return err
	}
	q, err := dev.NewQueue(context.Background())
	if err != nil {
		return err
	}
	defer q.Close()
	domain, err := scalar.New(curve.BN254Fr, 3)
	if err != nil {
		return err
	}
	transform, err := domain.On(q)
	if err != nil {
		return err
	}
	defer transform.Free()

	coefficients := make([]fr.Element, domain.Len())
	for i := range coefficients {
		coefficients[i].SetUint64(uint64(i + 1))
	}
	buf, err := device.Upload(q, coefficients)
	if err != nil {
		return err
	}
	defer buf.Free()
	words := device.View[uint64](buf)
	if err := transform.Forward(q, words, scalar.Natural, false); err != nil {
		return err
	}
	values, err := buf.Read(q)
	if err != nil {
		return err
	}
	fmt.Println("sum of the coefficients:", values[0].String()) // the value at 1
	if err := transform.Inverse(q, words, scalar.Reversed, false); err != nil {
		return err
	}
	if coefficients, err = buf.Read(q); err != nil {
		return err
	}
	fmt.Print("coefficients again:")
	for _, c := range coefficients {
		fmt.Print(" ", c.String())
	}
	fmt.Println()
	return nil
}

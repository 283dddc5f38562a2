package prover_test

import (
	"context"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/ntt"
	"github.com/zkwarp/zkwarp/ntt/prover"
)

// The polynomial 1 + 2x + 3x^2 + 4x^3 at the eight 8th roots of unity.
func ExampleEncode() {
	values, err := example()
	if err != nil {
		fmt.Println(err)
		return
	}
	at := func(j int) babybear.Element { return values[ntt.Reverse(j, 3)] }
	fmt.Println("at 1:", at(0))
	fmt.Println("at -1, as a signed number:", int(at(4).Uint32())-babybear.P)
	// Output:
	// at 1: 10
	// at -1, as a signed number: -2
}

func example() ([]babybear.Element, error) {
	d, err := device.Open("cpu")
	if err != nil {
		return nil, err
	}
	q, err := d.NewQueue(context.Background())
	if err != nil {
		return nil, err
	}
	src, err := device.Upload(q, []babybear.Element{babybear.New(1), babybear.New(2), babybear.New(3), babybear.New(4)})
	if err != nil {
		return nil, err
	}
	dst, err := device.Alloc[babybear.Element](q, 8)
	if err != nil {
		return nil, err
	}
	if err := prover.Encode(q, prover.BabyBear, dst, src, 1, 3, 2); err != nil {
		return nil, err
	}
	values, err := dst.Read(q)
	if err != nil {
		return nil, err
	}
	return values, q.Close()
}

package prover_test

import (
	"context"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/fribinius"
	"github.com/zkwarp/zkwarp/fribinius/prover"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// Commit to 2^12 bits and prove the value of their polynomial at a point.
func Example() {
	ctx := context.Background()
	p, err := fribinius.New(12, 2, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p)
	err = device.Run("cpu", "commit", 1<<12, func(d *device.Device) error {
		q, err := d.NewQueue(ctx)
		if err != nil {
			return err
		}
		defer q.Close()
		words := make([]uint32, 1<<12/32)
		for i := range words {
			words[i] = uint32(i) * 0x9e3779b9
		}
		bits, err := device.Upload(q, words)
		if err != nil {
			return err
		}
		defer bits.Free()
		c, root, err := prover.Commit(ctx, q, p, bits)
		if err != nil {
			return err
		}
		defer c.Free()
		point := make([]gf2.Element, 12)
		for i := range point {
			point[i] = gf2.Element{Lo: uint64(i) + 2, Hi: 1}
		}
		proof, value, err := c.Open(ctx, tower.New(tower.LabelFRIBinius), point)
		if err != nil {
			return err
		}
		fmt.Println("accepted:", fribinius.Verify(tower.New(tower.LabelFRIBinius), p, root, point, value, proof) == nil)
		value.Lo ^= 1
		fmt.Println(fribinius.Verify(tower.New(tower.LabelFRIBinius), p, root, point, value, proof) != nil)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// FRI-Binius: 2^12 bits, rate 2^-2, 1 layer, 148 queries, 100.35 bits
	// accepted: true
	// true
}

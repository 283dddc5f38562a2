package prover_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/ntt/additive"
	"github.com/zkwarp/zkwarp/ntt/additive/prover"
)

// A message of eight elements, encoded at rate 1/4 on a device: its polynomial's values at
// 32 points.
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
	message := make([]gf2.Element, 8)
	for i := range message {
		message[i] = gf2.Number(uint64(i) + 1)
	}
	src, err := device.Upload(q, message)
	if err != nil {
		log.Fatal(err)
	}
	defer src.Free()
	dst, err := device.Alloc[gf2.Element](q, 32)
	if err != nil {
		log.Fatal(err)
	}
	defer dst.Free()

	encoder, err := prover.NewEncoder(q)
	if err != nil {
		log.Fatal(err)
	}
	defer encoder.Free()
	if err := encoder.Encode(dst, src); err != nil {
		log.Fatal(err)
	}
	word, err := dst.Read(q)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(word[21] == additive.Evaluate(message, additive.Point(21)))
	// Output: true
}

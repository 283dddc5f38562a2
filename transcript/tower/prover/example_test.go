package prover_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/transcript/tower"
	"github.com/zkwarp/zkwarp/transcript/tower/prover"
)

// A message that lies on a device, and the challenge that answers it, which stays there:
// the host waits only to look at both.
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
	message := []gf2.Element{gf2.Number(5), gf2.Number(6)}
	list, err := device.Upload(q, message)
	if err != nil {
		log.Fatal(err)
	}
	defer list.Free()
	challenge, err := device.Alloc[gf2.Element](q, 1)
	if err != nil {
		log.Fatal(err)
	}
	defer challenge.Free()

	tr, err := prover.New(q, tower.LabelTest)
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Free()
	if err := tr.Absorb(list); err != nil {
		log.Fatal(err)
	}
	if err := tr.Challenge(challenge); err != nil {
		log.Fatal(err)
	}
	got, err := challenge.Read(q)
	if err != nil {
		log.Fatal(err)
	}

	verifier := tower.New(tower.LabelTest)
	verifier.Absorb(message)
	fmt.Println(got[0] == verifier.Challenge())
	// Output: true
}

package prover_test

import (
	"context"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/logup"
	"github.com/zkwarp/zkwarp/logup/prover"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/transcript"
	tprover "github.com/zkwarp/zkwarp/transcript/prover"
)

// The looked-up values 5, 7, 5, 6 are in the table 5, 6, 7, padded to four rows
// with a second 6. Its rows are used 2, 1, 1 and 0 times, which are its
// numerators, negative.
func Example() {
	values := []m31.Element{5, 7, 5, 6, 5, 6, 7, 6}
	num := []m31.Element{1, 1, 1, 1, m31.FromInt(-2), m31.FromInt(-1), m31.FromInt(-1), 0}

	dev, err := device.Open("cpu")
	if err != nil {
		fmt.Println(err)
		return
	}
	q, err := dev.NewQueue(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	tr := transcript.New(transcript.TagLogUp)
	tr.Absorb(values) // in earnest: commitments to them
	tr.Absorb(num)
	start := tr.Clone()
	alpha := tr.Challenge()
	den := make([]m31.QM31, len(values))
	for i, v := range values {
		den[i] = alpha.Sub(m31.Lift(v))
	}

	onDevice, err := tprover.FromHost(q, tr)
	if err != nil {
		fmt.Println(err)
		return
	}
	leaves := prover.Leaves{}
	if leaves.Base, err = device.Upload(q, num); err != nil {
		fmt.Println(err)
		return
	}
	if leaves.Den, err = device.Upload(q, den); err != nil {
		fmt.Println(err)
		return
	}
	proof, _, err := prover.Prove(q, onDevice, 3, leaves)
	if err != nil {
		fmt.Println(err)
		return
	}

	start.Challenge()
	claim, err := logup.Verify(start, 3, proof)
	if err != nil {
		fmt.Println(err)
		return
	}
	// The caller's part: the leaves' extensions, here evaluated in the clear.
	fmt.Println("numerators:", mle.EvaluateBase(num, claim.Point) == claim.P)
	fmt.Println("denominators:", alpha.Sub(mle.EvaluateBase(values, claim.Point)) == claim.Q)
	// Output:
	// numerators: true
	// denominators: true
}

package prover_test

import (
	"context"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/whir/prover"
)

// Commit to a table of 2^10 values, and prove its value at a random point.
func Example() {
	dev, err := device.Open("cpu")
	if err != nil {
		panic(err)
	}
	q, err := dev.NewQueue(context.Background())
	if err != nil {
		panic(err)
	}
	defer q.Close()
	params, err := whir.ChooseM31(10, whir.Options{Lambda: 100})
	if err != nil {
		panic(err)
	}
	table := make([]m31.Element, 1<<10)
	for i := range table {
		table[i] = m31.New(uint64(i * i))
	}

	// The prover.
	c, err := prover.CommitM31(q, params, table)
	if err != nil {
		panic(err)
	}
	words, err := c.Words()
	if err != nil {
		panic(err)
	}
	root, err := c.Root()
	if err != nil {
		panic(err)
	}
	tr := transcript.New(transcript.TagWHIR)
	tr.Absorb(words)
	point := tr.Challenges(10) // an outer protocol may draw challenges here
	value := mle.EvaluateBase(table, point)
	proof, err := prover.OpenM31(q, tr, c, []whir.M31Claim{{Point: point, Value: value}})
	if err != nil {
		panic(err)
	}
	bytes, err := params.AppendProof(nil, proof)
	if err != nil {
		panic(err)
	}

	// The verifier, who has params, the root, the value and the proof's bytes.
	tr = transcript.New(transcript.TagWHIR)
	oracle, err := whir.ReceiveM31(tr, params, root)
	if err != nil {
		panic(err)
	}
	claims := []whir.M31Claim{{Point: tr.Challenges(10), Value: value}}
	received, err := params.DecodeProof(len(claims), bytes)
	if err != nil {
		panic(err)
	}
	fmt.Println(oracle.Verify(claims, received))
	fmt.Printf("at least %d bits\n", int(params.Security().Min))

	claims[0].Value = claims[0].Value.Add(m31.OneQM31())
	tr = transcript.New(transcript.TagWHIR)
	if oracle, err = whir.ReceiveM31(tr, params, root); err != nil {
		panic(err)
	}
	claims[0].Point = tr.Challenges(10)
	fmt.Println(oracle.Verify(claims, received))
	// Output:
	// <nil>
	// at least 100 bits
	// whir: packed value: claim 0
}

package prover_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/sumcheck/binary/prover"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// The sum of p_1(x) p_2(x) p_3(x) over 2^10 points x, where p_2 and p_3 are columns of
// bits, proved and verified.
func Example() {
	ctx := context.Background()
	shape := binary.Shape{Vars: 10, Degree: 3, Kind: binary.ExtBits}
	p1 := make([]gf2.Element, 1<<shape.Vars)
	for x := range p1 {
		p1[x] = gf2.Element{Lo: uint64(x) * 0x9e3779b97f4a7c15, Hi: uint64(x)}
	}
	p2, p3 := make([]uint32, shape.Words()), make([]uint32, shape.Words()) // 32 bits a word
	for i := range p2 {
		p2[i], p3[i] = uint32(i)*0x9e3779b9+1, uint32(i)*0x85ebca6b+7
	}

	dev, err := device.Open("auto") // a GPU if there is one
	if err != nil {
		log.Fatal(err)
	}
	q, err := dev.NewQueue(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer q.Close()
	table, err := device.Upload(q, p1)
	if err != nil {
		log.Fatal(err)
	}
	defer table.Free()
	in := prover.Instance{Shape: shape, Ext: []device.Buffer[gf2.Element]{table}}
	for _, column := range [][]uint32{p2, p3} {
		bits, err := device.Upload(q, column)
		if err != nil {
			log.Fatal(err)
		}
		defer bits.Free()
		in.Bits = append(in.Bits, bits)
	}
	value, err := prover.Value(q, in)
	if err != nil {
		log.Fatal(err)
	}
	proof, _, err := prover.Prove(ctx, q, tower.New(tower.LabelSumcheck), in, value, prover.Options{})
	if err != nil {
		log.Fatal(err)
	}
	data, err := shape.AppendProof(nil, proof)
	if err != nil {
		log.Fatal(err)
	}

	// The verifier has shape and value, and the proof's bytes.
	received, err := binary.DecodeProof(shape, data)
	if err != nil {
		log.Fatal(err)
	}
	claim := binary.Claim{Shape: shape, Value: value}
	result, err := binary.Verify(tower.New(tower.LabelSumcheck), claim, received)
	if err != nil {
		log.Fatal(err)
	}
	// It is left with values at a point. Without checking them it knows nothing: by
	// openings of commitments, say, or as here from the tables.
	at1, err := prover.Evaluate(q, table, result.Point)
	if err != nil {
		log.Fatal(err)
	}
	at2, err := prover.EvaluateBits(q, in.Bits[0], 1, result.Point)
	if err != nil {
		log.Fatal(err)
	}
	at3, err := prover.EvaluateBits(q, in.Bits[1], 1, result.Point)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(data), "bytes; values are the tables':", result.Evals[0] == at1, result.Evals[1] == at2[0], result.Evals[2] == at3[0])

	claim.Value.Lo ^= 1
	_, err = binary.Verify(tower.New(tower.LabelSumcheck), claim, received)
	fmt.Println("another value is refused:", err != nil)
	// Output:
	// 568 bytes; values are the tables': true true true
	// another value is refused: true
}

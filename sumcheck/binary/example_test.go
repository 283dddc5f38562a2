package binary_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// A proof that p_1(0) p_2(0) + p_1(1) p_2(1) = 5 for p_1 = (5, 9) and p_2 = (1, 0), made by
// hand.
func Example() {
	claim := binary.Claim{Shape: binary.Shape{Vars: 1, Degree: 2, Kind: binary.ExtBits}, Value: gf2.Element{Lo: 5}}
	p1, p2 := [2]gf2.Element{{Lo: 5}, {Lo: 9}}, [2]gf2.Element{{Lo: 1}, {}}
	line := func(p [2]gf2.Element, y gf2.Element) gf2.Element { return p[0].Add(y.Mul(p[0].Add(p[1]))) }

	// The prover: the round polynomial is the product of two lines.
	tr := tower.New(tower.LabelSumcheck)
	claim.Absorb(tr)
	two := gf2.Element{Lo: 2}
	message := []gf2.Element{p1[0].Mul(p2[0]), line(p1, two).Mul(line(p2, two))}
	tr.Absorb(message)
	r := tr.Challenge()
	proof := &binary.Proof{Rounds: [][]gf2.Element{message}, Evals: []gf2.Element{line(p1, r), line(p2, r)}}

	// The verifier is left with two evaluations, which it has to check by itself.
	result, err := binary.Verify(tower.New(tower.LabelSumcheck), claim, proof)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Evals[0] == line(p1, result.Point[0]), result.Evals[1] == line(p2, result.Point[0]))

	claim.Value = gf2.Element{Lo: 6}
	_, err = binary.Verify(tower.New(tower.LabelSumcheck), claim, proof)
	fmt.Println(err != nil)
	// Output:
	// true true
	// true
}

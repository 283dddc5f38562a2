package prover_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/transcript"
	trprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/whir/prover"
)

// Commit to 2^10 BabyBear elements with BLAKE3 trees, and prove the value at 3 of
// the polynomial that has them as coefficients. With another device all of the
// prover's work is done there.
func ExampleProver() {
	q, err := cpuQueue()
	if err != nil {
		panic(err)
	}
	defer q.Close()
	const n = 10
	coefficients := make([]babybear.Element, 1<<n)
	x, value := babybear.New(3), babybear.Element(0)
	for i := len(coefficients) - 1; i >= 0; i-- {
		coefficients[i] = babybear.New(uint64(i*i + 1))
		value = value.Mul(x).Add(coefficients[i])
	}
	params, err := whir.Choose(whir.SpecBabyBear4(whir.BLAKE3), n, whir.Options{Lambda: 100})
	if err != nil {
		panic(err)
	}
	claim := func(value babybear.Element) whir.Statement[babybear.Element, babybear.E4] {
		weight := whir.Sel[babybear.E4]{Point: whir.Powers(babybear.LiftE4(x), n)}
		return whir.NewStatement[babybear.Element]([]whir.Claim[babybear.E4]{{Weight: weight, Value: babybear.LiftE4(value)}})
	}

	// The prover.
	root, proof, err := func() (root [8]babybear.Element, proof []byte, err error) {
		table, err := device.Upload(q, coefficients)
		if err != nil {
			return root, nil, err
		}
		defer table.Free()
		p := prover.BabyBear4(whir.BLAKE3)
		c, err := p.Commit(q, params, table)
		if err != nil {
			return root, nil, err
		}
		defer c.Free()
		if root, err = c.Root(); err != nil {
			return root, nil, err
		}
		tr, err := trprover.Start(q, transcript.BabyBear4(), transcript.TagWHIR)
		if err != nil {
			return root, nil, err
		}
		defer tr.Free()
		if err := tr.AbsorbHost(p.Scheme().CommitmentWords(params, root)); err != nil {
			return root, nil, err
		}
		opening, err := c.Open(q, tr, claim(value))
		if err != nil {
			return root, nil, err
		}
		proof, err = p.Scheme().AppendProof(nil, params, opening)
		return root, proof, err
	}()
	if err != nil {
		panic(err)
	}

	// The verifier, who has params, the root, the claim and the proof's bytes.
	verify := func(value babybear.Element) error {
		scheme := whir.BabyBear4(whir.BLAKE3)
		opening, err := scheme.DecodeProof(params, proof)
		if err != nil {
			return err
		}
		oracle, err := scheme.Receive(transcript.BabyBear4().New(transcript.TagWHIR), params, root)
		if err != nil {
			return err
		}
		return oracle.Verify(claim(value), opening)
	}
	fmt.Println(verify(value))
	fmt.Println(verify(value.Add(babybear.One())) != nil)
	// Output:
	// <nil>
	// true
}

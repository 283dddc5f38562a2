package sumcheck_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
	"github.com/zkwarp/zkwarp/transcript"
)

// The inner product of two vectors, both of which the verifier can evaluate by
// itself. (Package sumcheck/prover proves large ones; this one is small enough
// for the definition.)
func Example() {
	a := []m31.QM31{m31.Lift(1), m31.Lift(2), m31.Lift(3), m31.Lift(4)}
	b := []m31.QM31{m31.Lift(5), m31.Lift(6), m31.Lift(7), m31.Lift(8)}
	claims := []sumcheck.Claim{{Shape: sumcheck.Product(2, 2), Value: m31.Lift(70)}}

	proof := sumchecktest.Prove(transcript.New(transcript.TagSumcheck), claims, [][][]m31.QM31{{a, b}}, sumchecktest.Cheat{})

	r, err := sumcheck.Verify(transcript.New(transcript.TagSumcheck), claims, proof)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("a at the point:", mle.Evaluate(a, r.Point) == r.Evals[0][0])
	fmt.Println("b at the point:", mle.Evaluate(b, r.Point) == r.Evals[0][1])

	claims[0].Value = m31.Lift(71)
	_, err = sumcheck.Verify(transcript.New(transcript.TagSumcheck), claims, proof)
	fmt.Println(err)
	// Output:
	// a at the point: true
	// b at the point: true
	// sumcheck: final evaluations
}

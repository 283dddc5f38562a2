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

// A sum over an expression of one's own: that c is a*b at every x, up to the
// choice of the point z. (The prover of package sumcheck/prover takes the same
// shape, with tables on any device.)
func ExampleCompile() {
	gate, err := sumcheck.Compile("eq*(a*b - c)")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gate, "of", gate.Columns(), "and degree", gate.Degree())

	table := func(v ...m31.Element) (out []m31.QM31) {
		for _, x := range v {
			out = append(out, m31.Lift(x))
		}
		return out
	}
	tables := [][]m31.QM31{table(1, 2, 3, 4), table(5, 6, 7, 8), table(5, 12, 21, 32)}
	tr := transcript.New(transcript.TagTest)
	z := []m31.QM31{tr.Challenge(), tr.Challenge()}
	claims := []sumcheck.Claim{{Shape: gate.Shape(2), Point: z}} // of the sum 0
	proof := sumchecktest.Prove(tr, claims, [][][]m31.QM31{tables}, sumchecktest.Cheat{})

	tr = transcript.New(transcript.TagTest)
	claims[0].Point = []m31.QM31{tr.Challenge(), tr.Challenge()}
	r, err := sumcheck.Verify(tr, claims, proof)
	if err != nil {
		fmt.Println(err)
		return
	}
	for k, name := range gate.Columns() {
		fmt.Println(name, "at the point:", mle.Evaluate(tables[k], r.Point) == r.Evals[0][k])
	}

	_, err = sumcheck.Compile("eq*a^9")
	fmt.Println(err)
	// Output:
	// eq*(a*b - c) of [a b c] and degree 2
	// a at the point: true
	// b at the point: true
	// c at the point: true
	// sumcheck: expression: degree in "eq*a^9" at byte 3: expected a degree of at most 8, got 9
}

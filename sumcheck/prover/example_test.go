package prover_test

import (
	"context"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/transcript"
	tprover "github.com/zkwarp/zkwarp/transcript/prover"
)

// That c[x] = a[x]*b[x] for all x: the sum of eq(z, x) (a b - c)(x) is 0 at a
// random z. The prover's transcript lies on the device and goes through the same
// states as the verifier's, which is on the host.
func Example() {
	gate, err := sumcheck.Compile("eq*(a*b - c)")
	if err != nil {
		fmt.Println(err)
		return
	}
	columns := [][]m31.Element{{1, 2, 3, 4}, {5, 6, 7, 8}, {5, 12, 21, 32}}
	shape := gate.Shape(2)
	start := func() (tr *transcript.Transcript, z []m31.QM31) {
		tr = transcript.New(transcript.TagSumcheck)
		for _, c := range columns {
			tr.Absorb(c) // in earnest: commitments to them
		}
		return tr, tr.Challenges(shape.Vars)
	}

	tr, z := start()
	data, err := proofBytes(tr, shape, columns, z)
	if err != nil {
		fmt.Println(err)
		return
	}

	tr, z = start()
	claims := []sumcheck.Claim{{Shape: shape, Point: z}} // Value is 0
	proof, err := sumcheck.DecodeProof(sumcheck.Shapes(claims), data)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := sumcheck.Verify(tr, claims, proof)
	if err != nil {
		fmt.Println(err)
		return
	}
	for k, name := range gate.Columns() {
		fmt.Println(name, "at the point:", mle.EvaluateBase(columns[k], r.PointOf(shape.Vars)) == r.Evals[0][k])
	}
	fmt.Println(len(data), "bytes")
	// Output:
	// a at the point: true
	// b at the point: true
	// c at the point: true
	// 144 bytes
}

func proofBytes(tr *transcript.Transcript, shape sumcheck.Shape, columns [][]m31.Element, z []m31.QM31) ([]byte, error) {
	dev, err := device.Open("cpu") // "auto" takes a GPU if there is one
	if err != nil {
		return nil, err
	}
	q, err := dev.NewQueue(context.Background())
	if err != nil {
		return nil, err
	}
	defer q.Close()
	in := prover.Instance{Shape: shape}
	for _, c := range columns {
		b, err := device.Upload(q, c)
		if err != nil {
			return nil, err
		}
		defer b.Free()
		in.Tables = append(in.Tables, prover.Base(b))
	}
	if in.Point, err = device.Upload(q, z); err != nil {
		return nil, err
	}
	defer in.Point.Free()
	state, err := tprover.FromHost(q, tr)
	if err != nil {
		return nil, err
	}
	defer state.Free()
	proof, _, err := prover.Prove(q, state, []prover.Instance{in}, []m31.QM31{{}})
	if err != nil {
		return nil, err
	}
	return proof.AppendBinary(nil)
}

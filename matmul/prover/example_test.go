package prover_test

import (
	"context"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/matmul"
	"github.com/zkwarp/zkwarp/matmul/prover"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/transcript"
	tprover "github.com/zkwarp/zkwarp/transcript/prover"
)

// Two products with weights of signed bytes, in one batch. The verifier knows the
// matrices here; in earnest it has commitments to them.
func Example() {
	shapes := []matmul.Shape{{M: 2, K: 3, N: 2}, {M: 1, K: 2, N: 4}}
	inputs := [][]m31.Element{{1, 2, 3, 4, 5, 6}, {7, 8}}
	weights := [][]int8{{1, -1, 2, 0, 0, 3}, {1, 2, 3, 4, -1, -2, -3, -4}}
	// The products, and below both factors, as tables: padded to powers of two.
	c := [][]m31.Element{
		{5, m31.FromInt(8), 14, m31.FromInt(14)},
		{m31.FromInt(-1), m31.FromInt(-2), m31.FromInt(-3), m31.FromInt(-4)},
	}
	start := func() (*transcript.Transcript, []matmul.Claim) {
		tr := transcript.New(transcript.TagSumcheck)
		for i := range shapes {
			tr.Absorb(inputs[i])
			tr.Absorb(elementsOf(weights[i]))
			tr.Absorb(c[i])
		}
		var claims []matmul.Claim
		for i, s := range shapes {
			point := tr.Challenges(mle.Log(s.M) + mle.Log(s.N))
			row, col := point[:mle.Log(s.M)], point[mle.Log(s.M):]
			claims = append(claims, matmul.Claim{Shape: s, Row: row, Col: col, Value: mle.EvaluateBase(c[i], point)})
		}
		return tr, claims
	}

	tr, claims := start()
	data, err := proofBytes(tr, claims, inputs, weights)
	if err != nil {
		fmt.Println(err)
		return
	}

	tr, claims = start()
	proof, err := matmul.DecodeProof(shapes, data)
	if err != nil {
		fmt.Println(err)
		return
	}
	reduced, err := matmul.Verify(tr, claims, proof)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, r := range reduced {
		a, b := paddedTable(inputs[i], shapes[i].M, shapes[i].K), paddedTable(elementsOf(weights[i]), shapes[i].K, shapes[i].N)
		fmt.Println("A:", mle.EvaluateBase(a, r.A.Point) == r.A.Value, "B:", mle.EvaluateBase(b, r.B.Point) == r.B.Value)
	}
	// Output:
	// A: true B: true
	// A: true B: true
}

func proofBytes(tr *transcript.Transcript, claims []matmul.Claim, inputs [][]m31.Element, weights [][]int8) ([]byte, error) {
	dev, err := device.Open("cpu") // "auto" takes a GPU if there is one
	if err != nil {
		return nil, err
	}
	q, err := dev.NewQueue(context.Background())
	if err != nil {
		return nil, err
	}
	defer q.Close()
	state, err := tprover.FromHost(q, tr)
	if err != nil {
		return nil, err
	}
	defer state.Free()
	var factors []prover.Factors
	for i := range claims {
		a, err := device.Upload(q, inputs[i])
		if err != nil {
			return nil, err
		}
		defer a.Free()
		// The input lies on the device, the weights are streamed to it.
		factors = append(factors, prover.Factors{A: prover.Matrix{Words: a}, B: prover.Matrix{HostBytes: weights[i]}})
	}
	proof, _, err := prover.Prove(q, state, claims, factors)
	if err != nil {
		return nil, err
	}
	return proof.AppendBinary(nil)
}

// paddedTable is the table of a rows x cols matrix: zeros up to powers of two.
func paddedTable(a []m31.Element, rows, cols int) []m31.Element {
	wide := 1 << mle.Log(cols)
	out := make([]m31.Element, wide<<mle.Log(rows))
	for i := range rows {
		copy(out[i*wide:], a[i*cols:(i+1)*cols])
	}
	return out
}

func elementsOf(v []int8) []m31.Element {
	out := make([]m31.Element, len(v))
	for i, x := range v {
		out[i] = m31.FromInt(int64(x))
	}
	return out
}

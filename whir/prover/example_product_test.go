package prover_test

import (
	"context"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/transcript"
	trprover "github.com/zkwarp/zkwarp/transcript/prover"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/whir/prover"
)

// The inner product of a committed vector and a public one: a sum-check
// reduces it to one value of each, and the commitment is opened at that point.
// The sum-check runs on the queue's device, with the transcript there.
func Example_innerProduct() {
	q, err := cpuQueue()
	if err != nil {
		panic(err)
	}
	defer q.Close()
	const n = 10
	secret, public, sum := make([]m31.Element, 1<<n), make([]m31.Element, 1<<n), m31.Element(0)
	for i := range secret {
		secret[i], public[i] = m31.New(uint64(3*i+1)), m31.New(uint64(i*i+7))
		sum = sum.Add(secret[i].Mul(public[i]))
	}
	params, err := whir.ChooseM31(n, whir.Options{Lambda: 100})
	if err != nil {
		panic(err)
	}

	root, sumProof, openProof, err := proveProduct(q, params, secret, public, sum)
	if err != nil {
		panic(err)
	}
	fmt.Println(verifyProduct(params, root, public, sum, sumProof, openProof))
	fmt.Println(verifyProduct(params, root, public, sum.Add(1), sumProof, openProof))
	// Output:
	// <nil>
	// sumcheck: final evaluations
}

func cpuQueue() (*device.Queue, error) {
	dev, err := device.Open("cpu")
	if err != nil {
		return nil, err
	}
	return dev.NewQueue(context.Background())
}

func proveProduct(q *device.Queue, params *whir.M31Params, secret, public []m31.Element, sum m31.Element) ([8]m31.Element, *sumcheck.Proof, *whir.M31Proof, error) {
	var root [8]m31.Element
	a, err := device.Upload(q, secret)
	if err != nil {
		return root, nil, nil, err
	}
	defer a.Free()
	c, err := prover.CommitTableM31(q, params, a)
	if err != nil {
		return root, nil, nil, err
	}
	defer c.Free()
	tr, err := trprover.New(q, transcript.TagTest)
	if err != nil {
		return root, nil, nil, err
	}
	defer tr.Free()
	words, err := c.Words()
	if err != nil {
		return root, nil, nil, err
	}
	if err := tr.AbsorbHost(words); err != nil {
		return root, nil, nil, err
	}
	if root, err = c.Root(); err != nil {
		return root, nil, nil, err
	}
	b, err := device.Upload(q, public)
	if err != nil {
		return root, nil, nil, err
	}
	defer b.Free()
	product := sumprover.Instance{
		Shape:  sumcheck.Product(params.Vars(), 2),
		Tables: []sumprover.Table{sumprover.Base(a), sumprover.Base(b)},
	}
	sumProof, r, err := sumprover.Prove(q, tr, []sumprover.Instance{product}, []m31.QM31{m31.Lift(sum)})
	if err != nil {
		return root, nil, nil, err
	}
	openProof, err := c.Open(q, tr, []whir.M31Claim{{Point: r.Point, Value: r.Evals[0][0]}})
	return root, sumProof, openProof, err
}

func verifyProduct(params *whir.M31Params, root [8]m31.Element, public []m31.Element, sum m31.Element, sumProof *sumcheck.Proof, openProof *whir.M31Proof) error {
	tr := transcript.New(transcript.TagTest)
	oracle, err := whir.ReceiveM31(tr, params, root)
	if err != nil {
		return err
	}
	claim := sumcheck.Claim{Shape: sumcheck.Product(params.Vars(), 2), Value: m31.Lift(sum)}
	r, err := sumcheck.Verify(tr, []sumcheck.Claim{claim}, sumProof)
	if err != nil {
		return err
	}
	// What the sum-check leaves is checked here: the public vector by
	// evaluating it, the other by its commitment.
	if mle.EvaluateBase(public, r.Point) != r.Evals[0][1] {
		return fmt.Errorf("the public vector has another value")
	}
	return oracle.Verify([]whir.M31Claim{{Point: r.Point, Value: r.Evals[0][0]}}, openProof)
}

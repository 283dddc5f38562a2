// Command quickstart proves and verifies one answer of a network through the
// library: the README's example as a program.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/examples/digits"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/prover"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

func main() {
	samples, err := digits.Samples()
	if err != nil {
		log.Fatal(err)
	}
	images, labels, err := digits.Test()
	if err != nil {
		log.Fatal(err)
	}
	if err := proveAndVerify(context.Background(), digits.Model, samples, images[0].Values()); err != nil {
		log.Fatal(err)
	}
	fmt.Println("the image shows", labels[0])
}

// proveAndVerify plays both parts: whoever has the model and answers, and
// whoever checks.
func proveAndVerify(ctx context.Context, model []byte, samples [][]float64, input []float64) error {
	// The model becomes an integer program; samples show the ranges of its values.
	m, err := onnx.Parse(model, onnx.Options{})
	if err != nil {
		return err
	}
	calibration, _, err := quant.Calibrate(m, samples, quant.Options{})
	if err != nil {
		return err
	}
	program, weights, err := quant.Build(m, calibration)
	if err != nil {
		return err
	}

	// Once for a model: keys. vk goes to verifiers, pk stays.
	dev, err := device.Open("auto") // a GPU if there is one
	if err != nil {
		return err
	}
	q, err := dev.NewQueue(ctx)
	if err != nil {
		return err
	}
	defer q.Close()
	vk, pk, err := prover.Setup(q, program, weights, nil)
	if err != nil {
		return err
	}

	// For every input: an answer with its proof.
	x, err := quant.QuantizeInput(program, input)
	if err != nil {
		return err
	}
	result, err := prover.Prove(q, pk, x, nil)
	if err != nil {
		return err
	}

	// The other side has vk, x, the answer and the proof; nothing secret, no device.
	if err := zkml.Verify(vk, x, result.Y, result.Proof, nil); err != nil {
		return fmt.Errorf("do not believe it: %w", err)
	}
	answer, err := program.Answer(result.Y)
	if err != nil {
		return err
	}
	fmt.Printf("%d scores, verified; proof of %d bytes\n", len(answer.Values), len(result.Proof))
	return nil
}

package quant_test

import (
	"fmt"

	"github.com/zkwarp/zkwarp/examples/digits"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
	"github.com/zkwarp/zkwarp/zkml/quant"
)

// From an ONNX file and sample inputs to an answer computed in integers.
func Example() {
	model, err := onnx.Parse(digits.Model, onnx.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	samples, err := digits.Samples()
	if err != nil {
		fmt.Println(err)
		return
	}
	calibration, _, err := quant.Calibrate(model, samples[:32], quant.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	program, weights, err := quant.Build(model, calibration)
	if err != nil {
		fmt.Println(err)
		return
	}
	test, labels, err := digits.Test()
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := quant.QuantizeInput(program, test[0].Values())
	if err != nil {
		fmt.Println(err)
		return
	}
	y, err := graph.Output(program, weights, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("right:", int(graph.ArgMax(y, []int{1, 10}, 1, false)[0]) == labels[0])
	// Output: right: true
}

package prover_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/matrix"
	"github.com/zkwarp/zkwarp/matrix/prover"
)

// A layer's 2 inputs of 3 values times its weights, of which there is a row for
// each of 2 outputs, so that the right factor is stored transposed; then ReLU.
func Example() {
	dev, err := device.Open("cpu") // "auto" takes a GPU if there is one
	if err != nil {
		fmt.Println(err)
		return
	}
	q, err := dev.NewQueue(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer q.Close()
	s := matrix.Shape{M: 2, K: 3, N: 2, Transposed: true}
	x, err1 := device.Upload(q, []m31.Element{1, 2, 3, 4, 5, 6})
	w, err2 := device.Upload(q, []int8{1, 0, 2, -1, -1, -1})
	y, err3 := device.Alloc[m31.Element](q, s.M*s.N)
	if err := errors.Join(err1, err2, err3); err != nil {
		fmt.Println(err)
		return
	}
	if err := errors.Join(prover.Mul(q, y, x, w, s), prover.ReLU(q, y, y)); err != nil {
		fmt.Println(err)
		return
	}
	got, err := y.Read(q) // waits for the device
	fmt.Println(got, err)

	err = prover.Mul(q, y, x, w.Slice(0, 5), s)
	fmt.Println(errors.Is(err, matrix.ErrShape), err)
	// Output:
	// [7 0 16 0] <nil>
	// true matrix: multiply: bad device call: shape mismatch: right factor of 2 x 3 by 3 x 2 has 5 entries, want 6
}

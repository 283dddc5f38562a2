package device_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
)

// Data lies in buffers and work is ordered on a queue. On the CPU both are plain
// memory and plain calls; on a GPU only Read waits.
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
	a, err := device.Upload(q, []uint32{1, 2, 3, 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Free()
	if err := a.Slice(2, 4).Fill(q, 7); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Read(q))
	fmt.Println(errors.Is(a.CopyTo(q, make([]uint32, 3)), device.ErrUsage))
	// Output:
	// [1 2 7 7] <nil>
	// true
}

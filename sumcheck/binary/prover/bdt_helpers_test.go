package prover

import (
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
)

func launch(t *testing.T, q *device.Queue, s *kernel.Source, name string, grid device.Dim, threads, shared int, args ...device.Arg) {
	t.Helper()
	if err := q.Launch(device.Kernel{Source: s, Name: name}, grid, device.D1(threads), shared, args...); err != nil {
		t.Fatal(err)
	}
}

func read[T any](t *testing.T, q *device.Queue, b device.Buffer[T]) []T {
	t.Helper()
	v, err := b.Read(q)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

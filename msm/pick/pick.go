// Package pick moves elements of lists that lie on a device by lists of their indices:
// the scalars or the points of some places of a longer list.
package pick

import (
	_ "embed" // kernel sources
	"fmt"
	"unsafe"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
)

//go:embed pick.cu
var text string

var source = &kernel.Source{Name: "msm/pick/pick.cu", Text: text, Headers: []*kernel.Source{kernel.PTX}}

// Sources are the package's translation units.
func Sources() []*kernel.Source { return []*kernel.Source{source} }

const (
	threads = 256
	unit    = 16 // bytes that a thread moves
)

// From sets out[i] = from[index[i]]. Elements are whole 16-byte words, and begin at
// multiples of those; indices must be below from's length, which is not looked at on a GPU.
func From[T any](q *device.Queue, out, from device.Buffer[T], index device.Buffer[uint32]) error {
	if err := check(q, "pick from a list", out.Len(), out, from, index); err != nil {
		return err
	}
	if q.OnHost() {
		to, src, at := out.Host(), from.Host(), index.Host()
		return q.Parallel(len(at), 1<<12, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				to[i] = src[at[i]]
			}
		})
	}
	return launch[T](q, "pick_from", out, from, index)
}

// To sets out[index[i]] = from[i], and leaves the rest of out as it is; no index comes
// twice. It asks for what From does, of out in place of from.
func To[T any](q *device.Queue, out, from device.Buffer[T], index device.Buffer[uint32]) error {
	if err := check(q, "pick to a list", from.Len(), out, from, index); err != nil {
		return err
	}
	if q.OnHost() {
		to, src, at := out.Host(), from.Host(), index.Host()
		return q.Parallel(len(at), 1<<12, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				to[at[i]] = src[i]
			}
		})
	}
	return launch[T](q, "pick_to", out, from, index)
}

func check[T any](q *device.Queue, op string, n int, out, from device.Buffer[T], index device.Buffer[uint32]) error {
	var z T
	size := int(unsafe.Sizeof(z))
	if n != index.Len() || size%unit != 0 || size > threads*unit || device.Overlap(out, from) || out.Address()%unit != 0 || from.Address()%unit != 0 {
		return fmt.Errorf("pick: %s: %w: %d elements of %d bytes for %d indices, at %#x and %#x", op, device.ErrUsage, n, size, index.Len(), out.Address(), from.Address())
	}
	for _, err := range []error{out.Use(q), from.Use(q), index.Use(q)} {
		if err != nil {
			return fmt.Errorf("pick: %s: %w", op, err)
		}
	}
	return nil
}

func launch[T any](q *device.Queue, name string, out, from device.Buffer[T], index device.Buffer[uint32]) error {
	n := index.Len()
	if n == 0 {
		return nil
	}
	var z T
	units := int(unsafe.Sizeof(z)) / unit
	rows := threads / units
	return q.Launch(device.Kernel{Source: source, Name: name}, device.D1(device.Blocks(n, rows)), device.D2(units, rows), 0,
		out.Arg(), from.Arg(), index.Arg(), device.U32(n))
}

package prover

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
)

//go:embed mle.cu
var text string

// Source is the package's kernels.
var Source = &kernel.Source{Name: "mle/prover/mle.cu", Text: text, Headers: []*kernel.Source{kernel.PTX, m31.Header}}

const (
	threads = 256
	// maxSplits bounds the partial sums that one block adds up at the end.
	maxSplits = 512
	// eqLow is how many variables mle_eq_parts tabulates at most at the end.
	eqLow = 10
)

// named is the kernel of that name for tables of T.
func named[T Entry](name string) device.Kernel {
	var z T
	if _, ok := any(z).(m31.QM31); ok {
		return device.Kernel{Source: Source, Name: name + "_ext"}
	}
	return device.Kernel{Source: Source, Name: name + "_base"}
}

func launchEq(q *device.Queue, out, point, scale device.Buffer[m31.QM31], add int) error {
	n := point.Len()
	if n <= eqLow && scale.Len() == 0 && add == 0 {
		return q.Launch(device.Kernel{Source: Source, Name: "mle_eq_parts"}, device.D1(1), device.D1(threads), 0,
			out.Arg(), device.Null(), point.Arg(), device.Null(), device.U32(n), device.U32(n))
	}
	low := min(n, eqLow)
	parts, err := device.Alloc[m31.QM31](q, 1<<low+1<<(n-low))
	if err != nil {
		return err
	}
	defer parts.Free()
	inner, outer := parts.Slice(0, 1<<low), parts.Slice(1<<low, parts.Len())
	err = q.Launch(device.Kernel{Source: Source, Name: "mle_eq_parts"}, device.D1(2), device.D1(threads), 0,
		inner.Arg(), outer.Arg(), point.Arg(), scale.Arg(), device.U32(n), device.U32(low))
	if err != nil {
		return err
	}
	return q.Launch(device.Kernel{Source: Source, Name: "mle_outer"}, device.D1(device.Blocks(out.Len(), threads)), device.D1(threads), 0,
		out.Arg(), inner.Arg(), outer.Arg(), device.U32(low), device.U64(out.Len()), device.U32(add))
}

func launchFold[T Entry](q *device.Queue, dst device.Buffer[m31.QM31], table device.Buffer[T], r device.Buffer[m31.QM31]) error {
	h := dst.Len()
	return q.Launch(named[T]("mle_fold"), device.D1(device.Blocks(h, threads)), device.D1(threads), 0,
		dst.Arg(), table.Arg(), r.Arg(), device.U64(h))
}

func launchDot[T Entry](q *device.Queue, out device.Buffer[m31.QM31], a device.Buffer[T], w device.Buffer[m31.QM31]) error {
	blocks := min(maxSplits, device.Blocks(a.Len(), 4*threads))
	parts, err := device.Alloc[m31.QM31](q, blocks)
	if err != nil {
		return err
	}
	defer parts.Free()
	err = q.Launch(named[T]("mle_dot"), device.D1(blocks), device.D1(threads), 0,
		parts.Arg(), a.Arg(), w.Arg(), device.U64(a.Len()))
	if err != nil {
		return err
	}
	return launchSum(q, out, parts, blocks)
}

// launchSum adds up splits vectors of out's length that follow each other.
func launchSum(q *device.Queue, out, parts device.Buffer[m31.QM31], splits int) error {
	return q.Launch(device.Kernel{Source: Source, Name: "mle_sum"}, device.D1(device.Blocks(out.Len(), threads/32)), device.D1(threads), 0,
		out.Arg(), parts.Arg(), device.U32(splits), device.U32(out.Len()))
}

func launchRows[T Entry](q *device.Queue, out device.Buffer[m31.QM31], a device.Buffer[T], rows, cols int, w device.Buffer[m31.QM31]) error {
	across := device.Blocks(cols, threads)
	// Enough splits of the rows to fill a card, of 16 rows at least.
	splits := max(1, min(maxSplits, (rows+15)/16, 2048/across))
	parts := out
	if splits > 1 {
		var err error
		if parts, err = device.Alloc[m31.QM31](q, splits*cols); err != nil {
			return err
		}
		defer parts.Free()
	}
	err := q.Launch(named[T]("mle_rows"), device.D2(across, splits), device.D1(threads), 0,
		parts.Arg(), a.Arg(), w.Arg(), device.U32(rows), device.U32(cols))
	if err != nil || splits == 1 {
		return err
	}
	return launchSum(q, out, parts, splits)
}

func launchCols[T Entry](q *device.Queue, out device.Buffer[m31.QM31], a device.Buffer[T], rows, cols int, w device.Buffer[m31.QM31]) error {
	return q.Launch(named[T]("mle_cols"), device.D1(device.Blocks(rows, threads/32)), device.D1(threads), 0,
		out.Arg(), a.Arg(), w.Arg(), device.U32(rows), device.U32(cols), device.U64(a.Len()))
}

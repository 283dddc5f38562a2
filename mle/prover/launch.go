package prover

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
)

//go:embed mle.cu
var text string

//go:embed restrict.cu
var restrictText string

//go:embed weights.cuh
var weightsText string

var weightsHeader = &kernel.Source{Name: "mle/prover/weights.cuh", Text: weightsText, Headers: []*kernel.Source{kernel.PTX, m31.Header}}

// Source is the kernels for tables, RestrictSource those that restrict matrices.
var (
	Source = &kernel.Source{Name: "mle/prover/mle.cu", Text: text,
		Headers: []*kernel.Source{kernel.PTX, m31.Header, weightsHeader}}
	RestrictSource = &kernel.Source{Name: "mle/prover/restrict.cu", Text: restrictText,
		Headers: []*kernel.Source{kernel.PTX, m31.Header, weightsHeader}}
)

const (
	threads = 256
	// maxSplits bounds the partial sums that one block adds up at the end.
	maxSplits = 512
)

// named is the kernel of that name for tables of T.
func named[T Entry](name string) device.Kernel {
	var z T
	if _, ok := any(z).(m31.QM31); ok {
		return device.Kernel{Source: Source, Name: name + "_ext"}
	}
	return device.Kernel{Source: Source, Name: name + "_base"}
}

func flag(on bool) uint64 {
	if on {
		return 1
	}
	return 0
}

// eqEach is how many entries of a table of eq a thread makes: few where there
// are few threads, and enough to pay for what a block does once where there are
// many.
func eqEach(entries int) int {
	switch {
	case entries <= 1<<19:
		return 4
	case entries <= 1<<22:
		return 16
	}
	return 32
}

func launchEq(q *device.Queue, t EqTable) error {
	each := eqEach(t.Out.Len())
	return q.Launch(device.Kernel{Source: Source, Name: "mle_eq"}, device.D1(device.Blocks(t.Out.Len(), each*threads)), device.D1(threads), 0,
		t.Out.Arg(), t.Point.Arg(), t.Scale.Arg(), device.U32(t.Point.Len()), device.U32(uint32(flag(t.Add))), device.U32(each))
}

func launchEqTables(q *device.Queue, tables []EqTable) error {
	const words = 7 // of an mle_eq_job
	jobs := make([]uint64, 0, words*len(tables))
	tiles := 0
	for _, t := range tables {
		each := eqEach(t.Out.Len())
		jobs = append(jobs, t.Out.Address(), t.Point.Address(), t.Scale.Address(), uint64(t.Point.Len()), flag(t.Add), uint64(each), uint64(tiles))
		tiles += device.Blocks(t.Out.Len(), each*threads)
	}
	b, err := device.Upload(q, jobs)
	if err != nil {
		return err
	}
	defer b.Free()
	return q.Launch(device.Kernel{Source: Source, Name: "mle_eq_tables"}, device.D1(tiles), device.D1(threads), 0,
		b.Arg(), device.U32(len(tables)))
}

func launchFoldM31(q *device.Queue, dst, table, r device.Buffer[m31.Element]) error {
	h := dst.Len()
	aligned := (dst.Address()|table.Address())%16 == 0 && h%4 == 0
	return q.Launch(device.Kernel{Source: Source, Name: "mle_fold_words"}, device.D1(device.Blocks(h, 4*threads)), device.D1(threads), 0,
		dst.Arg(), table.Arg(), r.Arg(), device.U64(h), device.U32(uint32(flag(aligned))))
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

func launchRowsExt(q *device.Queue, out, a device.Buffer[m31.QM31], rows, cols int, w device.Buffer[m31.QM31]) error {
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
	err := q.Launch(device.Kernel{Source: Source, Name: "mle_rows_ext"}, device.D2(across, splits), device.D1(threads), 0,
		parts.Arg(), a.Arg(), w.Arg(), device.U32(rows), device.U32(cols))
	if err != nil || splits == 1 {
		return err
	}
	return launchSum(q, out, parts, splits)
}

func launchColsExt(q *device.Queue, out, a device.Buffer[m31.QM31], rows, cols int, w device.Buffer[m31.QM31]) error {
	return q.Launch(device.Kernel{Source: Source, Name: "mle_cols_ext"}, device.D1(device.Blocks(rows, threads/32)), device.D1(threads), 0,
		out.Arg(), a.Arg(), w.Arg(), device.U32(rows), device.U32(cols), device.U64(a.Len()))
}

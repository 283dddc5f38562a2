package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	transcript "github.com/zkwarp/zkwarp/transcript/prover"
)

// maxLinear is how many variables a table may have that is proved from its row
// sums: two tails have half of them each.
const maxLinear = 28

// linear is the sum of one table, whose first rounds are those of the sums of its
// rows. The rows are then bound by all of these challenges at once, and the rest
// is the tail of what is left.
type linear struct {
	q    *device.Queue
	tr   *transcript.Transcript
	in   Instance
	out  Output
	rows int // variables of a row's index
	cols int // variables of an entry's index in its row

	sums        device.Buffer[m31.QM31] // of the rows
	left        device.Buffer[uint64]   // the rows bound: four sums an entry
	tail        device.Buffer[m31.QM31] // the tails' memory, if not shared
	shared      int                     // bytes of it if it is
	first, last device.Buffer[uint64]   // batchDesc of the rounds on rows, and of those after
	memory      []device.Buffer[uint64]
}

// isLinear says whether the batch is the plain sum of one table that is large enough.
func (l limits) isLinear(instances []Instance) bool {
	if len(instances) != 1 {
		return false
	}
	in := instances[0]
	return kernels(in) == productKernels[0][0] && in.Tables[0].stride() == 1 && in.Vars >= max(2, l.linear) && in.Vars <= maxLinear
}

func (b *linear) free() {
	for _, buf := range b.memory {
		buf.Free()
	}
}

// alloc is memory until the run ends.
func (b *linear) alloc(words int) (device.Buffer[uint64], error) {
	buf, err := device.Alloc[uint64](b.q, words)
	b.memory = append(b.memory, buf)
	return buf, err
}

func newLinear(q *device.Queue, tr *transcript.Transcript, in Instance, out Output) (*linear, error) {
	b := &linear{q: q, tr: tr, in: in, out: out, rows: in.Vars / 2}
	b.cols = in.Vars - b.rows
	tail := 1 << b.cols
	if limit := q.Device().Info().SharedPerBlock - staticShared; 16*tail <= limit {
		b.shared, tail = 16*tail, 0
	}
	// The late sums of both batches, the second's zero; all sums of the grids, which
	// begin_batch clears; a counter; one weight.
	const state = 2*lateWords + sumWords + 2 + 2
	all, err := b.alloc(2<<b.rows + 4<<b.cols + 2*tail + state)
	if err != nil {
		b.free()
		return nil, err
	}
	take := func(words int) (t device.Buffer[uint64]) {
		t, all = all.Slice(0, words), all.Slice(words, all.Len())
		return t
	}
	// What the rows are bound into follows the second batch's late sums, so that
	// one range is cleared.
	late := take(lateWords)
	b.left = take(4 << b.cols)
	b.sums, b.tail = device.View[m31.QM31](take(2<<b.rows)), device.View[m31.QM31](take(2*tail))
	desc := batchDesc{
		Weights: take(2).Address(), Late: take(lateWords).Address(), Sums: take(sumWords).Address(), Counter: take(2).Address(),
		Rounds: out.Rounds.Address(), Point: out.Point.Address(), Count: 1, TableCount: 1, Claims: 1, N: uint64(b.rows), D: 1,
	}
	table := tableDesc{Source: b.sums.Address(), Kind: 1, Stride: 1, Vars: uint64(b.rows)}
	instance := instanceDesc{Vars: uint64(b.rows), Factors: 1, Degree: 1, Kind: 1, Terms: 1}
	next := desc
	next.Late, next.Evals, next.EvalCount, next.N = late.Address(), out.Evals.Address(), 1, uint64(in.Vars)
	left := tableDesc{Source: b.left.Address(), Kind: 2, Stride: 1, Vars: uint64(b.cols)}
	rest := instance
	rest.Vars = uint64(b.cols)

	size := len(words([]batchDesc{desc})) + len(words([]tableDesc{table})) + len(words([]instanceDesc{instance}))
	descs, err := b.alloc(2 * size)
	if err != nil {
		b.free()
		return nil, err
	}
	var host []uint64
	for i, d := range []struct {
		batchDesc
		tableDesc
		instanceDesc
	}{{desc, table, instance}, {next, left, rest}} {
		at := descs.Slice(i*size, (i+1)*size)
		tables := at.Slice(len(words([]batchDesc{desc})), size)
		instances := tables.Slice(len(words([]tableDesc{table})), tables.Len())
		d.batchDesc.Tables, d.Instances = tables.Address(), instances.Address()
		host = append(host, words([]batchDesc{d.batchDesc})...)
		host = append(host, words([]tableDesc{d.tableDesc})...)
		host = append(host, words([]instanceDesc{d.instanceDesc})...)
	}
	b.first, b.last = descs.Slice(0, size), descs.Slice(size, 2*size)
	if err := descs.CopyFrom(q, host); err != nil {
		b.free()
		return nil, err
	}
	return b, nil
}

// kernel is the one of that name for the table's kind.
func (b *linear) kernel(name string) (device.Kernel, device.Arg) {
	if t := b.in.Tables[0]; t.Base.Len() == 0 {
		return device.Kernel{Source: linearSource, Name: name + "_ext"}, t.Ext.Arg()
	}
	return device.Kernel{Source: linearSource, Name: name + "_base"}, b.in.Tables[0].Base.Arg()
}

// start sums the rows and does their rounds.
func (b *linear) start(values device.Buffer[m31.QM31]) error {
	k, table := b.kernel("sumcheck_row_sums")
	clear := b.memory[0].Slice(0, lateWords+b.left.Len())
	if err := b.q.Launch(k, device.D1(1<<b.rows), device.D1(linearThreads), 0,
		b.sums.Arg(), table, clear.Arg(), device.U64(clear.Len()), device.U32(b.cols)); err != nil {
		return err
	}
	return b.runTail(b.first, values, 0)
}

// round binds the rows and does all other rounds.
func (b *linear) round(int) (next int, err error) {
	k, table := b.kernel("sumcheck_bind_rows")
	share := min(6, b.rows) // rows of a block
	if err := b.q.Launch(k, device.D2(device.Blocks(1<<b.cols, linearThreads), 1<<(b.rows-share)), device.D1(linearThreads), 0,
		b.left.Arg(), table, b.out.Point.Arg(), device.U32(b.rows), device.U32(b.cols), device.U32(share)); err != nil {
		return 0, err
	}
	return b.in.Vars, b.runTail(b.last, device.Buffer[m31.QM31]{}, b.rows)
}

func (b *linear) runTail(batch device.Buffer[uint64], values device.Buffer[m31.QM31], first int) error {
	return b.q.Launch(builtInTail, device.D1(1), device.D1(tailThreads), b.shared,
		b.tr.State().Arg(), batch.Arg(), values.Arg(), b.tail.Arg(), device.U32(first), device.U32(0))
}

func (b *linear) finish() error { return nil }

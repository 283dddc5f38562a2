package prover

import (
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	transcript "github.com/zkwarp/zkwarp/transcript/prover"
)

const (
	eqThreads     = 256
	linearThreads = 256
	// staticShared is room for the static shared memory of sumcheck_tail.
	staticShared = 8 << 10
	// tailThreads of the block that does the last rounds.
	tailThreads = 384
	// tailEntries is the number of entries of all tables from which on one block
	// does all remaining rounds: it then takes about as long as the launches that
	// it saves.
	tailEntries = 4096
	// linearVars is the number of variables from which on the sum of one table
	// takes longer by passes than from its row sums.
	linearVars = 15
)

// usual are the limits for a device.
func usual(q *device.Queue) limits {
	return limits{window: maxWindow, tail: tailEntries, linear: linearVars, units: q.Device().Info().Units}
}

// onDevice is a batch whose data and state are on a GPU (or the emulator). Its
// kernels absorb and draw challenges themselves.
type onDevice struct {
	q  *device.Queue
	tr *transcript.Transcript
	*layout
	done     int // passes
	launched int // launches of passes
}

func newOnDevice(q *device.Queue, tr *transcript.Transcript, instances []Instance, n, d int, out Output, lim limits, c *course) (*onDevice, error) {
	instances, values, err := prepareExprs(q, instances)
	if err != nil {
		return nil, err
	}
	l, err := newLayout(q, instances, n, d, out, lim, c)
	l.memory = append(l.memory, values)
	if err != nil {
		l.Free()
		return nil, err
	}
	return &onDevice{q: q, tr: tr, layout: l}, nil
}

func (b *onDevice) free() { b.layout.Free() }

func (b *onDevice) launch(name string, grid device.Dim, threads int, args ...device.Arg) error {
	return b.q.Launch(device.Kernel{Source: Source, Name: name}, grid, device.D1(threads), 0, args...)
}

// start makes eq tables and begins the batch, unless the tail is all there is.
func (b *onDevice) start(values device.Buffer[m31.QM31]) error {
	if b.eqs > 0 {
		if err := b.launch("sumcheck_eq", device.D2(len(b.order), 2), eqThreads, b.batch.Arg()); err != nil {
			return err
		}
	}
	if b.tail == 0 && b.n > 0 {
		return b.runTail(values)
	}
	return b.launch("sumcheck_begin", device.D1(1), tailThreads, b.tr.State().Arg(), b.batch.Arg(), values.Arg())
}

func (b *onDevice) round(i int) (next int, err error) {
	if i == b.tail {
		if i == 0 {
			return b.n, nil // start has done it
		}
		return b.n, b.runTail(device.Buffer[m31.QM31]{})
	}
	p := &b.passes[b.done]
	b.done++
	for _, l := range p.launches {
		groups := b.groups[b.launched]
		b.launched++
		err := b.q.Launch(device.Kernel{Source: l.set.source, Name: l.name}, device.D1(l.blocks), device.D1(threads), 0,
			b.tr.State().Arg(), b.batch.Arg(), groups.Arg(), device.U32(len(l.groups)), device.U32(l.chunks),
			device.U32(p.round), device.U32(p.window), device.U32(p.classes), device.U32(p.blocks()))
		if err != nil {
			return i, err
		}
	}
	return i + p.window, nil
}

// runTail does the rounds from the tail on and the evaluations in one launch.
func (b *onDevice) runTail(values device.Buffer[m31.QM31]) error {
	return b.q.Launch(b.tailKernel, device.D1(1), device.D1(tailThreads), b.shared,
		b.tr.State().Arg(), b.batch.Arg(), values.Arg(), b.memoryOfTail.Arg(), device.U32(b.tail), device.U32(b.pending))
}

// finish leaves the evaluations; the tail has done so where there was one.
func (b *onDevice) finish() error {
	if b.tail < b.n {
		return nil
	}
	return b.launch("sumcheck_evals", device.D1(1), tailThreads, b.tr.State().Arg(), b.batch.Arg(), device.U32(b.pending))
}

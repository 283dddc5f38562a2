package prover

import (
	_ "embed"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
	transcript "github.com/zkwarp/zkwarp/transcript/prover"
)

//go:embed sumcheck.cu
var text string

//go:embed round.cuh
var roundText string

// RoundHeader is round.cuh, for kernels that do rounds of a sum-check of their
// own.
var RoundHeader = &kernel.Source{
	Name:    "sumcheck/prover/round.cuh",
	Text:    roundText,
	Headers: []*kernel.Source{m31.Header, transcript.Header},
}

// Source is the package's kernels.
var Source = &kernel.Source{
	Name:    "sumcheck/prover/sumcheck.cu",
	Text:    text,
	Headers: []*kernel.Source{kernel.PTX, m31.Header, RoundHeader},
}

const (
	threads = 256
	// maxBlocks is about how many blocks a launch for all instances has; each
	// leaves partial sums that one block adds up.
	maxBlocks = 2048
	// tailEntries is the number of entries of all tables' halves from which on
	// one block does all remaining rounds: it then takes about as long as the
	// launches that it saves.
	tailEntries = 4096
)

// onDevice is a batch whose data and state are on a GPU (or the emulator). Its
// kernels absorb and draw challenges themselves.
type onDevice struct {
	q  *device.Queue
	tr *transcript.Transcript
	*layout
	out    Output
	sums   device.Buffer[m31.QM31]
	state  device.Buffer[m31.QM31]
	memory []interface{ Free() }
}

func (b *onDevice) free() {
	for _, buf := range b.memory {
		buf.Free()
	}
}

func newOnDevice(q *device.Queue, tr *transcript.Transcript, instances []Instance, n, d int, out Output) (*onDevice, error) {
	b := &onDevice{q: q, tr: tr, out: out}
	l, err := newLayout(q, instances, n, d)
	b.layout, b.memory = l, append(b.memory, l)
	if err != nil {
		b.free()
		return nil, err
	}
	most := 0
	for i := range n {
		active := b.active(i)
		most = max(most, active*b.blocks(i, active))
	}
	all, err := device.Alloc[m31.QM31](q, stateElements*len(instances)+3*most)
	b.memory = append(b.memory, all)
	if err != nil {
		b.free()
		return nil, err
	}
	b.state, b.sums = all.Slice(0, stateElements*len(instances)), all.Slice(stateElements*len(instances), all.Len())
	return b, nil
}

// blocks is the number of blocks for each of count items in round i, whose
// largest tables have halves of 2^(n-1-i) entries.
func (b *onDevice) blocks(i, count int) int {
	return max(1, min(device.Blocks(1<<(b.n-1-i), threads), maxBlocks/count))
}

func (b *onDevice) launch(name string, grid device.Dim, args ...device.Arg) error {
	return b.q.Launch(device.Kernel{Source: Source, Name: name}, grid, device.D1(threads), 0, args...)
}

func (b *onDevice) start(values device.Buffer[m31.QM31]) error {
	return b.launch("sumcheck_start", device.D1(1), b.tr.State().Arg(), b.state.Arg(), values.Arg(), device.U32(b.count))
}

func (b *onDevice) round(i int) (next int, err error) {
	if b.entries(i) <= tailEntries {
		return b.n, b.tail(i)
	}
	active := b.active(i)
	blocks := b.blocks(i, active)
	err = b.launch("sumcheck_sums", device.D2(blocks, active),
		b.sums.Arg(), b.instances.Arg(), b.tables.Arg(), b.terms.Arg(), device.U32(i), device.U32(b.n))
	if err != nil {
		return i, err
	}
	err = b.launch("sumcheck_message", device.D1(1),
		b.tr.State().Arg(), b.out.Rounds.Slice(i*b.d, (i+1)*b.d).Arg(), b.state.Arg(), b.sums.Arg(), b.instances.Arg(), b.out.Point.Arg(),
		device.U32(b.count), device.U32(blocks), device.U32(i), device.U32(b.n), device.U32(b.d))
	if err != nil {
		return i, err
	}
	folding := b.folding(i)
	return i + 1, b.launch("sumcheck_fold", device.D2(b.blocks(i, folding), folding),
		b.tables.Arg(), b.out.Point.Slice(i, i+1).Arg(), device.U32(i), device.U32(b.n))
}

// tail does the rounds from i on and the evaluations in one launch.
func (b *onDevice) tail(i int) error {
	return b.launch("sumcheck_tail", device.D1(1),
		b.tr.State().Arg(), b.out.Rounds.Arg(), b.out.Evals.Arg(), b.out.Point.Arg(), b.state.Arg(), b.sums.Arg(),
		b.instances.Arg(), b.tables.Arg(), b.terms.Arg(), device.U32(b.count), device.U32(b.tables.Len()), device.U32(b.out.Evals.Len()),
		device.U32(i), device.U32(b.n), device.U32(b.d))
}

// finish leaves the evaluations; the tail has done so where there was one.
func (b *onDevice) finish() error {
	if b.n > 0 && b.entries(b.n-1) <= tailEntries {
		return nil
	}
	return b.launch("sumcheck_evals", device.D1(1),
		b.tr.State().Arg(), b.out.Evals.Arg(), b.tables.Arg(), device.U32(b.tables.Len()), device.U32(b.out.Evals.Len()))
}

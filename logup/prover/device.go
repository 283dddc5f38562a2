package prover

import (
	_ "embed"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/m31"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	transcript "github.com/zkwarp/zkwarp/transcript/prover"
)

//go:embed layer.cuh
var layerText string

//go:embed logup.cu
var text string

//go:embed tail.cu
var tailText string

var layerHeader = &kernel.Source{
	Name:    "logup/prover/layer.cuh",
	Text:    layerText,
	Headers: []*kernel.Source{sumprover.RoundHeader},
}

// Source and TailSource are the package's kernels: those for layers that fill
// the device, and the one for what one block does.
var (
	Source     = &kernel.Source{Name: "logup/prover/logup.cu", Text: text, Headers: []*kernel.Source{layerHeader}}
	TailSource = &kernel.Source{Name: "logup/prover/tail.cu", Text: tailText, Headers: []*kernel.Source{layerHeader}}
)

const (
	threads     = 256
	tailThreads = 512
	// stateElements is the kernels' State, rounded up.
	stateElements = 7
	// treeLevels is the most levels that one launch adds up.
	treeLevels = 3
)

// sizes say which part of the work is for one block; tests vary them.
type sizes struct {
	// tailVars is how many variables a layer may have left for one block to do
	// its remaining rounds, 1 to 11. A pair of a layer's nodes takes 80 bytes of
	// the block's memory.
	tailVars int
	// blocks is the most blocks that share a round; a thread takes up to
	// 2^(tailVars-8) pairs at once.
	blocks int
}

var defaultSizes = sizes{tailVars: 10, blocks: 528}

// Kinds of numerators are numbered as in layer.cuh; kernels have these suffixes.
const (
	kindExt  = iota
	kindBase // null for ones
)

var kinds = [...]string{kindExt: "ext", kindBase: "base"}

// tables are the numerators and denominators of a layer as kernels read them.
type tables struct {
	kind int
	num  device.Buffer[m31.Element]
	den  device.Buffer[m31.QM31]
}

// onDevice is one proof on a GPU or on the emulator. Everything is enqueued
// without waiting.
type onDevice struct {
	sizes
	q      *device.Queue
	tr     *transcript.Transcript
	n      int
	leaves tables

	words, points device.Buffer[m31.QM31]
	// tree holds layers 0 to n-1: layer k's numerators, then its denominators,
	// begin at element 2^(k+1). Once layer k is proved, layer k+1 is folded where
	// it is; the leaves are folded into what layer n-1 was.
	tree device.Buffer[m31.QM31]
	// state is the kernels' State, low a table of eq, inverse 1/z and (1-z)/z
	// for the point's coordinates, partials the sums of blocks.
	state, low, inverse, partials device.Buffer[m31.QM31]
}

// run enqueues the whole proof.
func (d *onDevice) run(r *buffers, l Leaves) error {
	d.leaves = tables{kindBase, l.Base, l.Den}
	if l.Ext.Len() > 0 {
		d.leaves = tables{kindExt, device.View[m31.Element](l.Ext), l.Den}
	}
	var err error
	if d.tree, err = alloc[m31.QM31](r, 2<<d.n); err != nil {
		return fmt.Errorf("logup: tree: %w", err)
	}
	low := 1 << d.tailVars
	small, err := alloc[m31.QM31](r, stateElements+low+2*d.n+2*d.blocks)
	if err != nil {
		return fmt.Errorf("logup: working memory: %w", err)
	}
	take := func(n int) (b device.Buffer[m31.QM31]) {
		b, small = small.Slice(0, n), small.Slice(n, small.Len())
		return b
	}
	d.state, d.low, d.inverse, d.partials = take(stateElements), take(low), take(2*d.n), take(2*d.blocks)

	top, err := d.build()
	if err != nil {
		return fmt.Errorf("logup: tree: %w", err)
	}
	end := min(d.n, d.tailVars+1)
	if err := d.tail(d.leaves, top, 0, end, 0); err != nil {
		return fmt.Errorf("logup: small layers: %w", err)
	}
	for k := end; k < d.n; k++ {
		if err := d.layer(k); err != nil {
			return fmt.Errorf("logup: layer %d: %w", k, err)
		}
	}
	return nil
}

// nodes are layer k's tables.
func (d *onDevice) nodes(k int) tables {
	if k == d.n {
		return d.leaves
	}
	t := d.tree.Slice(2<<k, 4<<k)
	return tables{kindExt, device.View[m31.Element](t.Slice(0, 1<<k)), t.Slice(1<<k, 2<<k)}
}

// build adds the tree up to the layer that one block can take on, which it
// returns.
func (d *onDevice) build() (int, error) {
	m := d.n
	for m > d.tailVars+1 {
		levels := min(treeLevels, m-d.tailVars-1)
		t := d.nodes(m)
		// A warp sums 64 pairs.
		blocks := device.Blocks(1<<(m-1), 2*threads)
		err := d.launch("logup_tree_"+kinds[t.kind], blocks, d.tree.Arg(), t.num.Arg(), t.den.Arg(), device.U32(m), device.U32(levels))
		if err != nil {
			return m, err
		}
		m -= levels
	}
	return m, nil
}

func (d *onDevice) launch(name string, blocks int, args ...device.Arg) error {
	return d.q.Launch(device.Kernel{Source: Source, Name: name}, device.D1(blocks), device.D1(threads), 0, args...)
}

// tail does layers layer to end-1 in one block, the first of them from a round on.
func (d *onDevice) tail(t tables, top, layer, end, round int) error {
	shared := 5 * 16 << d.tailVars
	return d.q.Launch(device.Kernel{Source: TailSource, Name: "logup_tail"}, device.D1(1), device.D1(tailThreads), shared,
		d.tr.State().Arg(), d.state.Arg(), d.words.Arg(), d.points.Arg(), d.tree.Arg(), t.num.Arg(), t.den.Arg(), d.low.Arg(), d.inverse.Arg(),
		device.U32(t.kind), device.U32(d.n), device.U32(top), device.U32(layer), device.U32(end), device.U32(round), device.U32(d.tailVars))
}

// layer proves layer k, larger than one block takes on: a launch a round until
// tailVars variables are left.
func (d *onDevice) layer(k int) error {
	t, last := d.nodes(k+1), k-d.tailVars
	folded := t
	if k+1 == d.n {
		folded = d.nodes(k)
	}
	words, point := d.words.Slice(words(k), words(k+1)), d.points.Slice(points(k), points(k+1))
	z := d.points.Slice(points(k-1), points(k))
	for i := range last {
		half := k - 1 - i // pairs of the round, log 2
		// A small round is spread over many multiprocessors, a warp's worth each;
		// a large one keeps a block's threads busy for several pairs.
		unit := min(d.tailVars, half)
		for unit > 5 && 1<<(half-unit) < 128 || unit > 8 && 1<<(half-unit) < d.blocks/4 {
			unit--
		}
		args := []device.Arg{
			d.tr.State().Arg(), d.state.Arg(), words.Slice(3*i, 3*i+3).Arg(), point.Arg(), z.Arg(), d.inverse.Arg(), d.low.Arg(), d.partials.Arg(),
			device.U32(i), device.U32(k), device.U32(d.tailVars), device.U32(unit), t.num.Arg(), t.den.Arg(),
		}
		name := "logup_first_" + kinds[t.kind]
		if i > 0 {
			name = "logup_next_" + kinds[t.kind]
			args = append(args, folded.num.Arg(), folded.den.Arg())
			t = folded
		}
		if err := d.launch(name, min(1<<(half-unit), d.blocks), args...); err != nil {
			return err
		}
	}
	return d.tail(t, 0, k, k+1, last)
}

// words and points say where layer k's messages and its point begin.
func words(k int) int  { return 2 + 3*k*(k-1)/2 + 4*k }
func points(k int) int { return k * (k + 1) / 2 }

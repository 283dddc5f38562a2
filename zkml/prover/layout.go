package prover

import (
	"fmt"

	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// layout says where everything that a proof needs lies in device memory. It
// follows from the plan, so kernels' descriptors, which are made of it, are as
// much part of a key as its weights are: proofs upload nothing but their input.
//
// There are three memories. The key's has words: the stacked parameters and the
// listed columns of tables. A proof's has words as well, the stacks and tensors,
// and elements of the extension: challenges and messages, and behind them what
// no one but the device needs to see.
type layout struct {
	plan *plan.Plan

	polys  []place   // by number
	tables [][]place // by table and column, nowhere if it is not listed
	fixed  int       // words of the key's memory

	// Words of a proof's memory.
	witness, mult int
	committed     []int // stacks of the statement's tensors
	counts        int   // of zkml_evaluate; all until here starts as 0
	zeroed        int
	y             int         // the outputs as stated, zero-padded
	outputAt      map[int]int // by polynomial: of an output, in y
	integers      int         // the outputs as integers, one after the other without padding
	integersEnd   int
	outputs       []outputLayout
	live          int

	// Elements of a proof's memory.
	elements

	leafStep   step
	layers     []layerLayout
	mergeStep  step
	merge      mergeLayout
	leaves     leafLayout
	ops        []opLayout // by operation
	pass       []launch   // of the forward pass on a device
	tiles      int        // of products whose sums are in parts, at one time
	inParts    int        // words of a proof's memory, 0 at first: those tiles, and behind them a word for each
	inPartsEnd int

	desc words
}

// outputLayout is an output: its polynomial, its part of the integers, its shape.
type outputLayout struct {
	poly, at, n int
	shape       []int
	axes        axesLayout
}

// place is an index into a proof's words, or with the top bit into the key's.
type place uint64

const (
	fixedBit place = 1 << 63
	nowhere  place = 1<<64 - 1
)

// elements are the places of challenges and messages, in elements of the
// extension. Coordinates come first, by their numbers.
type elements struct {
	values     []int // by evaluation: where it arises
	gamma      int   // of the merging
	alpha      int   // of the lookups, and beta after it
	sums       int   // the tree's proof
	sentLeaves int
	nonce      int // of the work before the lookups
	roots      int // of the commitments, by home
	messages   int // how many elements go to the host at the end
	scratch    int // elements of tables of eq and, from parts on, of parts of sums
	parts      int
	most       int // parts of any step
}

// nonceElements and rootElements hold the words of a nonce and of a root.
const (
	nonceElements = 1
	rootElements  = 2
)

// newLayout lays a plan out; p is the program if the plan is of one.
func newLayout(pl *plan.Plan, p *graph.Program) (*layout, error) {
	l := &layout{plan: pl}
	l.placeWords(p)
	if err := l.placeElements(); err != nil {
		return nil, err
	}
	l.lookups()
	if p == nil {
		return l, nil
	}
	for i, op := range p.Ops {
		if k, ok := graph.TableOf(op); ok && p.Tables[k].Kind != graph.Steps && l.tablePlace(&p.Tables[k]) == nowhere {
			return nil, fmt.Errorf("operation %d: the plan has no table %q", i, p.Tables[k].Name)
		}
	}
	l.operations(p)
	return l, nil
}

func (l *layout) placeWords(p *graph.Program) {
	pl := l.plan
	take := func(at *int, n int) int { // at multiples of 16 bytes, as kernels like to read
		begin := (*at + 3) &^ 3
		*at = begin + n
		return begin
	}
	size := func(h plan.Home) int {
		if st := &pl.Stacks[h]; !st.Empty() {
			return 1 << st.Vars
		}
		return 0
	}
	take(&l.fixed, size(plan.Parameters))
	for i := range pl.Tables {
		columns := make([]place, len(pl.Tables[i].Columns))
		for k, c := range pl.Tables[i].Columns {
			if columns[k] = nowhere; c.Table != nil {
				columns[k] = fixedBit | place(take(&l.fixed, 1<<pl.Tables[i].Bits))
			}
		}
		l.tables = append(l.tables, columns)
	}
	l.witness = take(&l.live, size(plan.Witness))
	l.mult = take(&l.live, size(plan.Multiplicities))
	for i := range pl.Committed {
		l.committed = append(l.committed, take(&l.live, size(plan.FirstCommitted+plan.Home(i))))
	}
	output := 0
	l.outputAt = map[int]int{}
	for _, o := range pl.OutputPolys {
		l.outputAt[o] = take(&output, 1<<pl.Polys[o].Vars)
	}
	most := len(pl.LeafSent) + len(pl.OutputPolys)
	for i := range pl.Layers {
		most = max(most, len(pl.Layers[i].Sent)+len(pl.Layers[i].Instances)+len(pl.OutputPolys))
	}
	l.counts = take(&l.live, most)
	l.zeroed = l.live
	l.y = take(&l.live, output)
	integers := 0
	if p != nil {
		for _, id := range p.Outputs {
			shape := p.Tensor(id).Shape
			n := graph.Elements(shape)
			l.outputs = append(l.outputs, outputLayout{poly: int(id), at: integers, n: n, shape: shape, axes: l.desc.axes(shape)})
			integers += n
		}
	}
	l.integers = take(&l.live, integers)
	l.integersEnd = l.live
	l.polys = make([]place, len(pl.Polys))
	for i := range pl.Polys {
		q := &pl.Polys[i]
		switch q.Home {
		case plan.Virtual:
			if l.polys[i] = nowhere; !q.Implied {
				l.polys[i] = place(take(&l.live, 1<<q.Vars))
			}
		case plan.Parameters:
			l.polys[i] = fixedBit | place(q.Offset)
		case plan.Witness:
			l.polys[i] = place(l.witness + q.Offset)
		case plan.Multiplicities:
			l.polys[i] = place(l.mult + q.Offset)
		case plan.Public:
			l.polys[i] = place(take(&l.live, 1<<q.Vars))
		default:
			l.polys[i] = place(l.committed[q.Home-plan.FirstCommitted] + q.Offset)
		}
	}
}

// least is a number of bytes of device memory that a proof cannot do without:
// the key's, its own, and beside them the larger of the fractional-sum tree and
// what merging the claims keeps. It is asked for before any work, so that what cannot end does not begin.
func (l *layout) least() (key, proof int64) {
	key, words, tree, merging := l.needs()
	return key, words + max(tree, merging)
}

// needs is the bytes of the key's memory, of a proof's, and of what it has for a while beside that: the fractional-sum tree, and then
// the tables of the merging of claims.
func (l *layout) needs() (key, proof, tree, merging int64) {
	const base, ext = 4, 16 // bytes of an element
	key = int64(l.fixed)*base + int64(len(l.desc))*8
	proof = int64(l.live)*base + int64(l.messages+l.scratch)*ext
	if l.merge.stacks != nil {
		merging = l.merge.stacks.Bytes()
	}
	if len(l.plan.Leaves) > 0 {
		// A numerator and a denominator a leaf, and as many nodes above, less one.
		leaves := int64(1) << l.plan.TreeVars
		tree = leaves*(base+ext) + (leaves-1)*2*ext
	}
	return key, proof, tree, merging
}

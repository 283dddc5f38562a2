package prover

import (
	"encoding/binary"
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
	logupprover "github.com/zkwarp/zkwarp/logup/prover"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// layout says where everything that a proof needs lies in device memory. It
// follows from the plan, so kernels' descriptors, which are made of it, are as
// much part of a key as its weights are: proofs upload nothing but their input.
//
// There are three memories. The key's has words: the stacked parameters and the
// tables' second columns. A proof's has words as well, the stacks and tensors,
// and elements of the extension: challenges and messages, and behind them what
// no one but the device needs to see.
type layout struct {
	plan *plan.Plan

	polys  []place // by number
	tables []place // second columns by table, nowhere if there is none
	fixed  int     // words of the key's memory

	// Words of a proof's memory. What is before handOver goes to the host once
	// the witness is complete: the two stacks and the output.
	witness, mult int
	output        int // a copy of the output, padded
	handOver      int
	counts        int // of zkml_evaluate; all until here starts as 0
	zeroed        int
	y             int // the output as stated, zero-padded
	live          int

	// Elements of a proof's memory.
	elements

	leafStep  step
	layers    []layerLayout
	mergeStep step
	merge     mergeLayout
	leaves    leafLayout
	linear    []linearLayout // by operation, of those that are linear
	moves     []moveLayout   // by operation, of those that are reshapes

	desc words
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
	state      int // the transcript's state at the end
	messages   int // how many elements go to the host at the end
	scratch    int // elements of tables of eq and, from parts on, of parts of sums
	parts      int
	most       int // parts of any step
}

// stateElements holds the words of a transcript's state.
const stateElements = 5

// words are descriptors under construction.
type words []uint64

func (w *words) add(v ...uint64) (at int) {
	at = len(*w)
	*w = append(*w, v...)
	return at
}

// tiles lists pieces of things, `size` entries each, as kernels' blocks find
// them.
func (w *words) tiles(lengths []int, size int) (at, n int) {
	at = len(*w)
	for i, l := range lengths {
		for k := range (l + size - 1) / size {
			w.add(uint64(i)<<32 | uint64(k))
		}
	}
	return at, len(*w) - at
}

// list adds a list of places; negative ones are nowhere.
func (w *words) list(v []int) (at int) {
	at = len(*w)
	for _, x := range v {
		p := uint64(nowhere)
		if x >= 0 {
			p = uint64(x)
		}
		w.add(p)
	}
	return at
}

// axes adds a shape as kernels take it: pairs of variables and extent, the
// last axis first.
func (w *words) axes(shape []int) axesLayout {
	a := axesLayout{at: len(*w), n: len(shape)}
	vars, _ := plan.AxisVars(shape)
	for i := len(shape) - 1; i >= 0; i-- {
		w.add(uint64(vars[i]), uint64(shape[i]))
	}
	return a
}

type axesLayout struct{ at, n int }

// newLayout lays a plan out; p is the program if the plan is of one.
func newLayout(pl *plan.Plan, p *graph.Program) (*layout, error) {
	l := &layout{plan: pl}
	l.placeWords()
	l.placeElements()
	if err := l.lookups(); err != nil {
		return nil, err
	}
	if p != nil {
		l.operations(p)
	}
	return l, nil
}

func (l *layout) placeWords() {
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
		at := nowhere
		if n := len(pl.Tables[i].Y); n > 0 {
			at = fixedBit | place(take(&l.fixed, n))
		}
		l.tables = append(l.tables, at)
	}
	l.witness = take(&l.live, size(plan.Witness))
	l.mult = take(&l.live, size(plan.Multiplicities))
	output := 0
	if pl.OutputPoly >= 0 {
		output = 1 << pl.Polys[pl.OutputPoly].Vars
	}
	l.output = take(&l.live, output)
	l.handOver = l.live
	most := len(pl.LeafSent) + 1
	for i := range pl.Layers {
		most = max(most, len(pl.Layers[i].Sent)+len(pl.Layers[i].Instances)+1)
	}
	l.counts = take(&l.live, most)
	l.zeroed = l.live
	l.y = take(&l.live, output)
	l.polys = make([]place, len(pl.Polys))
	for i := range pl.Polys {
		q := &pl.Polys[i]
		switch q.Home {
		case plan.Parameters:
			l.polys[i] = fixedBit | place(q.Offset)
		case plan.Witness:
			l.polys[i] = place(l.witness + q.Offset)
		case plan.Multiplicities:
			l.polys[i] = place(l.mult + q.Offset)
		default:
			l.polys[i] = place(take(&l.live, 1<<q.Vars))
		}
	}
}

// layerLayout is where a layer's messages lie, and how they come about.
type layerLayout struct {
	step          step
	sent          int
	rounds, evals int
	claims        int // the claimed values
	gather        int // the list of their places
	instances     []instanceLayout
}

// instanceLayout is the tables of eq that an instance's factors are made with.
type instanceLayout struct {
	rows, cols int     // whole tables, for the factors of a product
	public     splitEq // for a public factor
	point      int     // of a zero check
	from, to   axesLayout
}

// mergeLayout is where the messages of the claim merging lie.
type mergeLayout struct {
	stacks                             []stackLayout // those with claims
	total                              int           // entries of all weights
	claims, rounds, evals, point       int
	claimsAt, tilesAt, tiles, stacksAt int
	list                               []weightClaim
}

type stackLayout struct {
	home plan.Home
	at   int // of its weight
}

// weightClaim is the summand of a weight that one claim contributes.
type weightClaim struct {
	at, vars int
	eq       splitEq
}

func (l *layout) placeElements() {
	pl := l.plan
	next := pl.Coords
	take := func(n int) int {
		next += n
		return next - n
	}
	l.values = make([]int, len(pl.Evals))
	for i := range l.values {
		l.values[i] = -1
	}
	arise := func(id, at int) {
		if l.values[id] < 0 {
			l.values[id] = at
		}
	}
	l.gamma, l.alpha = take(1), take(2)
	if len(pl.Leaves) > 0 {
		l.sums = take(logupprover.Elements(pl.TreeVars))
	}
	l.sentLeaves = take(len(pl.LeafSent))
	for i, id := range pl.LeafSent {
		arise(id, l.sentLeaves+i)
		l.leafStep.evaluate(l, id, l.sentLeaves+i)
	}
	l.leafStep.finish(l)
	given := -1 // where the stated output's value at the binding point goes
	if pl.Given >= 0 && l.values[pl.Given] < 0 {
		given = take(1)
		arise(pl.Given, given)
	}
	state := func(st *step, point plan.Point, at int) {
		st.add(l, place(l.y), point, at)
	}
	for i := range pl.Layers {
		ly := &pl.Layers[i]
		var o layerLayout
		o.sent = take(len(ly.Sent))
		for k, id := range ly.Sent {
			arise(id, o.sent+k)
			o.step.evaluate(l, id, o.sent+k)
		}
		if i == 0 && given >= 0 {
			state(&o.step, pl.Evals[pl.Given].Point, given)
		}
		shapes := ly.Shapes()
		n, d := sumcheck.Rounds(shapes), sumcheck.Degree(shapes)
		o.rounds, o.evals, o.claims = take(n*d), take(sumcheck.Evaluations(shapes)), take(len(shapes))
		var from []int
		for k := range ly.Instances {
			in := &ly.Instances[k]
			il := instanceLayout{rows: -1, cols: -1}
			value := -1
			if in.Out >= 0 {
				value = l.values[in.Out]
			}
			switch in.Kind {
			case plan.Contract:
				x, w := pl.Evals[in.X].Point, pl.Evals[in.W].Point
				if rows := x[:len(x)-in.Vars]; len(rows) > 0 {
					il.rows = o.step.table(l, rows, 0)
				}
				cols := w[in.Vars:]
				if in.Trans {
					cols = w[:len(w)-in.Vars]
				}
				if len(cols) > 0 {
					il.cols = o.step.table(l, cols, 0)
				}
			case plan.Rearrange:
				il.public = o.step.split(l, pl.Evals[in.Out].Point, 0)
				il.from, il.to = l.desc.axes(in.From), l.desc.axes(in.To)
			case plan.Output:
				il.public = o.step.split(l, in.At, 0)
				il.from = l.desc.axes(pl.Polys[pl.OutputPoly].Shape)
				value = take(1)
				state(&o.step, in.At, value)
			case plan.ZeroPadding:
				il.point = int(in.At[0])
				il.from = l.desc.axes(pl.Polys[pl.Evals[in.X].Poly].Shape)
			}
			from = append(from, value)
			o.instances = append(o.instances, il)
			if in.Kind == plan.Contract {
				arise(in.W, o.evals+2*k+1)
				arise(in.X, o.evals+2*k)
			} else {
				arise(in.X, o.evals+2*k+1)
			}
		}
		o.gather = l.desc.list(from)
		o.step.finish(l)
		l.layers = append(l.layers, o)
	}
	if len(pl.Layers) == 0 && given >= 0 {
		state(&l.mergeStep, pl.Evals[pl.Given].Point, given)
	}
	l.placeMerge(take)
	l.state = take(stateElements)
	l.messages = next
}

// placeMerge lays out the claim merging.
func (l *layout) placeMerge(take func(int) int) {
	pl, m := l.plan, &l.merge
	var stacks words
	for h := range pl.Stacks {
		st := &pl.Stacks[h]
		if len(st.Evals) == 0 {
			continue
		}
		var values []int
		for i, id := range st.Evals {
			e := &pl.Evals[id]
			c := weightClaim{at: m.total + pl.Polys[e.Poly].Offset, vars: len(e.Point), eq: l.mergeStep.split(l, e.Point, i)}
			m.list = append(m.list, c)
			values = append(values, l.values[id])
		}
		at := take(1)
		if len(m.stacks) == 0 {
			m.claims = at
		}
		stacks.add(uint64(l.desc.list(values)), uint64(len(values)), uint64(at))
		m.stacks = append(m.stacks, stackLayout{plan.Home(h), m.total})
		m.total += 1 << st.Vars
	}
	l.mergeStep.finish(l)
	shapes := pl.MergeShapes()
	n, d := sumcheck.Rounds(shapes), sumcheck.Degree(shapes)
	m.rounds, m.evals, m.point = take(n*d), take(sumcheck.Evaluations(shapes)), take(n)
	m.stacksAt = l.desc.add(stacks...)
	m.claimsAt = len(l.desc)
	for _, c := range m.list {
		l.desc.add(uint64(c.at), uint64(c.vars), uint64(c.eq.bits), uint64(c.eq.low), uint64(c.eq.high))
	}
	// Which claims touch a tile; neighbours mostly share their lists.
	const tile = 2048
	lists := make([][]uint64, (m.total+tile-1)/tile)
	for i, c := range m.list {
		for k := c.at / tile; k <= (c.at+1<<c.vars-1)/tile; k++ {
			lists[k] = append(lists[k], uint64(i))
		}
	}
	var tiles words
	known := map[string]int{}
	for _, list := range lists {
		var key []byte
		for _, i := range list {
			key = binary.LittleEndian.AppendUint32(key, uint32(i))
		}
		at, ok := known[string(key)]
		if !ok {
			at = l.desc.add(list...)
			known[string(key)] = at
		}
		tiles.add(uint64(at)<<32 | uint64(len(list)))
	}
	m.tilesAt, m.tiles = l.desc.add(tiles...), len(tiles)
}

// leafLayout is the descriptors of the leaves.
type leafLayout struct {
	blocks           int
	countAt, counts  int // tiles of lookups
	leavesAt, leaves int // tiles of all blocks, the unused leaves among them
}

// Kinds of blocks of leaves.
const (
	leafLookups = iota
	leafRows
	leafUnused
)

// lookups writes the descriptors of the blocks of leaves: struct leaves of
// zkml.cu.
func (l *layout) lookups() error {
	pl, o := l.plan, &l.leaves
	if len(pl.Leaves) == 0 {
		return nil
	}
	var blocks words
	var counted, lengths []int
	end := 0
	for i := range pl.Leaves {
		b := &pl.Leaves[i]
		t := &pl.Tables[b.Table]
		n := 1 << b.Vars
		d := [...]uint64{0: uint64(b.Offset), 1: uint64(n), 2: uint64(nowhere), 3: uint64(nowhere), 4: uint64(nowhere),
			5: uint64(l.polys[t.Mult]), 9: uint64(m31.FromInt(t.First)), 10: 1 << t.Bits, 11: uint64(t.Tag), 12: leafRows}
		lookups := 0
		switch {
		case b.Rows:
			if t.Y != nil {
				d[4] = uint64(l.tables[b.Table])
			}
		case len(b.C0.Terms) == 0 || len(b.C0.Terms) > 2:
			return fmt.Errorf("a lookup of %d terms", len(b.C0.Terms))
		default:
			lookups, d[12] = n, leafLookups
			for k, term := range b.C0.Terms {
				d[2+k], d[6+k] = uint64(l.polys[term.Of]), uint64(term.Coef)
			}
			d[8] = uint64(b.C0.Const)
			if b.C1 >= 0 {
				d[4] = uint64(l.polys[b.C1])
			}
		}
		blocks.add(d[:]...)
		counted, lengths = append(counted, lookups), append(lengths, n)
		end = b.Offset + n
	}
	if rest := 1<<pl.TreeVars - end; rest > 0 {
		d := [13]uint64{0: uint64(end), 1: uint64(rest), 12: leafUnused}
		blocks.add(d[:]...)
		lengths = append(lengths, rest)
	}
	o.blocks = l.desc.add(blocks...)
	o.countAt, o.counts = l.desc.tiles(counted, threads)
	o.leavesAt, o.leaves = l.desc.tiles(lengths, threads)
	return nil
}

// linearLayout is an operation's terms.
type linearLayout struct{ at, n int }

// moveLayout is the shapes between which a reshape moves.
type moveLayout struct{ from, to axesLayout }

// operations writes the descriptors of operations.
func (l *layout) operations(p *graph.Program) {
	l.linear, l.moves = make([]linearLayout, len(p.Ops)), make([]moveLayout, len(p.Ops))
	for i, op := range p.Ops {
		switch op := op.(type) {
		case graph.Linear:
			var terms words
			for _, t := range op.Terms {
				segs := segments(&l.plan.Polys[op.Out], &l.plan.Polys[t.T])
				terms.add(uint64(l.polys[t.T]), uint64(m31.FromInt(t.Coef)), uint64(l.desc.add(segs...)), uint64(len(segs)/3))
			}
			l.linear[i] = linearLayout{l.desc.add(terms...), len(op.Terms)}
		case graph.Reshape:
			l.moves[i] = moveLayout{l.desc.axes(l.plan.Polys[op.X].Shape), l.desc.axes(l.plan.Polys[op.Out].Shape)}
		}
	}
}

// least is a number of bytes of device memory that a proof cannot do without:
// the key's, its own, and beside them the larger of the fractional-sum tree and
// the weights that merge the claims. It is asked for before any work, so that
// what cannot end does not begin.
func (l *layout) least() (key, proof int64) {
	const base, ext = 4, 16 // bytes of an element
	key = int64(l.fixed)*base + int64(len(l.desc))*8
	proof = int64(l.live)*base + int64(l.messages+l.scratch)*ext
	beside := int64(l.merge.total) * ext
	if len(l.plan.Leaves) > 0 {
		// A numerator and a denominator a leaf, and as many nodes above, less one.
		leaves := int64(1) << l.plan.TreeVars
		beside = max(beside, leaves*(base+ext)+(leaves-1)*2*ext)
	}
	return key, proof + beside
}

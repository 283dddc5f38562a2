package prover

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// launch is a launch of the forward pass on a device: runs side by side, sums of
// products side by side, or one of few rows.
type launch struct {
	op       int // the first operation, and what it is, for errors
	name     string
	wide     *einsumLayout
	products productsLayout
	runs     runsLayout
}

// runsLayout is a launch of zkml_run.
type runsLayout struct {
	at, n, blocks, threads, words int
}

// opsRun is operations that a block does one after the other, on its slice of every
// tensor alone: the entries whose index has the block's number for its top bits.
// So an operation that reads what another one of the run has made must find an
// entry's operands below the top bits of its own index.
type opsRun struct {
	ops   []int
	bits  int // the most top bits
	size  int // variables of the largest slices' tensor, as threads count
	work  float64
	words int
}

const (
	maxRunWords = 1 << 13
	leastSlice  = 8    // variables: slices are not made smaller for more blocks
	mostThreads = 1024 // of a block
)

// What a launch and an entry cost, in ns, for the choice whether an operation joins a run: an entry by itself on one of so many processors.
const (
	launchCost = 2500.0
	entryCost  = 0.5
	processors = 132
)

// slices is how many top bits a run's slices share.
func (r *opsRun) slices() int { return max(0, min(r.bits, r.size-leastSlice)) }

func (r *opsRun) cost() float64 {
	return r.work * entryCost / math.Min(float64(uint64(1)<<r.slices()), processors)
}

// and is both runs' operations as one run.
func (r *opsRun) and(o *opsRun, bits int) *opsRun {
	return &opsRun{slices.Concat(r.ops, o.ops), min(r.bits, o.bits, bits), max(r.size, o.size), r.work + o.work, r.words + o.words}
}

// schedule divides the operations among launches. Runs and sums of products take
// turns; everything is in the first turn that has what it needs. An operation
// that needs something of a run's joins the run if it can and if that does not
// cost more than a launch, because slices become too few.
func (l *layout) schedule(p *graph.Program) {
	s := scheduler{l: l, p: p, producer: make([]int, len(p.Tensors)), turn: make([]int, len(p.Ops)), run: make([]*opsRun, len(p.Ops)), code: make([][]uint32, len(p.Ops))}
	for i := range s.producer {
		s.producer[i] = -1
	}
	steps := map[int]int{}
	for i, op := range p.Ops {
		s.add(i, op, steps)
		for _, id := range op.Outputs() {
			s.producer[id] = i
		}
	}
	defer func() {
		l.inParts = (l.live + 3) &^ 3
		l.inPartsEnd = l.inParts + l.tiles*(productTile*productTile+1)
		l.live = l.inPartsEnd
	}()
	turns := 0
	for _, t := range s.turn {
		turns = max(turns, t+1)
	}
	byTurn := make([][]int, turns)
	for i, t := range s.turn {
		byTurn[t] = append(byTurn[t], i)
	}
	for t, ops := range byTurn {
		if t%2 == 1 {
			var products []*einsumLayout
			first := 0
			for _, i := range ops {
				if e := l.ops[i].einsum; e.kernel() == inWide {
					l.pass = append(l.pass, launch{name: p.Ops[i].Kind().String(), op: i, wide: e})
				} else if products = append(products, e); len(products) == 1 {
					first = i
				}
			}
			if len(products) > 0 {
				l.pass = append(l.pass, launch{name: p.Ops[first].Kind().String(), op: first, products: l.products(p, products)})
			}
			continue
		}
		var runs []*opsRun
		for _, i := range ops {
			if !slices.Contains(runs, s.run[i]) {
				runs = append(runs, s.run[i])
			}
		}
		if len(runs) > 0 {
			l.pass = append(l.pass, launch{name: p.Ops[runs[0].ops[0]].Kind().String(), op: runs[0].ops[0], runs: s.describe(runs)})
		}
	}
}

type scheduler struct {
	l        *layout
	p        *graph.Program
	producer []int // by tensor: the operation, or -1
	turn     []int // by operation: of runs if even, of sums of products if odd
	run      []*opsRun
	code     [][]uint32
}

// add gives an operation its turn.
func (s *scheduler) add(i int, op graph.Op, steps map[int]int) {
	last := -1 // turn of anything that it needs
	for _, id := range op.Inputs() {
		if k := s.producer[id]; k >= 0 {
			last = max(last, s.turn[k])
		}
	}
	if e := s.l.ops[i].einsum; e != nil && e.kernel() != inRun {
		s.turn[i] = last + 1 | 1
		return
	}
	s.code[i] = s.l.encode(s.p, i, op, steps)
	size, work := s.size(i, op)
	own := &opsRun{[]int{i}, s.vars(op.Outputs()[0]), size, work, len(s.code[i])}
	if last < 0 || last%2 == 1 || !s.join(i, op, own, last) {
		s.turn[i] = (last + 2) &^ 1
		s.run[i] = own
	}
}

// join lets an operation join the runs of turn t that it needs something of, if it may.
func (s *scheduler) join(i int, op graph.Op, own *opsRun, t int) bool {
	joined, before := own, own.cost()
	var parts []*opsRun
	for k, id := range op.Inputs() {
		from := s.producer[id]
		if from < 0 || s.turn[from] != t {
			continue
		}
		r := s.run[from]
		same := s.leading(i, op, k)
		if slices.Contains(parts, r) {
			joined.bits = min(joined.bits, same)
			continue
		}
		parts = append(parts, r)
		joined, before = r.and(joined, same), before+r.cost()
	}
	if joined.words > maxRunWords || joined.cost() > before+launchCost {
		return false
	}
	s.turn[i] = t
	for _, k := range joined.ops {
		s.run[k] = joined
	}
	return true
}

func (s *scheduler) vars(id graph.TensorID) int { return s.l.plan.Polys[id].Vars }

// size is how many threads an operation can use, in variables, and how many
// entries or terms it has to make.
func (s *scheduler) size(i int, op graph.Op) (vars int, work float64) {
	vars = s.vars(op.Outputs()[0])
	work = float64(uint64(1) << vars)
	if e := s.l.ops[i].einsum; e != nil {
		work *= float64(e.k)
		if e.shared() {
			vars += 5
		}
	}
	return vars, work
}

// leading is how many top bits of an index of operand k are those of the index of
// the result that reads it.
func (s *scheduler) leading(i int, op graph.Op, k int) int {
	in, out := s.vars(op.Inputs()[k]), s.vars(op.Outputs()[0])
	switch op := op.(type) {
	case graph.Linear:
		return leading(segments(&s.l.plan.Polys[op.Out], &s.l.plan.Polys[op.Terms[k].T]), in, out)
	case graph.Rearrange:
		return leading(s.l.ops[i].rearrange.stay, in, out)
	case graph.Einsum:
		e := s.l.ops[i].einsum
		n := min(in, out)
		if e.a == op.Inputs()[k] {
			n = min(n, leading(e.lists[aOut], in, out))
		}
		if e.b == op.Inputs()[k] {
			n = min(n, leading(e.lists[bOut], in, out))
		}
		return n
	case graph.Reshape:
		from, to := &s.l.plan.Polys[op.X], &s.l.plan.Polys[op.Out]
		if graph.ReshapeIsFree(from.Shape, to.Shape) {
			return out
		}
		return samePrefix(from.Shape, to.Shape)
	case graph.Embed:
		return min(in, out) // tokens are inputs
	}
	return out
}

// leading is how many of the top bits of an index of `in` bits are those of the
// index of `out` bits that segments make it of.
func leading(segs []uint64, in, out int) int {
	for n := 0; n < min(in, out); n++ {
		bit, found := in-1-n, false
		for k := 0; k < len(segs); k += 3 {
			from, to, width := int(segs[k]), int(segs[k+2]), bits.Len64(segs[k+1])
			found = found || bit >= to && bit < to+width && bit-to+from == out-1-n
		}
		if !found {
			return n
		}
	}
	return min(in, out)
}

// samePrefix is the variables of the axes that two shapes begin with, apart from
// those of length one.
func samePrefix(a, b []int) int {
	n := 0
	for {
		for len(a) > 0 && a[0] == 1 {
			a = a[1:]
		}
		for len(b) > 0 && b[0] == 1 {
			b = b[1:]
		}
		if len(a) == 0 || len(b) == 0 || a[0] != b[0] {
			return n
		}
		n += graph.Log2(a[0])
		a, b = a[1:], b[1:]
	}
}

// describe writes the runs of a turn.
func (s *scheduler) describe(runs []*opsRun) runsLayout {
	var d runsLayout
	var jobs words
	d.threads = 64
	for _, r := range runs {
		s.order(r)
		shared := r.slices()
		var code []uint32
		level := 0
		levels := s.levels(r)
		for _, i := range r.ops {
			w := s.code[i]
			if levels[i] != level {
				level = levels[i]
				w[0] |= runBarrier
			}
			slice := s.vars(s.p.Ops[i].Outputs()[0]) - shared
			w[2] = uint32(slice)
			if e := s.l.ops[i].einsum; e != nil {
				if e.lanes = 1; e.shared() {
					if e.lanes = 32; slice <= 2 && e.k >= 1<<10 {
						e.lanes = 0
					}
				}
				w[runHead] = uint32(e.lanes)
			}
			code = append(code, w...)
		}
		jobs.add(uint64(d.blocks)|uint64(len(code))<<32, uint64(s.l.desc.halves(code)))
		d.blocks += 1 << shared
		d.words = max(d.words, len(code))
		d.threads = max(d.threads, min(1<<(r.size-shared), mostThreads))
	}
	d.at, d.n = s.l.desc.add(jobs...), len(runs)
	return d
}

// levels is after how many others of its run an operation can be done at the
// earliest.
func (s *scheduler) levels(r *opsRun) map[int]int {
	levels := map[int]int{}
	for _, i := range slices.Sorted(slices.Values(r.ops)) {
		level := 0
		for _, id := range s.p.Ops[i].Inputs() {
			if k := s.producer[id]; k >= 0 && s.run[k] == r {
				level = max(level, levels[k]+1)
			}
		}
		levels[i] = level
	}
	return levels
}

// order sorts a run's operations so that few have to wait for others.
func (s *scheduler) order(r *opsRun) {
	levels := s.levels(r)
	slices.SortFunc(r.ops, func(a, b int) int { return cmp.Or(cmp.Compare(levels[a], levels[b]), cmp.Compare(a, b)) })
}

// Operations of zkml_run, and where in their words these stand.
const (
	runLinear = iota
	runLookup
	runPair
	runThreshold
	runRearrange
	runEmbed
	runMove
	runSum

	runBarrier = 1 << 8
	runHead    = 5
)

// code is an operation of zkml_run: what it is, the number of its words, the
// variables of a slice, the place of the result, and what else it takes.
type code []uint32

func (c *code) add(v ...uint32) { *c = append(*c, v...) }

func (c *code) place(p place) { c.add(uint32(p), uint32(p>>32)) }

func (c *code) ints(v ...int) {
	for _, x := range v {
		c.add(uint32(x))
	}
}

// segments adds the number of segments, and each in a word.
func (c *code) segments(segs []uint64) {
	c.ints(len(segs) / 3)
	for k := 0; k < len(segs); k += 3 {
		c.ints(int(segs[k]) | bits.Len64(segs[k+1])<<8 | int(segs[k+2])<<16)
	}
}

// encode is an operation's words.
func (l *layout) encode(p *graph.Program, i int, op graph.Op, steps map[int]int) []uint32 {
	kind, c := 0, make(code, runHead)
	vars := l.plan.Polys[op.Outputs()[0]].Vars
	switch op := op.(type) {
	case graph.Linear:
		kind = runLinear
		c.add(uint32(m31.FromInt(op.Const)))
		c.ints(len(op.Terms))
		for _, t := range op.Terms {
			c.place(l.polys[t.T])
			c.add(uint32(m31.FromInt(t.Coef)))
			c.segments(segments(&l.plan.Polys[op.Out], &l.plan.Polys[t.T]))
		}
	case graph.Lookup:
		t := &p.Tables[op.Table]
		kind = runLookup
		if op.Rem == graph.None {
			c.place(nowhere)
		} else {
			c.place(l.polys[op.Rem])
		}
		c.place(l.polys[op.X])
		c.place(l.tablePlace(t))
		c.ints(int(op.Half()), int(op.Shift), 1<<(t.Bits-1), t.Rows())
	case graph.Pair:
		t := &p.Tables[op.Table]
		kind = runPair
		c.place(l.polys[op.A])
		c.place(l.polys[op.B])
		c.place(l.tablePlace(t))
		c.ints(int(t.Bits), int(t.Bits2))
	case graph.Threshold:
		t := &p.Tables[op.Table]
		kind = runThreshold
		for _, id := range op.Outputs()[1:] {
			c.place(l.polys[id])
		}
		c.place(l.polys[op.X])
		at, ok := steps[op.Table]
		if !ok {
			at = l.desc.packed(t.Lo)
			steps[op.Table] = at
		}
		shift, channel := 0, 0 // of the channel in an index
		if op.Axis >= 0 {
			axes := l.plan.Polys[op.X].Axes
			channel = axes[op.Axis]
			for _, v := range axes[op.Axis+1:] {
				shift += v
			}
		}
		c.ints(at, int(t.YLo), int(t.YHi-t.YLo)+1, t.Channels, shift, channel)
	case graph.Rearrange:
		r := &l.ops[i].rearrange
		kind = runRearrange
		c.place(l.polys[op.X])
		c.segments(r.stay)
		c.ints(len(r.groups))
		for _, g := range r.groups {
			c.ints(l.desc.packed(g.from))
			c.segments(g.segs)
		}
	case graph.Embed:
		kind = runEmbed
		axes := l.desc.axes(l.plan.Polys[op.Tokens].Shape)
		c.place(l.polys[op.Tokens])
		c.place(l.polys[op.W])
		c.ints(axes.at, axes.n, l.plan.Polys[op.W].Axes[1])
	case graph.Reshape:
		from, to := &l.plan.Polys[op.X], &l.plan.Polys[op.Out]
		if graph.ReshapeIsFree(from.Shape, to.Shape) {
			kind = runLinear
			c.add(0, 1)
			c.place(l.polys[op.X])
			c.add(1)
			c.segments(segment(nil, 0, 0, vars))
			break
		}
		kind = runMove
		of, as := l.desc.axes(from.Shape), l.desc.axes(to.Shape)
		c.place(l.polys[op.X])
		c.ints(of.at, of.n, as.at, as.n)
	case graph.Einsum:
		e := l.ops[i].einsum
		kind = runSum
		c.add(1) // lanes
		a := nowhere
		if e.a != graph.None {
			a = l.polys[e.a]
		}
		c.place(a)
		c.place(l.polys[e.b])
		c.ints(e.k, e.inner, e.stepA, e.stepB, e.outer)
		c.segments(e.lists[aOut])
		c.segments(e.lists[bOut])
	}
	out := l.polys[op.Outputs()[0]]
	c[0], c[1], c[2], c[3], c[4] = uint32(kind), uint32(len(c)), uint32(vars), uint32(out), uint32(out>>32)
	return c
}

// tablePlace is where a table's values lie.
func (l *layout) tablePlace(t *graph.Table) place {
	for i, columns := range l.tables {
		for k, at := range columns {
			if at != nowhere && l.plan.Tables[i].Columns[k].Table == t {
				return at
			}
		}
	}
	return nowhere
}

// enqueue launches it.
func (s *session) enqueue(a *launch) error {
	if a.wide != nil {
		return s.wide(a.wide)
	}
	if p := &a.products; p.n > 0 {
		parts := s.live.Slice(s.inParts, s.inPartsEnd)
		return s.q.Launch(device.Kernel{Source: Source, Name: "zkml_products"}, device.D1(p.blocks), device.D1(threads), 0,
			s.key.words.Arg(), s.live.Arg(), s.key.desc.Arg(), device.U32(p.at), device.U32(p.n), parts.Arg(), parts.Slice(s.tiles*productTile*productTile, parts.Len()).Arg())
	}
	r := &a.runs
	return s.q.Launch(device.Kernel{Source: Source, Name: "zkml_run"}, device.D1(r.blocks), device.D1(r.threads), 4*r.words,
		s.key.words.Arg(), s.live.Arg(), s.key.desc.Arg(), device.U32(r.at), device.U32(r.n))
}

package prover

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	mleprover "github.com/zkwarp/zkwarp/mle/prover"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// How zkml_restrict divides a tensor. A tile has at most 2^tileBits words, of
// which 2^boundBits are of one result; these are the constants of factors.cu. It
// holds the lowest lineBits of the index, a line of memory, so that words are
// read in whole lines. goodBound bits of f make the parts of sums few beside
// the words, goodKept bits of z let a warp do different results.
const (
	tileBits  = 12
	boundBits = 10
	lineBits  = 5
	goodBound = 7
	goodKept  = 5
	// enoughBlocks keep every multiprocessor of a large card busy: tiles get
	// smaller, down to leastBits, as long as there are fewer.
	enoughBlocks = 2048
	leastBits    = 10
	// mostSplits bounds the parts of a sum.
	mostSplits = 10
	// A matrix of so many words is worth the launches of mleprover.Restrict.
	matrixBits = 18
)

// division is how one tensor is divided.
type division struct {
	z, f         []int // index bits, lowest first
	zIn, zBeyond []int // numbers of z's bits, by place in the index
	bound        int   // bits of f within the tile
	passes       int   // 2^passes tiles along f are one block's
}

func (d *division) splits() int { return len(d.f) - d.bound - d.passes }

// blocks is 2^blocks.
func (d *division) blocks() int { return len(d.zBeyond) + d.splits() }

// divide divides a tensor into tiles of up to 2^size words, and these over about
// 2^blocks blocks.
func divide(z, f []int, size, blocks int) division {
	d := division{z: z, f: f}
	inside := make(map[int]bool) // numbers of z's bits
	byPlace := make([]int, len(z))
	for i := range byPlace {
		byPlace[i] = i
	}
	slices.SortFunc(byPlace, func(a, b int) int { return z[a] - z[b] })
	next := 0
	keep := func() { inside[byPlace[next]] = true; next++ }
	for b := range min(lineBits, len(z)+len(f)) {
		if d.bound < len(f) && f[d.bound] == b {
			d.bound++
		} else {
			keep()
		}
	}
	for next+d.bound < size {
		moreBound, moreKept := d.bound < min(len(f), boundBits), next < len(z)
		switch {
		case moreBound && d.bound < goodBound, moreBound && (!moreKept || next >= goodKept):
			d.bound++
		case moreKept:
			keep()
		default:
			size = 0
		}
	}
	for _, i := range byPlace {
		if inside[i] {
			d.zIn = append(d.zIn, i)
		} else {
			d.zBeyond = append(d.zBeyond, i)
		}
	}
	beyond := len(f) - d.bound
	d.passes = min(beyond, max(0, len(d.zBeyond)+beyond-blocks, beyond-mostSplits))
	return d
}

// runs spread the bits of one index over those of another: each moves the bits
// (i >> from) & mask to position to.
type runs []run

type run struct{ from, to, mask int }

// runsOf are the runs that take bit i to bits[i].
func runsOf(bits []int) runs {
	from := make([]int, len(bits))
	for i := range from {
		from[i] = i
	}
	return runsBetween(from, bits)
}

// runsBetween are the runs that take bit from[i] to bit to[i].
func runsBetween(from, to []int) (out runs) {
	for i := range from {
		if k := len(out) - 1; k >= 0 && from[i] == from[i-1]+1 && to[i] == to[i-1]+1 {
			out[k].mask = 2*out[k].mask + 1
			continue
		}
		out = append(out, run{from[i], to[i], 1})
	}
	return out
}

// segments are those of struct restriction, and their numbers.
func (d *division) segments() (all []uint64, lists uint64) {
	pick := func(numbers, of []int) (out []int) {
		for _, i := range numbers {
			out = append(out, of[i])
		}
		return out
	}
	zAt := pick(d.zIn, d.z)
	// The tile's index has the bits of the tensor's that it spans, in order.
	spanned := slices.Sorted(slices.Values(slices.Concat(zAt, d.f[:d.bound])))
	inTile := func(bits []int) (out []int) {
		for _, b := range bits {
			i, _ := slices.BinarySearch(spanned, b)
			out = append(out, i)
		}
		return out
	}
	for k, r := range []runs{runsOf(spanned), runsOf(inTile(zAt)), runsOf(d.zIn), runsOf(inTile(d.f[:d.bound])),
		runsOf(pick(d.zBeyond, d.z)), runsOf(d.zBeyond), runsOf(d.f[d.bound:])} {
		for _, s := range r {
			all = append(all, uint64(s.from)|uint64(s.to)<<8|uint64(s.mask)<<32)
		}
		lists |= uint64(len(r)) << (8 * k)
	}
	return all, lists
}

// bits are the index bits of z's and f's bits, lowest first.
func (j *factorJob) bits() (z, f []int) { return movedTo(j.keep, j.vars), movedTo(j.free, j.freeVars) }

// movedTo is where segments move each of an index's bits.
func movedTo(segs []uint64, vars int) []int {
	to := make([]int, vars)
	for k := 0; k < len(segs); k += 3 {
		for b := range bits.Len64(segs[k+1]) {
			to[int(segs[k])+b] = int(segs[k+2]) + b
		}
	}
	return to
}

// asMatrix is the restriction as one of a large matrix's rows or columns, if it
// is one.
func (j *factorJob) asMatrix(z, f []int, scratch device.Buffer[m31.QM31]) (mleprover.Restriction, bool) {
	r := mleprover.Restriction{Words: j.of, Rows: 1 << len(f), Cols: 1 << len(z), Side: mleprover.Rows, Out: j.out}
	if len(z) == 0 || len(f) == 0 || len(z)+len(f) < matrixBits || len(runsOf(z)) > 1 || len(runsOf(f)) > 1 {
		return r, false
	}
	if f[0] == 0 {
		r.Rows, r.Cols, r.Side = r.Cols, r.Rows, mleprover.Columns
	}
	r.Weights = scratch.Slice(j.eq, j.eq+1<<len(f))
	return r, true
}

// restrictOnDevice makes factors in one launch, those that are large matrices in
// mleprover's. It aims at `enough` blocks.
func restrictOnDevice(q *device.Queue, scratch device.Buffer[m31.QM31], jobs []factorJob, enough int) error {
	var matrices []mleprover.Restriction
	var mine []division
	var own []*factorJob
	total := 0
	for i := range jobs {
		j := &jobs[i]
		z, f := j.bits()
		if r, ok := j.asMatrix(z, f, scratch); ok {
			matrices = append(matrices, r)
			continue
		}
		mine, own = append(mine, division{z: z, f: f}), append(own, j)
		total += j.of.Len()
	}
	if len(matrices) > 0 {
		if err := mleprover.Restrict(q, matrices); err != nil {
			return err
		}
	}
	if len(mine) == 0 {
		return nil
	}
	size := min(tileBits, max(leastBits, graph.Log2(total/enough+1)))
	const jobWords = 13 // of struct restriction
	words := make(words, jobWords*len(mine))
	parts, blocks := 0, 0
	partsOf, countsOf, segmentsOf := make([]int, len(mine)), make([]int, len(mine)), make([]int, len(mine))
	counts := 0 // 32-bit words
	for i := range mine {
		d, j := &mine[i], own[i]
		share := max(1, int(float64(enough)*float64(j.of.Len())/float64(total)))
		*d = divide(d.z, d.f, size, graph.Log2(share))
		segments, lists := d.segments()
		segmentsOf[i] = words.add(segments...)
		partsOf[i], countsOf[i] = -1, counts
		if d.splits() > 0 {
			partsOf[i] = parts
			parts += 1 << (len(d.z) + d.splits())
			counts += 1 << len(d.zBeyond)
		}
		copy(words[jobWords*i+6:], []uint64{uint64(blocks), uint64(len(d.zIn)), uint64(d.bound), uint64(len(d.zBeyond)),
			uint64(len(d.f) - d.bound), uint64(d.passes), lists})
		blocks += 1 << d.blocks()
	}
	countsAt := words.add(make([]uint64, (counts+1)/2)...)
	work, err := device.Alloc[uint64](q, 2*parts+len(words))
	if err != nil {
		return fmt.Errorf("factors: %w", err)
	}
	defer work.Free()
	desc := work.Slice(2*parts, work.Len())
	for i, j := range own {
		copy(words[jobWords*i:], []uint64{j.of.Address(), 0, j.out.Address(), 0, 0, desc.Slice(segmentsOf[i], desc.Len()).Address()})
		if j.eq >= 0 {
			words[jobWords*i+1] = scratch.Slice(j.eq, scratch.Len()).Address()
		}
		if partsOf[i] >= 0 {
			words[jobWords*i+3] = work.Slice(2*partsOf[i], work.Len()).Address()
			words[jobWords*i+4] = desc.Slice(countsAt, desc.Len()).Address() + 4*uint64(countsOf[i])
		}
	}
	if err := desc.CopyFrom(q, words); err != nil {
		return fmt.Errorf("factors: %w", err)
	}
	return q.Launch(device.Kernel{Source: FactorsSource, Name: "zkml_restrict"}, device.D1(blocks), device.D1(threads), 0,
		desc.Arg(), device.U32(len(mine)))
}

// axisLists are the descriptors of an axis in the key: for a map, for each index
// of the source where its list begins, and the lists, 32 bits each; for what
// depends on an element's place, shapes.
type axisLists struct {
	starts, list int
	lanes        int // 2^lanes threads do an index
	from, to     axesLayout
}

// axisLists writes the descriptors of an axis.
func (l *layout) axisLists(a *plan.Axis) (o axisLists) {
	switch a.Kind {
	case plan.AxisTokens:
		o.to = l.desc.axes(a.Shape)
	case plan.AxisMoved:
		o.from, o.to = l.desc.axes(a.From), l.desc.axes(a.Shape)
	case plan.AxisMap:
		n := 1 << a.Vars
		starts := make([]uint32, n+1)
		for _, x := range a.Index {
			if x >= 0 {
				starts[x+1]++
			}
		}
		most := uint32(0)
		for x := range n {
			most = max(most, starts[x+1])
			starts[x+1] += starts[x]
		}
		list, at := make([]uint32, starts[n]), slices.Clone(starts)
		for e, x := range a.Index {
			if x >= 0 {
				list[at[x]] = uint32(graph.PaddedIndex(a.Shape, e))
				at[x]++
			}
		}
		// As many threads as the lists are long on average, more if one is much longer.
		o.lanes = min(graph.Log2(max(1, len(list)/n, int(most)/64)), 5)
		o.starts, o.list = l.desc.halves(starts), l.desc.halves(list)
	}
	return o
}

// publicOnDevice makes the tables along axes in one launch and the products in
// another.
func (s *session) publicOnDevice(jobs []publicJob) error {
	if len(jobs) == 0 {
		return nil
	}
	const tableWords, publicWords, axisWords = 11, 5, 9 // of the structures
	tables, axes, elements := 0, 0, 0
	for _, j := range jobs {
		for _, a := range j.in.Public {
			axes++
			if a.Kind == plan.AxisMap || a.Kind == plan.AxisTokens {
				tables++
				elements += 1 << a.Vars
			}
		}
	}
	work, err := device.Alloc[uint64](s.q, 2*elements+tableWords*tables+publicWords*len(jobs)+axisWords*axes)
	if err != nil {
		return fmt.Errorf("public factors: %w", err)
	}
	defer work.Free()
	desc := work.Slice(2*elements, work.Len())
	factorsAt := tableWords * tables
	axesAt := factorsAt + publicWords*len(jobs)
	var tableDesc, factorDesc, axisDesc words
	tableBlocks, blocks, at := 0, 0, 0
	for _, j := range jobs {
		factorDesc.add(j.out.Address(), uint64(blocks), uint64(j.out.Len()),
			desc.Slice(axesAt+len(axisDesc), desc.Len()).Address(), uint64(len(j.in.Public)))
		blocks += device.Blocks(j.out.Len(), 4*threads)
		shift := 0
		for k := len(j.in.Public) - 1; k >= 0; k-- {
			a, p := &j.in.Public[k], &j.o.axes[k]
			eq := uint64(0)
			if p.eq >= 0 {
				eq = s.scratch.Slice(p.eq, s.scratch.Len()).Address()
			}
			d := [axisWords]uint64{partGuarded, uint64(shift), uint64(a.Vars), uint64(a.Extent), eq}
			switch a.Kind {
			case plan.AxisMoved:
				d[0] = partMoved
				d[5], d[6], d[7], d[8] = s.axesAddress(p.lists.from), s.axesAddress(p.lists.to), uint64(p.lists.from.n), uint64(p.lists.to.n)
			case plan.AxisMap, plan.AxisTokens:
				out := work.Slice(2*at, work.Len()).Address()
				at += 1 << a.Vars
				t := [tableWords]uint64{out, eq, uint64(tableBlocks), 1 << a.Vars}
				if a.Kind == plan.AxisMap {
					t[4], t[5], t[6] = s.descAddress(p.lists.starts), s.descAddress(p.lists.list), uint64(p.lists.lanes)
				} else {
					t[7], t[8], t[9], t[10] = s.polys[a.Tokens].Address(), s.axesAddress(p.lists.to), uint64(p.lists.to.n), uint64(graph.Elements(a.Shape))
				}
				tableDesc.add(t[:]...)
				tableBlocks += device.Blocks(1<<(a.Vars+p.lists.lanes), threads)
				d[0], d[4] = partTable, out
			}
			axisDesc.add(d[:]...)
			shift += a.Vars
		}
	}
	if err := desc.CopyFrom(s.q, slices.Concat(tableDesc, factorDesc, axisDesc)); err != nil {
		return fmt.Errorf("public factors: %w", err)
	}
	if tables > 0 {
		if err := s.blocks(FactorsSource, "zkml_axis_tables", tableBlocks, desc.Arg(), device.U32(tables)); err != nil {
			return err
		}
	}
	return s.blocks(FactorsSource, "zkml_public", blocks, desc.Slice(factorsAt, desc.Len()).Arg(), device.U32(len(jobs)))
}

// Kinds of struct public_axis.
const (
	partGuarded = iota
	partTable
	partMoved
)

// descAddress is the address of a place in the key's descriptors.
func (s *session) descAddress(at int) uint64 {
	return s.key.desc.Slice(at, s.key.desc.Len()).Address()
}

func (s *session) axesAddress(a axesLayout) uint64 {
	return s.key.desc.Slice(a.at, a.at+2*a.n).Address()
}

package prover

import (
	"cmp"
	"slices"

	"github.com/zkwarp/zkwarp/device"
)

const (
	maxWindow = 3  // rounds of a pass
	maxPoints = 32 // of a grid
	eqLow     = 11 // variables of the lower of two eq tables
	passWarps = 4
	perUnit   = 4 // blocks of a pass that a multiprocessor holds, if not the kernelSet says so
	threads   = 32 * passWarps
)

// limits are what a plan goes by besides the batch. Tests set them to force
// every path at small sizes.
type limits struct {
	window int // of passes
	// tail is the number of entries of all tables from which on one block does
	// what is left.
	tail int
	// linear is the number of variables from which on the sum of one table is
	// proved from its row sums.
	linear int
	// units are the multiprocessors that a pass is spread over.
	units int
}

// plan is the order of a batch's work: passes over windows of rounds, then a
// tail or the evaluations.
type plan struct {
	n, d   int
	order  []int // instances, as the device has them: by kernels, then large first
	passes []pass
	// tail is the round from which on one block does all that is left; n if none.
	tail       int
	tailKernel device.Kernel
	// pending is the number of rounds before tail that are not bound yet.
	pending int
}

// pass serves the rounds [round, round+window).
type pass struct {
	round, window int
	classes       uint32
	launches      []launch
}

// blocks of all launches.
func (p *pass) blocks() (n int) {
	for _, l := range p.launches {
		n += l.blocks
	}
	return n
}

// launch is one kernel's part of a pass.
type launch struct {
	set            *kernelSet
	name           string
	groups         []group
	chunks, blocks int
}

// group is the structure of batch.cuh: instances of equal size that follow each
// other.
type group struct{ chunk, first, pieces, fold, window, open, words, _ uint32 }

// sumClass is the bit of the class of grids of a degree and a window.
func sumClass(degree, window int) uint32 { return 1 << ((degree-1)*maxWindow + window - 1) }

// isWords says that all tables are words that follow each other, and that their
// number is a word.
func (in Instance) isWords() bool {
	for _, t := range in.Tables {
		if t.Base.Len() == 0 || t.stride() != 1 {
			return false
		}
	}
	return in.Vars < 32
}

// planBatch lays a batch of n rounds of degree d out.
func planBatch(instances []Instance, n, d int, lim limits) *plan {
	p := &plan{n: n, d: d, order: make([]int, len(instances)), tail: n}
	sets := make([]*kernelSet, len(instances))
	rank, ranks := make([]int, len(instances)), map[*kernelSet]int{} // in order of appearance
	for j, in := range instances {
		p.order[j], sets[j] = j, kernels(in)
		r, ok := ranks[sets[j]]
		if !ok {
			r = len(ranks)
			ranks[sets[j]] = r
		}
		rank[j] = r
	}
	slices.SortStableFunc(p.order, func(i, j int) int {
		return cmp.Or(cmp.Compare(rank[i], rank[j]), cmp.Compare(instances[j].Vars, instances[i].Vars))
	})
	for round := 0; round < n; {
		if entries(instances, n-round) <= lim.tail && sameTail(sets) {
			p.tail, p.tailKernel = round, sets[0].tail
			return p
		}
		w := window(instances, sets, round, n, d, p.pending, lim)
		p.passes = append(p.passes, p.pass(instances, sets, round, w, lim))
		round, p.pending = round+w, w
	}
	return p
}

// entries of all tables when so many variables are left.
func entries(instances []Instance, left int) (n int) {
	for _, in := range instances {
		n += in.Factors << min(in.Vars, left)
	}
	return n
}

func sameTail(sets []*kernelSet) bool {
	for _, s := range sets {
		if s.tail.Name == "" || s.tail != sets[0].tail {
			return false
		}
	}
	return true
}

// joins is the window of an instance in a pass over [round, round+w): how many of
// the rounds it takes part in.
func joins(vars, n, round, w int) int { return max(0, min(w, round+w-(n-vars))) }

// window is the largest that fits everybody.
func window(instances []Instance, sets []*kernelSet, round, n, d, pending int, lim limits) int {
	most := min(lim.window, maxWindow, n-round)
	for most > 1 && points(d, most) > maxPoints {
		most--
	}
	for ; most > 1; most-- {
		fits := true
		for j, in := range instances {
			limit := sets[j].next
			if n-in.Vars >= round && in.isWords() {
				limit = sets[j].first
			}
			fits = fits && joins(in.Vars, n, round, most) <= limit
		}
		if fits {
			break
		}
	}
	return most
}

func points(degree, window int) int {
	n := 1
	for range window {
		n *= degree + 1
	}
	return n
}

// pass makes the pass over [round, round+w).
func (p *plan) pass(instances []Instance, sets []*kernelSet, round, w int, lim limits) pass {
	out := pass{round: round, window: w}
	for a, j := range p.order {
		in, set := instances[j], sets[j]
		own := joins(in.Vars, p.n, round, w)
		if own == 0 {
			continue
		}
		g := group{first: uint32(a), window: uint32(own), open: uint32(min(in.Vars, p.n-round)),
			fold: uint32(joins(in.Vars, p.n, round-p.pending, p.pending))}
		if g.fold == 0 && int(g.open) == in.Vars && in.isWords() {
			g.words = 1
		}
		degree := in.Degree()
		if set.mixed {
			degree = p.d
		}
		out.classes |= sumClass(degree, own)
		name := set.pass
		if g.words == 1 && set.firstPass != "" {
			name = set.firstPass
		}
		at := slices.IndexFunc(out.launches, func(l launch) bool { return l.set == set && l.name == name })
		if at < 0 {
			at = len(out.launches)
			out.launches = append(out.launches, launch{set: set, name: name})
		}
		l := &out.launches[at]
		if k := len(l.groups) - 1; k >= 0 && l.groups[k].same(g) && l.groups[k].first+l.groups[k].pieces == g.first {
			l.groups[k].pieces++ // for now the number of instances
			continue
		}
		g.pieces = 1
		l.groups = append(l.groups, g)
	}
	for i := range out.launches {
		out.launches[i].cut(lim)
	}
	return out
}

// same says that instances of two groups could be of one.
func (g group) same(o group) bool {
	return g.fold == o.fold && g.window == o.window && g.open == o.open && g.words == o.words
}

// cut cuts the instances of the groups, which so far have their number in place
// of their pieces, into pieces of at least 32 positions for the warps of a full
// grid: of about equal size, and several a warp where there are many instances.
func (l *launch) cut(lim limits) {
	total, count := 0, 0
	for _, g := range l.groups {
		total += int(g.pieces) << (g.open - g.window)
		count += int(g.pieces)
	}
	blocks := lim.units * cmp.Or(l.set.perUnit, perUnit)
	pieces := blocks * passWarps
	if count > 4 {
		pieces *= 4
	}
	for i := range l.groups {
		g := &l.groups[i]
		count, positions := int(g.pieces), 1<<(g.open-g.window)
		// In floating point, as the product may not fit an int.
		share := int(float64(positions) * float64(pieces) / float64(total))
		own := max(1, min(share, (positions+31)/32))
		g.chunk, g.pieces = uint32(l.chunks), uint32(own)
		l.chunks += count * own
	}
	l.blocks = min(blocks, (l.chunks+passWarps-1)/passWarps)
}

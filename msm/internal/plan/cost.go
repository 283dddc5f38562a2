package plan

import (
	"math"
	"math/bits"
	"sort"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
)

// Card is what the cost model knows of a device.
type Card struct {
	Units  float64 // multiprocessors
	Wide   float64 // 32 by 32 bit multiply-adds with a 64-bit sum a second
	Bytes  float64 // of memory traffic a second
	Launch float64 // seconds between the ends of two small kernels, one after the other
}

// CardOf takes the rates of a card's architecture. Those of sm_90 were measured on an
// H100 (bench/NOTES.md); of the others the ratio of clocks and lanes is used.
func CardOf(info device.Info) Card {
	units := float64(max(1, info.Units))
	c := Card{Units: units, Wide: units * 64.4e9, Bytes: 1e12, Launch: 4e-6}
	switch info.Arch {
	case "sm_80":
		c.Wide, c.Bytes = units*45e9, 1.5e12
	case "sm_86":
		c.Wide, c.Bytes = units*54e9, 0.8e12
	case "sm_89":
		c.Wide, c.Bytes = units*80e9, 0.9e12
	case "sm_90":
		c.Bytes = 3e12
	case "sm_100", "sm_103":
		c.Bytes = 6e12
	case "sm_120":
		c.Wide, c.Bytes = units*80e9, 1.6e12
	}
	return c
}

// Products of a mixed addition, of an addition of sums, and of all that the reduction does
// with a bucket in runs of 32 (docs/msm.md), squarings and the merged reduction of two
// products counted for what they cost.
const (
	AccumulateProducts = 9.06
	AddProducts        = 13
	ReduceProducts     = 23.1
	edwardsProducts    = 7 // of a mixed addition; 8 of two sums
	edwardsReduce      = 17.2
)

// Pass is the part of an addition that each point costs a device in a window of which it has
// few buckets: what it takes to write its digit, to read it, and to find out that its bucket
// is another device's (four shares of 2^28 points of BN254 in turn on one H100 are the same
// to 0.4 % with 0.04, and to 1.2 % with 0; bench/NOTES.md).
const Pass = 0.042

// What bucket sums and their reduction take, over products at their rate alone (one H100,
// bench/NOTES.md).
const bucketLoss = 1.06

func reduceLoss(g *curve.Group) float64 {
	if g.Degree*g.Base.Limbs <= 12 {
		return 1.2 // and 1.1 for the longest runs
	}
	return 1.4 // 1.3 for 24 words, 1.45 for extensions
}

// productWork is the multiply-adds of one product of coordinates.
func productWork(g *curve.Group) float64 {
	n := float64(g.Base.Limbs)
	if g.Degree == 2 {
		return 2 * (3*n*n + n) // two sums of two products, each reduced once
	}
	return 2*n*n + n
}

// latency is the seconds that one addition takes a warp which is alone: 6 us for 8
// words, 35 for 24, measured on an H100, and nearly linear in the work.
func latency(g *curve.Group) float64 { return 2.2e-6 + 0.028e-6*productWork(g) }

// Problem is a multiplication to plan for.
type Problem struct {
	Group   *curve.Group
	N       int // points
	Devices int // that share the work
	Card    Card
	Tables  int64 // bytes that copies of the points may take besides the points
	Window  int   // forces the width of windows, if it is not 0
	Alone   bool  // all points are added at once, by one device, which may take two launches for it
}

// Cost is the seconds that windows take, a model.
type Cost struct {
	Sort, Accumulate, Reduce, Latency float64
}

// Total is the cost of all steps, one after the other.
func (c Cost) Total() float64 { return c.Sort + c.Accumulate + c.Reduce + c.Latency }

// Cost of the problem with these windows.
func (p *Problem) Cost(w *Windows) Cost {
	devices := float64(max(1, p.Devices))
	entries := float64(p.N) * w.Entries(p.Group.Scalar) / devices
	buckets := float64(w.Buckets()) / devices
	rate := p.Card.Wide / productWork(p.Group)
	depth, from := 0, 0
	for _, to := range w.Sets()[1:] {
		depth = max(depth, bits.Len(uint(to-from)))
		from = to
	}
	// A thread adds up at least some entries one after the other, partial sums are merged,
	// and the reduction goes one bit of an index at a time. Merges count as of 16 slots to 2,
	// which is more than the 64 to 2 that they are (docs/msm.md).
	threads := p.Card.Units * 512
	chunk := math.Max(8, entries/threads)
	merges := math.Log2(math.Max(2, 2*entries/chunk/16)) / 3
	lat := latency(p.Group)
	// The first point of a bucket is only copied, but in Edwards form.
	additions, accumulate, reduce := math.Max(entries-buckets, entries/2), AccumulateProducts, ReduceProducts
	if p.Group.Edwards != nil {
		additions, accumulate, reduce = entries, float64(edwardsProducts), edwardsReduce
	}
	// Buckets longer than a share of the list are cut into several, whose sums are added up
	// by fewer and fewer lanes of a warp: eight times as slowly as others.
	shares := math.Max(1, math.Min(4*threads, entries/8))
	partial := shares * 8 * AddProducts * math.Min(1, shares/(3*math.Max(1, buckets)))
	// The traffic of an entry, by the time that it takes: a partition into more bins has fewer
	// entries of a tile for each of them, and more than some number takes a pass more.
	sortBytes := 45 + 10*math.Min(math.Max(0, math.Log2(float64(w.Buckets())/float64(len(w.Sets())-1))-17.5), 1.5)
	return Cost{
		Sort:       entries * sortBytes / p.Card.Bytes,
		Accumulate: (additions*accumulate*bucketLoss + partial) / rate,
		Reduce:     buckets * reduce * reduceLoss(p.Group) / rate,
		Latency:    lat*(math.Min(chunk, 8)+merges*16+float64(depth)) + p.Card.Launch*(12+merges+float64(depth)/2),
	}
}

// Choices are the windows that might do for the problem, the cheapest first.
func (p *Problem) Choices() []*Windows {
	f := p.Group.Scalar
	type choice struct {
		w    *Windows
		cost float64
	}
	var all []choice
	take := func(w *Windows, err error) {
		if err == nil {
			cost := p.Cost(w).Total()
			if t, ok := p.tiny(w); ok && p.Alone {
				cost = min(cost, t)
			}
			all = append(all, choice{w, cost})
		}
	}
	if p.Window == 0 {
		for count := 1; count <= f.Bits() && count <= MaxWindows; count++ {
			take(Split(f, count))
		}
	}
	copies := int64(1) // of the points that fit
	if size := int64(p.N) * int64(p.Group.AffineBytes()); size > 0 {
		copies = min(1+p.Tables/size, math.MaxInt32/int64(p.N))
	}
	for width := 2; width <= min(MaxBits, f.Bits()); width++ {
		if p.Window != 0 && width != p.Window {
			continue
		}
		if w, err := Full(f, width, p.N); err == nil && copies > 1 && int64(w.Copies) <= copies && len(w.List) <= MaxWindows {
			take(w, nil)
		}
		for sets := 0; sets <= f.Bits()/width; sets++ {
			if sets > 0 && (f.Bits()/width)/sets > int(copies) {
				continue
			}
			if copies == 1 && sets > 0 {
				break
			}
			if w, err := Uniform(f, width, sets, p.N); err == nil && int64(w.Copies) <= copies && len(w.List) <= MaxWindows && (sets == 0) == (w.Copies == 1) {
				take(w, nil)
			}
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].cost < all[j].cost })
	out := make([]*Windows, len(all))
	for i, c := range all {
		out[i] = c.w
	}
	return out
}

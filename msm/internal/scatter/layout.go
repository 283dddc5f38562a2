// Package scatter sorts the points of a multi-scalar multiplication by bucket: it cuts
// scalars into signed digits, one for each window, and lists, for every bucket, the
// points whose digit is the bucket's.
//
// Few buckets are filled in one pass over the digits. Many are bins of neighbouring
// buckets first, of about as many entries as a block can sort in its shared memory,
// which it then does. Where that takes so many bins that a tile of entries would have a
// few for each, entries go into runs of bins first, and then into bins. Longer bins, of whatever length, are cut into tiles for all
// blocks, so that no distribution of scalars leaves much work to one of them. The tiles
// are those of the hierarchical bucket scatter of DistMSM (ASPLOS 2024, section 3.2.1).
package scatter

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/mont"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// ErrLayout is the class of all errors about windows and ranges.
var ErrLayout = errors.New("scatter: unusable windows")

// Limits.
const (
	maxWindows = 256       // in a table
	maxBits    = 30        // of a digit
	maxTile    = 1 << 16   // keys, numbered in 16 bits
	maxBin     = 1<<16 - 1 // entries, ranked in 16 bits
	maxFine    = 1 << 12   // buckets of a bin
	maxCoarse  = 16        // log2 of the buckets of a coarse bin, numbered in 16 bits
	maxSplit   = 8         // log2 of the bins of a coarse bin, if they may be so few

	// as in split.cu
	counterBits = 11
	laneBits    = 5
)

// Tuning is the choices between ways that all are right. The thresholds were measured
// on an H100 (bench/NOTES.md, section MSM).
type Tuning struct {
	// Shared is how many bytes of shared memory a block takes: half of what a
	// multiprocessor has, or what a block can have if that is less.
	Shared int
	// Direct is up to how many buckets a window's entries are sorted in one pass.
	Direct int
	// Long is up to how many entries a bin is sorted by one block, at most. Of a longer
	// bin, at most Tile entries are one block's share.
	Long, Tile int
	// TileBins is up to how many bins a window's keys are partitioned by tiles.
	TileBins int
	// Split is up to how many bins a window's entries are partitioned in one pass; of
	// more they go into about Coarse runs of bins first. 0 is no limit.
	Split, Coarse int
	// Count is how many counters a block has to count bins while scalars are cut, if every
	// bin gets a few of them. 0 counts apart.
	Count int
}

// For is the tuning for a card; anything will do for the CPU.
func For(info device.Info) Tuning {
	return Tuning{Shared: max(47<<10, min(110<<10, info.SharedPerBlock-1<<10)), Direct: 4096, Long: maxBin, Tile: 12 << 10, TileBins: 8192,
		Split: 1024, Coarse: 64, Count: 8 << 10}
}

// region is a run of flattened buckets that are cut into bins of one size: those of a
// window, or of all windows that share them.
type region struct {
	low, high int // buckets
	bin, bins int
	shift     int // log2 of the buckets of a bin

	// Coarse bins, the same as bins where entries are partitioned in one pass.
	coarse, coarseBins int
	bits               int // log2 of the bins of a coarse bin
}

// Layout is how scalars are sorted: windows, the buckets wanted of them, and bins.
type Layout struct {
	field   *mont.Field
	windows []plan.Window // all of them
	rng     plan.Range
	tuning  Tuning
	direct  bool
	split   bool
	long    int // entries from which on several blocks sort a bin
	regions []region
	order   []plan.Window // those with buckets in the range
	bins    int
	coarse  int
	bits    int      // most of a region
	fine    int      // most buckets of a bin
	sum     *big.Int // what is added to scalars
}

// New checks windows, all of a scalar's in ascending order and without a gap, the last
// one Top, and lays out the sorting of one range by them. Nothing is allocated.
func New(f *mont.Field, windows []plan.Window, rng plan.Range, t Tuning) (*Layout, error) {
	l := &Layout{field: f, windows: windows, rng: rng, tuning: t}
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := l.cut(); err != nil {
		return nil, err
	}
	return l, nil
}

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrLayout, fmt.Sprintf(format, args...))
}

// check looks at the windows and makes the sum.
func (l *Layout) check() error {
	if len(l.windows) == 0 || len(l.windows) > maxWindows {
		return bad("%d windows, of 1 to %d", len(l.windows), maxWindows)
	}
	r := l.rng
	if r.From < 0 || r.To < r.From || r.Low < 0 || r.High < r.Low {
		return bad("points [%d, %d), buckets [%d, %d)", r.From, r.To, r.Low, r.High)
	}
	if r.High-r.Low > math.MaxInt32 {
		return bad("%d buckets", r.High-r.Low)
	}
	l.sum = new(big.Int)
	at := 0
	for i, w := range l.windows {
		last := i == len(l.windows)-1
		switch {
		case w.Bits < 1 || w.Bits > maxBits:
			return bad("window %d has %d bits, of 1 to %d", i, w.Bits, maxBits)
		case w.Shift != at:
			return bad("window %d is at bit %d, which is not the end of the one before, %d", i, w.Shift, at)
		case w.Top != last:
			return bad("window %d of %d: Top is %v", i, len(l.windows), w.Top)
		case w.Base < 0 || w.Buckets < 1 || w.Base > math.MaxInt32-w.Buckets:
			return bad("window %d has %d buckets from %d on", i, w.Buckets, w.Base)
		case w.Table < 0 || r.To+w.Table > math.MaxInt32:
			return bad("window %d: point %d and more of table %d do not leave room for a sign", i, r.To, w.Table)
		case !last && w.Buckets != 1<<(w.Bits-1):
			return bad("window %d of %d bits has %d buckets", i, w.Bits, w.Buckets)
		}
		at += w.Bits
		if !last {
			l.sum.SetBit(l.sum, w.Shift+w.Bits-1, 1)
		}
	}
	top := l.windows[len(l.windows)-1]
	if top.Shift >= l.field.Bits() {
		return bad("the top window is at bit %d of %d", top.Shift, l.field.Bits())
	}
	most := new(big.Int).Rsh(l.field.Modulus, 1)
	most.Add(most, l.sum).Rsh(most, uint(top.Shift))
	if most.BitLen() > top.Bits || !most.IsInt64() || most.Int64() > int64(top.Buckets) {
		return bad("the top window's digits, of %d bits and for %d buckets, go up to %v", top.Bits, top.Buckets, most)
	}
	return nil
}

// cut makes regions and their bins.
func (l *Layout) cut() error {
	type span struct {
		region
		windows []plan.Window
		density float64 // entries a bucket, if they are uniform
	}
	var spans []span
	byBase := slices.Clone(l.windows)
	slices.SortStableFunc(byBase, func(a, b plan.Window) int { return a.Base - b.Base })
	n := float64(l.rng.To - l.rng.From)
	for _, w := range byBase {
		low, high := max(w.Base, l.rng.Low), min(w.Base+w.Buckets, l.rng.High)
		if low >= high {
			continue
		}
		if last := len(spans) - 1; last >= 0 && low < spans[last].high {
			spans[last].high = max(spans[last].high, high)
		} else {
			spans = append(spans, span{region: region{low: low, high: high}})
		}
		s := &spans[len(spans)-1]
		s.windows = append(s.windows, w)
	}
	for i, s := range spans {
		spans[i].density = n * density(s.low, s.high, s.windows)
	}
	for _, w := range l.windows {
		if w.Base < l.rng.High && w.Base+w.Buckets > l.rng.Low {
			l.order = append(l.order, w)
		}
	}
	at := l.rng.Low
	for _, s := range spans {
		if s.low > at {
			break
		}
		at = s.high
	}
	if at < l.rng.High {
		return bad("bucket %d is in no window", at)
	}
	if len(l.order)*(l.rng.To-l.rng.From) > math.MaxUint32 {
		return bad("%d points in %d windows are more entries than 2^32 - 1", l.rng.To-l.rng.From, len(l.order))
	}
	l.direct, l.fine = true, 1
	dense := 0.0
	for _, s := range spans {
		l.direct = l.direct && s.high-s.low <= l.tuning.Direct
		dense = max(dense, s.density)
	}
	// Of few entries bins of many buckets are worth having less room for entries.
	fine := maxFine / 4
	if t := l.tuning; t.Shared-4*maxFine > 0 && dense*maxFine < float64(min(t.Long, (t.Shared-4*maxFine-16)/6))/2 {
		fine = maxFine
	}
	l.long = max(1, min(l.tuning.Long, (l.tuning.Shared-4*fine-16)/6))
	// shift makes bins that are too long once in 10^9 times if entries are uniform.
	shift := func(r region, density float64) int {
		s := 0
		for !l.direct && 1<<s < min(fine, r.high-r.low) {
			n := density * float64(int(2)<<s)
			if n+6*math.Sqrt(n) > float64(l.long) {
				break
			}
			s++
		}
		return s
	}
	for _, s := range spans {
		l.split = l.split || !l.direct && l.tuning.Split > 0 && (s.high-s.low-1)>>shift(s.region, s.density) >= l.tuning.Split
	}
	for _, s := range spans {
		r := s.region
		r.shift = shift(s.region, s.density)
		r.bin = l.bins
		r.bins = (r.high-r.low-1)>>r.shift + 1
		l.bins += r.bins
		l.fine = max(l.fine, 1<<r.shift)
		if l.split {
			most := max(1, bits.Len(uint(r.bins-1))) // of bits
			r.bits = max(0, min(most-bits.Len(uint(l.tuning.Coarse-1)), maxSplit, maxCoarse-r.shift))
			l.bits = max(l.bits, r.bits)
		}
		r.coarse = l.coarse
		r.coarseBins = (r.bins-1)>>r.bits + 1
		l.coarse += r.coarseBins
		l.regions = append(l.regions, r)
	}
	return nil
}

// density is how many entries a bucket of [low, high) has for one point, where there are
// most; but places of more than four times as many do not count, if they have less than half
// of the entries. Those make long bins, as where a short top window shares the buckets of
// long ones, which would cost all others many short bins if it counted.
func density(low, high int, windows []plan.Window) float64 {
	ends := []int{low, high}
	for _, w := range windows {
		ends = append(ends, min(max(w.Base, low), high), min(max(w.Base+w.Buckets, low), high))
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	type part struct{ density, entries float64 }
	var parts []part
	all := 0.0
	for i, to := range ends[1:] {
		d := 0.0
		for _, w := range windows {
			if w.Base <= ends[i] && to <= w.Base+w.Buckets {
				d += 1 / float64(w.Buckets)
			}
		}
		parts = append(parts, part{d, d * float64(to-ends[i])})
		all += parts[i].entries
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(b.density, a.density) })
	denser := 0.0
	for i, p := range parts {
		denser += p.entries
		if i+1 == len(parts) || denser > all/2 || p.density <= 4*parts[i+1].density {
			return p.density
		}
	}
	return 0
}

// regionOf is the region of a window in order.
func (l *Layout) regionOf(w plan.Window) region {
	low := max(w.Base, l.rng.Low)
	i, found := slices.BinarySearchFunc(l.regions, low, func(r region, low int) int { return r.low - low })
	if !found {
		i--
	}
	return l.regions[i]
}

// run is windows, next to each other in order, whose keys are partitioned in one way.
type run struct {
	first, windows int
	bins           int  // most of a window
	each           bool // without tiles
}

func (l *Layout) runs() []run {
	var out []run
	for i, w := range l.order {
		bins := l.regionOf(w).coarseBins
		each := bins > l.tuning.TileBins
		if last := len(out) - 1; last >= 0 && out[last].each == each {
			out[last].windows++
			out[last].bins = max(out[last].bins, bins)
		} else {
			out = append(out, run{i, 1, bins, each})
		}
	}
	return out
}

// tileOf is how many keys a tile has where a window has so many bins: what fits into
// shared memory, but no more than leaves something to do for so many blocks.
func (l *Layout) tileOf(bins, blocks int) int {
	most := min(maxTile, (l.tuning.Shared-8*bins)/8)
	return max(1024, min(most, l.Entries()/blocks)) &^ 127
}

// counters is how many a tile of coarse bins has, for so many bins of one: 2^bits.
func counters(bits int) int { return 1 << min(bits+laneBits, max(bits, counterBits)) }

// countCopies is log2 of the counters of each bin while scalars are cut; ok is false if
// they would be fewer than four.
func (l *Layout) countCopies() (copies int, ok bool) {
	most := min(l.tuning.Count, l.tuning.Shared/4)
	for copies < laneBits && l.coarse<<(copies+1) <= most {
		copies++
	}
	return copies, copies >= 2
}

// splitTile is how many entries a tile of a coarse bin has, by the same rule as tileOf.
func (l *Layout) splitTile(blocks int) int {
	most := min(maxTile, (l.tuning.Shared-4*counters(l.bits)-4<<l.bits-16)/8)
	return max(1024, min(most, l.Entries()/blocks)) &^ 127
}

// longTile is how many entries a tile of a long bin has.
func (l *Layout) longTile() int {
	return max(32, min(l.tuning.Tile, (l.tuning.Shared-8*l.fine-16)/8)) &^ 31
}

// stride is how far apart the rows of keys of two windows are.
func (l *Layout) stride() int { return (l.rng.To - l.rng.From + 3) &^ 3 }

// Entries is how many entries there are at most.
func (l *Layout) Entries() int { return len(l.order) * (l.rng.To - l.rng.From) }

// Buckets is how many there are.
func (l *Layout) Buckets() int { return l.rng.High - l.rng.Low }

// Range is what it was made for.
func (l *Layout) Range() plan.Range { return l.rng }

// table is what kernels read, in pieces of 16 bytes: the sum's words, then windows
// (windows.cuh), then regions (bins.cu), then the splits of split.cu if there are any; and
// where the latter three are.
func (l *Layout) table() (words []uint32, windowsAt, regionsAt, splitsAt int) {
	words = l.field.Words(l.sum)
	for len(words)%4 != 0 {
		words = append(words, 0)
	}
	windowsAt = len(words) / 4
	for _, w := range l.order {
		r := l.regionOf(w)
		half := uint32(0)
		if !w.Top {
			half = 1 << (w.Bits - 1)
		}
		words = append(words,
			uint32(w.Shift/32), uint32(w.Shift%32), 1<<w.Bits-1, half,
			uint32(w.Base-r.low), uint32(r.high-r.low), uint32(r.shift+r.bits), 0,
			uint32(r.coarse), uint32(r.coarseBins), uint32(l.rng.From+w.Table), 0)
	}
	regionsAt = len(words) / 4
	for _, r := range l.regions {
		words = append(words, uint32(r.bin), uint32(r.low-l.rng.Low), uint32(r.high-r.low), uint32(r.shift))
	}
	splitsAt = len(words) / 4
	for _, r := range l.regions {
		if l.split {
			words = append(words, uint32(r.coarse), uint32(r.bin), uint32(r.bins), uint32(r.shift|r.bits<<8))
		}
	}
	return words, windowsAt, regionsAt, splitsAt
}

// Package reduce sums buckets: Σ (i+1) S_i over the buckets of every window.
//
// The device makes the sums W_h over the buckets whose index has bit h, and of four at a
// time one; the host adds them up with their powers of two and those of the windows.
package reduce

import (
	_ "embed" // kernel sources
	"fmt"
	"math/bits"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

var (
	//go:embed reduce.cu
	reduceText string
	//go:embed segments.cu
	segmentsText string
	//go:embed numbers.cuh
	numbersText string
	//go:embed xyzz.cuh
	xyzzText string
	//go:embed extended.cuh
	extendedText string
)

var (
	numbers  = &kernel.Source{Name: "msm/internal/reduce/numbers.cuh", Text: numbersText, Headers: []*kernel.Source{kernel.PTX}}
	xyzz     = &kernel.Source{Name: "msm/internal/reduce/xyzz.cuh", Text: xyzzText, Headers: []*kernel.Source{curve.XYZZ, numbers}}
	extended = &kernel.Source{Name: "msm/internal/reduce/extended.cuh", Text: extendedText, Headers: []*kernel.Source{curve.Edwards, numbers}}
)

// unit is one group's kernels, and how they are launched.
type unit struct {
	segments *kernel.Source // reduce_segments
	steps    *kernel.Source // the others
	threads  int            // of a block of reduce_segments
	shared   int            // bytes of shared memory of a block
	finish   int            // threads of a block of reduce_finish
}

// form is how reduce_segments is built for a group.
type form struct {
	threads, resident int  // of a block; blocks that a multiprocessor holds at a time
	karatsuba         bool // products of 12 words are by Karatsuba's method
	inShared          bool // numbers are in shared memory
	near              bool // a bucket's sum is read at once, before R is added to T
	inStep            bool // a block's warps wait for one another before each bucket
}

func newUnit(g *curve.Group, f form) *unit {
	u := &unit{threads: f.threads, finish: 512}
	header, count := xyzz, 9
	if g.Edwards != nil {
		header, count = extended, 8
	}
	storage, threads, karatsuba := "InRegisters", "", "0"
	if f.inShared {
		storage, threads, u.shared = "InShared", fmt.Sprintf(", %d", f.threads), f.threads*count*g.XYZZBytes()/4
	}
	place := "Far"
	if f.near {
		place = "Near"
	}
	if f.karatsuba {
		karatsuba = "1"
	}
	if g.Degree*g.Base.Limbs > 12 {
		u.finish = 256 // which leaves a thread all registers that it may have
	}
	u.segments = g.Unit(kernel.Template{Name: "msm/internal/reduce/segments.cu", Text: segmentsText}, []string{
		"SUMS_HEADER", header.Name,
		"BLOCK_THREADS", fmt.Sprint(f.threads),
		"BLOCKS_RESIDENT", fmt.Sprint(f.resident),
		"WITH_KARATSUBA", karatsuba,
		"IN_STEP", fmt.Sprint(f.inStep),
		"PLACE", place,
		"STORAGE", storage,
		" SHARED_THREADS", threads,
	}, header, kernel.PTX)
	u.steps = g.Unit(kernel.Template{Name: "msm/internal/reduce/reduce.cu", Text: reduceText}, []string{
		"SUMS_HEADER", header.Name,
		"FINISH_THREADS", fmt.Sprint(u.finish),
		"STEP_BLOCKS", fmt.Sprint(max(2, 6-g.Degree*g.Base.Limbs/4)),
		"FOLDED", fmt.Sprint(folded),
	}, header)
	return u
}

var (
	groups = append([]*curve.Group{curve.Toy61, curve.BLS12377Edwards}, curve.Groups...)
	units  = map[*curve.Group]*unit{
		curve.BN254G1:         newUnit(curve.BN254G1, form{threads: 128, resident: 3, near: true, inStep: true}),
		curve.BN254G2:         newUnit(curve.BN254G2, form{threads: 64, resident: 6, inShared: true}),
		curve.BLS12377G1:      newUnit(curve.BLS12377G1, form{threads: 128, resident: 4, inShared: true, karatsuba: true}),
		curve.BLS12377G2:      newUnit(curve.BLS12377G2, form{threads: 64, resident: 4, inShared: true}),
		curve.BLS12377Edwards: newUnit(curve.BLS12377Edwards, form{threads: 128, resident: 4, inShared: true, karatsuba: true}),
		curve.BLS12381G1:      newUnit(curve.BLS12381G1, form{threads: 128, resident: 4, inShared: true, karatsuba: true}),
		curve.BLS12381G2:      newUnit(curve.BLS12381G2, form{threads: 64, resident: 4, inShared: true}),
		curve.BW6761G1:        newUnit(curve.BW6761G1, form{threads: 64, resident: 4, inShared: true}),
		curve.BW6761G2:        newUnit(curve.BW6761G2, form{threads: 64, resident: 4, inShared: true}),
		curve.MNT4753G1:       newUnit(curve.MNT4753G1, form{threads: 64, resident: 4, inShared: true}),
		curve.Toy61:           newUnit(curve.Toy61, form{threads: 128, resident: 4, inShared: true, near: true, inStep: true}),
	}
)

// SourcesOf is the kernels of a group.
func SourcesOf(g *curve.Group) ([]*kernel.Source, error) {
	u, ok := units[g]
	if !ok {
		return nil, fmt.Errorf("msm: reduce: %w: no kernels for %s", device.ErrUsage, g.Name)
	}
	return []*kernel.Source{u.segments, u.steps}, nil
}

// Sources is the package's translation units.
func Sources() []*kernel.Source {
	var out []*kernel.Source
	for _, g := range groups {
		out = append(out, units[g].segments, units[g].steps)
	}
	return out
}

// Part is the sum of points that counts 2^Shift times.
type Part struct {
	Shift int
	Words []uint32 // of the sum
}

// piece is the buckets of one window in a range.
type piece struct {
	first, count int // in the array of sums
	low          int // index of the first in its window
	shift        int // of the window
}

// Layout is how the buckets of a range are summed.
type Layout struct {
	pieces []piece
	log    int // base-2 logarithm of the buckets that a thread takes at first
	most   int // segments of so many that a piece has
	steps  int // over these
	many   int // steps that take a launch each
	quads  int // a step of at most so many additions has four threads for each
}

// Threads is how many additions at a time keep a device busy; beyond them buckets
// are taken by several.
const Threads = 1 << 15

// longThreads is how many threads take more than 16 buckets each: some four times those
// that a card holds, so that their different ends do not count.
const longThreads = 1 << 18

// Up to so many additions of a step are done by four threads each: a card does them at
// once, in a third of the time that one thread takes over an addition.
const quadAdditions = 20 << 10

// folded is how many bits' sums the device makes one of. The host adds what is left, and
// one of its additions takes a tenth of one on a device; but there are 250 of them and more.
const folded = 4

// finishAdditions is how many additions of a step reduce_finish is left with.
const finishAdditions = 128

// New plans the sums of the buckets [low, high) of windows; windows that have the same
// Base share their buckets and count once.
func New(windows []plan.Window, low, high int) (*Layout, error) {
	log := 0
	for log < 4 && (high-low)>>(log+1) >= Threads || log < 6 && (high-low)>>(log+1) >= longThreads {
		log++
	}
	return newLayout(windows, low, high, log, finishAdditions)
}

// newLayout takes the logarithm of the buckets that a thread takes at first, and how
// many additions of a step one block does.
func newLayout(windows []plan.Window, low, high, log, block int) (*Layout, error) {
	l := &Layout{log: log, quads: quadAdditions}
	ends, seen := map[int]int{}, map[int]bool{}
	for _, w := range windows {
		ends[w.Base] = max(ends[w.Base], w.Base+w.Buckets)
	}
	total := 0
	for _, w := range windows {
		from, to := max(w.Base, low), min(ends[w.Base], high)
		if from >= to || seen[w.Base] {
			continue
		}
		seen[w.Base] = true
		l.pieces = append(l.pieces, piece{first: from - low, count: to - from, low: from - w.Base, shift: w.Shift})
		l.most = max(l.most, (to-from+1<<log-1)>>log)
		total += to - from
	}
	if low < 0 || total != high-low {
		return nil, fmt.Errorf("msm: reduce: %w: windows have %d of the buckets %d to %d", device.ErrUsage, total, low, high)
	}
	if len(l.pieces) > 65535 || total > 1<<31 {
		return nil, fmt.Errorf("msm: reduce: %w: %d buckets in %d windows", device.ErrUsage, total, len(l.pieces))
	}
	if l.most > 1 {
		l.steps = bits.Len(uint(l.most - 1))
	}
	// One block does the rest of a window once its steps have few additions.
	for l.many < l.steps && l.additions(l.many) > block {
		l.many++
	}
	return l, nil
}

// additions is how many a step has in one piece, at most.
func (l *Layout) additions(step int) int {
	lists := step + 1
	if l.log > 0 {
		lists++
	}
	return (l.most + 2<<step - 1) >> (step + 1) * lists
}

// row is the number of sums that a piece leaves.
func (l *Layout) row() int { return 2 + (l.steps+folded-1)/folded }

// Sums is the number of sums that Run leaves.
func (l *Layout) Sums() int { return len(l.pieces) * l.row() }

// Upload puts what the kernels ask about the pieces on the device.
func (l *Layout) Upload(q *device.Queue) (device.Buffer[uint32], error) {
	var words []uint32
	for _, p := range l.pieces {
		words = append(words, uint32(p.first), uint32(p.count))
	}
	return device.Upload(q, words)
}

// Run enqueues the sums of buckets into out, Sums() sums; pieces is what Upload gave.
// The buckets are used up.
func (l *Layout) Run(q *device.Queue, g *curve.Group, out, buckets, pieces device.Buffer[uint32]) error {
	if len(l.pieces) == 0 {
		return nil
	}
	u, ok := units[g]
	if !ok {
		return fmt.Errorf("msm: reduce: %w: no kernels for %s", device.ErrUsage, g.Name)
	}
	if err := l.first(q, g, u, buckets, pieces); err != nil {
		return err
	}
	return l.rest(q, g, u, out, buckets, pieces)
}

// first enqueues what threads do of several buckets each.
func (l *Layout) first(q *device.Queue, g *curve.Group, u *unit, buckets, pieces device.Buffer[uint32]) error {
	if l.log == 0 {
		return nil
	}
	return q.Launch(device.Kernel{Source: u.segments, Name: "reduce_segments_" + g.Name}, device.D2(device.Blocks(l.most, u.threads), len(l.pieces)),
		device.D1(u.threads), u.shared, buckets.Arg(), pieces.Arg(), device.U32(l.log))
}

// rest enqueues the steps.
func (l *Layout) rest(q *device.Queue, g *curve.Group, u *unit, out, buckets, pieces device.Buffer[uint32]) error {
	for s := range l.many {
		kernel, n := "reduce_step_", l.additions(s)
		if n*len(l.pieces) <= l.quads {
			kernel, n = "reduce_quads_", 4*n
		}
		err := q.Launch(device.Kernel{Source: u.steps, Name: kernel + g.Name}, device.D2(device.Blocks(n, 128), len(l.pieces)), device.D1(128), 0,
			buckets.Arg(), pieces.Arg(), device.U32(l.log), device.U32(s))
		if err != nil {
			return err
		}
	}
	return q.Launch(device.Kernel{Source: u.steps, Name: "reduce_finish_" + g.Name}, device.D1(len(l.pieces)), device.D1(u.finish), 0,
		out.Arg(), buckets.Arg(), pieces.Arg(), device.U32(l.log), device.U32(l.many), device.U32(l.steps))
}

// Parts says what the words of Run's sums count: Σ 2^Shift Words over all is the sum
// over windows of 2^Shift Σ (i+1) S_i.
func (l *Layout) Parts(words []uint32) []Part {
	var out []Part
	each := len(words) / max(1, l.Sums())
	for _, p := range l.pieces {
		row := words[:l.row()*each]
		words = words[l.row()*each:]
		sum := func(i int) []uint32 { return row[i*each : (i+1)*each] }
		// The buckets from low on: i + 1 is low + 1 more than the index in the piece.
		for h := 0; p.low+1 > 0 && h < bits.Len(uint(p.low+1)); h++ {
			if (p.low+1)>>h&1 == 1 {
				out = append(out, Part{p.shift + h, sum(0)})
			}
		}
		if l.log > 0 {
			out = append(out, Part{p.shift, sum(1)})
		}
		for i := 2; i < l.row(); i++ {
			out = append(out, Part{p.shift + l.log + (i-2)*folded, sum(i)})
		}
	}
	return out
}

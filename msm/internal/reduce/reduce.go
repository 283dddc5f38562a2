// Package reduce sums buckets: Σ (i+1) S_i over the buckets of every window.
//
// The device adds, and never doubles: it gives the sums W_h over the buckets whose
// index has bit h, and the host adds up 2^h W_h with the powers of two of the windows
// themselves.
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

//go:embed reduce.cu
var reduceText string

var (
	groups = append([]*curve.Group{curve.Toy61, curve.BLS12377Edwards}, curve.Groups...)
	units  = func() map[*curve.Group]*kernel.Source {
		out := map[*curve.Group]*kernel.Source{}
		for _, g := range groups {
			out[g] = g.Unit(kernel.Template{Name: "msm/internal/reduce/reduce.cu", Text: reduceText}, nil)
		}
		return out
	}()
)

// Source is the kernels of a group.
func Source(g *curve.Group) (*kernel.Source, error) {
	u, ok := units[g]
	if !ok {
		return nil, fmt.Errorf("msm: reduce: %w: no kernels for %s", device.ErrUsage, g.Name)
	}
	return u, nil
}

// Sources is the package's translation units.
func Sources() []*kernel.Source {
	var out []*kernel.Source
	for _, g := range groups {
		out = append(out, units[g])
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
}

// Threads is how many additions at a time keep a device busy; beyond them buckets
// are taken by several.
const Threads = 1 << 15

// finishThreads is the block of reduce_finish, and about how many additions of a step
// it is left with.
const finishThreads = 256

// New plans the sums of the buckets [low, high) of windows; windows that have the same
// Base share their buckets and count once.
func New(windows []plan.Window, low, high int) (*Layout, error) {
	log := 0
	for log < 4 && (high-low)>>(log+1) >= Threads {
		log++
	}
	return newLayout(windows, low, high, log, finishThreads)
}

// newLayout takes the logarithm of the buckets that a thread takes at first, and how
// many additions of a step one block does.
func newLayout(windows []plan.Window, low, high, log, block int) (*Layout, error) {
	l := &Layout{log: log}
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
	for l.many < l.steps && l.additions(l.many) > 2*block {
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
func (l *Layout) row() int { return l.steps + 2 }

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
	unit, err := Source(g)
	if err != nil {
		return err
	}
	launch := func(kernel string, grid device.Dim, block int, args ...device.Arg) error {
		return q.Launch(device.Kernel{Source: unit, Name: kernel + "_" + g.Name}, grid, device.D1(block), 0, args...)
	}
	if l.log > 0 {
		err := launch("reduce_segments", device.D2(device.Blocks(l.most, 128), len(l.pieces)), 128,
			buckets.Arg(), pieces.Arg(), device.U32(l.log))
		if err != nil {
			return err
		}
	}
	for s := range l.many {
		err := launch("reduce_step", device.D2(device.Blocks(l.additions(s), 128), len(l.pieces)), 128,
			buckets.Arg(), pieces.Arg(), device.U32(l.log), device.U32(s))
		if err != nil {
			return err
		}
	}
	return launch("reduce_finish", device.D1(len(l.pieces)), finishThreads,
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
		for h := range l.steps {
			out = append(out, Part{p.shift + l.log + h, sum(2 + h)})
		}
	}
	return out
}

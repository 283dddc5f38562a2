package msm

import (
	"fmt"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
	"github.com/zkwarp/zkwarp/msm/internal/reduce"
	"github.com/zkwarp/zkwarp/msm/internal/scatter"
)

// schedule is how one device does its share of a multiplication: points in chunks, and
// for each of them the sets of buckets in groups, sorted and added up one after the
// other. It does not change, and serves any number of sums.
type schedule struct {
	group   *curve.Group
	windows *plan.Windows
	rng     plan.Range
	chunks  [][2]int            // points from, to
	groups  [][2]int            // buckets from, to
	layouts [][]*scatter.Layout // by chunk and group
	reduces []*reduce.Layout    // by group
	entries int                 // at most, of a chunk and group
	affine  bool                // buckets are added up in affine coordinates
	upload  bool                // scalars come from the host, chunk by chunk
	bytes   int64               // of device memory besides the points
}

// limits are what a schedule must keep within.
type limits struct {
	info   device.Info
	memory int64 // 0 if there is no limit
	chunk  int   // points, 0 for as many as may be
	groups int   // 0 for what is thought best
	adder  int
	upload bool
	link   float64 // bytes a second of uploads that may hide behind additions; 0 if they are not to
}

// leastChunk is the fewest points that it makes sense to cut the points into.
const leastChunk = 1 << 12

// mostChunks is into how many it makes sense to cut them: each adds to all buckets once more,
// and to lay out many takes long.
const mostChunks = 256

// newSchedule finds the fewest chunks, and for these the fewest groups, that memory
// allows.
func newSchedule(g *curve.Group, w *plan.Windows, rng plan.Range, l limits) (*schedule, error) {
	n := rng.To - rng.From
	chunk := n
	if l.chunk > 0 {
		chunk = min(n, l.chunk)
	}
	s, least, err := withChunks(g, w, rng, chunk, l)
	if s != nil || err != nil {
		return s, err
	}
	short := max(leastChunk, chunk/mostChunks)
	if chunk > short && l.memory > 0 {
		// Two of the shortest chunks take nearly as much as all of them. Where that is too
		// much no length fits, and the shortest is laid out to tell what would be enough.
		two := rng
		two.To = rng.From + min(n, 2*short)
		s, _, err := withChunks(g, w, two, short, l)
		if err != nil {
			return nil, err
		}
		if s == nil {
			chunk = min(chunk, 2*short)
		}
	}
	for chunk > short && (l.chunk == 0 || l.memory > 0) {
		chunk = (chunk + 1) / 2
		s, bytes, err := withChunks(g, w, rng, chunk, l)
		if s != nil || err != nil {
			return s, err
		}
		least = min(least, bytes)
	}
	return nil, tooLittle(g, n, least, l)
}

// withChunks finds the fewest groups that memory allows with chunks of the given length,
// or else nil and the least memory that was too much.
func withChunks(g *curve.Group, w *plan.Windows, rng plan.Range, chunk int, l limits) (*schedule, int64, error) {
	least := int64(math.MaxInt64)
	sets := len(w.Sets()) - 1
	for groups := l.groupsFor(sets); ; groups = min(2*groups, sets) {
		for _, ahead := range []bool{true, false} {
			if ahead && (l.link == 0 || l.chunk > 0) {
				continue
			}
			s, err := layOut(g, w, rng, chunk, groups, ahead, l)
			if err != nil {
				return nil, 0, err
			}
			if s != nil {
				if l.memory == 0 || s.bytes <= l.memory {
					return s, 0, nil
				}
				least = min(least, s.bytes)
			}
		}
		if groups == sets || l.groups > 0 {
			return nil, least, nil
		}
	}
}

// tooLittle is the error where so many bytes are the least that a schedule takes.
func tooLittle(g *curve.Group, n int, least int64, l limits) error {
	return &device.Error{Device: l.info.Device, Op: "multi-scalar multiplication of " + g.Name, Bytes: least, Class: device.ErrNoMemory,
		Text: fmt.Sprintf("%d points need that much besides the points themselves, %d bytes are left", n, l.memory)}
}

// groupsFor is in how many groups the sets of buckets go at first: one, unless a test
// asks for more. Sorting does not hide behind additions, which fill the card
// (bench/NOTES.md); more groups only take less memory.
func (l *limits) groupsFor(sets int) int { return min(max(1, l.groups), sets) }

// layOut makes the schedule of chunks of the given length, or where uploads are to hide
// behind additions of shorter ones at first; nil where there would be too many entries
// in one.
func layOut(g *curve.Group, w *plan.Windows, rng plan.Range, chunk, groups int, ahead bool, l limits) (*schedule, error) {
	s := &schedule{group: g, windows: w, rng: rng, upload: l.upload}
	from := rng.From
	if ahead {
		p := plan.Problem{Group: g, N: min(chunk, rng.To-from), Card: plan.CardOf(l.info)}
		for _, n := range lead(p.N, float64(g.Scalar.Bytes())*float64(p.N)/l.link, p.Cost(w).Accumulate) {
			s.chunks = append(s.chunks, [2]int{from, from + n})
			from += n
		}
	}
	for ; from < rng.To; from += chunk {
		s.chunks = append(s.chunks, [2]int{from, min(from+chunk, rng.To)})
	}
	s.groups = cut(w, rng, groups, s.beside())
	for _, b := range s.groups {
		r, err := reduce.New(w.List, b[0], b[1])
		if err != nil {
			return nil, err
		}
		s.reduces = append(s.reduces, r)
	}
	for i, c := range s.chunks {
		var row []*scatter.Layout
		for _, b := range s.groups {
			if float64(c[1]-c[0])*float64(len(w.List)) > math.MaxUint32 && entries(w, b, c[1]-c[0]) > math.MaxUint32 {
				return nil, nil
			}
			x, err := scatter.New(g.Scalar, w.List, plan.Range{From: c[0], To: c[1], Low: b[0], High: b[1]}, scatter.For(l.info))
			if err != nil {
				return nil, fmt.Errorf("msm: %w", err)
			}
			row = append(row, x)
			if i == 0 || c[1]-c[0] > s.chunks[i-1][1]-s.chunks[i-1][0] {
				s.entries = max(s.entries, x.Entries())
			}
		}
		s.layouts = append(s.layouts, row)
	}
	s.affine = batchAffine(g, l.adder)
	sorting := scatter.Bytes(slices.Concat(s.layouts...)...) * int64(s.workspaces())
	if s.upload {
		for _, n := range s.inFlight() {
			sorting += int64(n) * int64(g.Scalar.Bytes())
		}
	}
	s.bytes = s.memory(l.info, sorting)
	return s, nil
}

// memory is the bytes that s takes besides the points, of which so many are for sorting
// and for the scalars.
func (s *schedule) memory(info device.Info, sorting int64) int64 {
	all, widest, sums := 0, 0, 0
	for i, b := range s.groups {
		all += b[1] - b[0]
		widest = max(widest, b[1]-b[0])
		sums += s.reduces[i].Sums()
	}
	buckets, sum := widest, int64(s.group.XYZZBytes())
	if s.beside() {
		buckets = all
	}
	n := sorting + adderBytes(s.group, info, s.entries, widest, s.affine, s.beside()) + int64(buckets+sums)*sum + int64(len(s.chunks))*4
	// The device rounds allocations up, by an eighth at most.
	return n + n/8 + 1<<20
}

// lead is the lengths of the two chunks that n points are cut into so that only the
// upload of the first is waited for: the second is uploaded while the first is added up,
// and so is longer by the ratio of the two times. A chunk more takes time of its own,
// since every bucket is added to once more, which is not worth saving a short upload,
// nor was a third worth it on an H100 (bench/NOTES.md).
func lead(n int, upload, add float64) []int {
	const short = 1.5e-3 // seconds
	if upload < short || n < 64 {
		return nil
	}
	ratio := math.Min(math.Max(add/upload, 1), 8)
	// Whole warps of points.
	first := max(32, int(float64(n)/(1+ratio))&^31)
	return []int{first, n - first}
}

// inFlight is room for the scalars of two chunks at a time, in points.
func (s *schedule) inFlight() []int {
	out := make([]int, min(2, len(s.chunks)))
	for i, c := range s.chunks {
		out[i%2] = max(out[i%2], c[1]-c[0])
	}
	return out
}

// entries is how many there are for n points in a group of buckets.
func entries(w *plan.Windows, buckets [2]int, n int) int64 {
	t := int64(0)
	for _, x := range w.List {
		if x.Base < buckets[1] && x.Base+x.Buckets > buckets[0] {
			t += int64(n)
		}
	}
	return t
}

// beside says whether the next sorting goes on beside additions. Those fill the card, so
// that groups of windows are done one after the other (bench/NOTES.md); chunks of points
// come one by one, and while one is added up the next can be sorted.
func (s *schedule) beside() bool { return len(s.chunks) > 1 }

// workspaces for sorting: two where the next sorting goes on beside.
func (s *schedule) workspaces() int {
	if s.beside() {
		return 2
	}
	return 1
}

// cut makes groups of whole sets of buckets, as far as the range has them; where sorting
// goes on beside additions the first is one set, since nothing else goes on while that
// is sorted.
func cut(w *plan.Windows, rng plan.Range, groups int, beside bool) [][2]int {
	var sets [][2]int
	ends := w.Sets()
	for i := range ends[1:] {
		low, high := max(ends[i], rng.Low), min(ends[i+1], rng.High)
		if low < high {
			sets = append(sets, [2]int{low, high})
		}
	}
	var out [][2]int
	for len(sets) > 0 {
		k := 1
		if left := groups - len(out); len(out) > 0 || groups == 1 || !beside {
			k = (len(sets) + max(left, 1) - 1) / max(left, 1)
		}
		out = append(out, [2]int{sets[0][0], sets[k-1][1]})
		sets = sets[k:]
	}
	return out
}

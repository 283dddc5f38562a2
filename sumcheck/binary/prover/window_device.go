package prover

import (
	"cmp"
	"context"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// windowPlan is the rounds of a proof's first and second window, the latter secondRounds or 0,
// and the logarithm of the entries from which on rounds after these are done by masks (0: none).
type windowPlan struct{ first, second, masksFrom int }

// largeVars is the number of variables from which largeWindows apply. Below, more launches
// take longer than the rounds that they replace.
const largeVars = 24

// Windows by the degree, as they turned out best on an H100: in the first one as many rounds
// as the pass does in little more than the time in which it reads p_1; rounds by masks down to tables of
// 2^18 entries, and a second window only for d = 2, at 2^24 points or more. In
// microseconds, for the rounds of n = 24 and 28 and the tail alone, rounds by masks, a second
// window: d = 2: 601, 563, 523 and 5300, 4588, 4204; d = 3: 905, 879, 916 and 9727,
// 8539, 9469; d = 4: 1650, 1443, 1730 and 20569, 16007, 22018 (bench/NOTES.md).
var (
	smallWindows = [binary.MaxDegree + 1]windowPlan{
		2: {first: 4, masksFrom: 18},
		3: {first: 4, masksFrom: 18},
		4: {first: 4, masksFrom: 18},
		5: {first: 3},
	}
	largeWindows = [binary.MaxDegree + 1]windowPlan{
		2: {first: 4, second: secondRounds},
		3: {first: 4, masksFrom: 18},
		4: {first: 3, masksFrom: 17},
		5: {first: 3},
	}
)

// windowsOf are those of a shape.
func windowsOf(s binary.Shape) windowPlan {
	w := smallWindows[s.Degree]
	if s.Vars >= largeVars {
		w = largeWindows[s.Degree]
	}
	if s.Vars < w.first+8 { // the pass takes 2^8 points at a time
		w = windowPlan{}
	}
	return w
}

// eqLow is how many of the last variables the table of eq has that the pass reads over and
// over again: 2^13 elements are at home in the caches.
const eqLow = 13

// windowProof is a proof on a device with a window: its buffers, which live until free, and
// its launches.
type windowProof struct {
	ctx   context.Context // of the proof that is made
	q     *device.Queue
	in    Instance
	ks    windowPlan
	w     window // k = 0: all rounds are the tail's
	state device.Buffer[uint32]
	next  *second     // a second window, if there is one
	mask  *maskRounds // rounds by masks, if there are any
	tail  *tail

	masks, sums, fragments device.Buffer[uint32]
	allSums                device.Buffer[uint32] // sums, and behind them those of the second window
	patterns               device.Buffer[uint8]
	folded                 device.Buffer[gf2.Element] // p_1 after the window, in the POLYVAL basis

	// Of EqBits: the point, the tables of eq, and the sums of the stretches.
	low, high                                   int
	z, lowTower, lowPolyval, highPolyval, front device.Buffer[gf2.Element]
	stretches                                   device.Buffer[uint32]

	memory []interface{ Free() }
}

// take allocates memory that free gives back.
func take[T any](r *windowProof, n int) (device.Buffer[T], error) {
	b, err := device.Alloc[T](r.q, n)
	if err == nil {
		r.memory = append(r.memory, b)
	}
	return b, err
}

func (r *windowProof) free() {
	if r.tail != nil {
		r.tail.free()
	}
	if r.next != nil {
		r.next.free()
	}
	for _, b := range r.memory {
		b.Free()
	}
}

// newWindowProof takes all memory of a proof of the instance whose state is given.
func newWindowProof(q *device.Queue, in Instance, state device.Buffer[uint32]) (*windowProof, error) {
	return newWindows(q, in, state, windowsOf(in.Shape))
}

// newWindows is newWindowProof with given windows.
func newWindows(q *device.Queue, in Instance, state device.Buffer[uint32], ks windowPlan) (*windowProof, error) {
	r := &windowProof{ctx: context.Background(), q: q, in: in, state: state, ks: ks}
	r.w = window{k: ks.first, degree: in.Degree, points: 1 << (in.Vars - ks.first)}
	if err := r.alloc(); err != nil {
		r.free()
		return nil, err
	}
	return r, nil
}

func (r *windowProof) alloc() error {
	var errs [12]error
	w, eq := r.w, r.in.Kind == binary.EqBits
	later := window{k: r.ks.first + r.ks.second, degree: r.in.Degree} // what rounds by masks come after
	masked := maskPlan(r.q, later, r.in.Vars, r.ks.masksFrom)
	var words, more int
	if w.k > 0 {
		rows := 1 << w.k
		if eq {
			rows = 1
		}
		r.masks, errs[0] = take[uint32](r, w.maskWords())
		words, more = w.sumWords(rows), 0
		if r.ks.second > 0 {
			more = secondSumWords(w.k)
		}
		if r.allSums, errs[1] = take[uint32](r, words+more+later.maskSumWords(masked)); errs[1] == nil {
			r.sums = r.allSums.Slice(0, words)
		}
		r.fragments, errs[2] = take[uint32](r, fragmentWords(w.k))
	}
	start := tailStart{Shape: r.in.Shape, Done: w.k, State: r.state, Ext: r.in.Ext}
	if w.k > 0 || eq {
		r.folded, errs[3] = take[gf2.Element](r, w.points)
		start.Ext, start.Polyval = []device.Buffer[gf2.Element]{r.folded}, true
	}
	r.patterns, errs[4] = take[uint8](r, (r.in.Degree-1)*w.patternBytes())
	if eq {
		r.low = min(r.in.Vars-w.k, eqLow)
		r.high = r.in.Vars - w.k - r.low
		r.z, errs[5] = take[gf2.Element](r, r.in.Vars)
		r.lowTower, errs[6] = take[gf2.Element](r, 1<<r.low)
		r.lowPolyval, errs[7] = take[gf2.Element](r, 1<<r.low)
		r.highPolyval, errs[8] = take[gf2.Element](r, 1<<r.high)
		r.front, errs[9] = take[gf2.Element](r, 1<<w.k)
		if w.k > 0 {
			r.stretches, errs[10] = take[uint32](r, w.sumWords(1<<r.high))
		}
	}
	if err := cmp.Or(errs[:]...); err != nil {
		return err
	}
	for j := range r.in.Degree - 1 {
		start.Patterns = append(start.Patterns, r.patterns.Slice(j*w.patternBytes(), (j+1)*w.patternBytes()))
	}
	if eq {
		if err := r.z.CopyFrom(r.q, r.in.Z); err != nil {
			return err
		}
	}
	var err error
	if r.ks.second > 0 {
		if r.next, err = newSecond(r.q, r.in.Shape, w.k, r.state, r.folded, r.in.Bits[0], r.allSums.Slice(words, words+more)); err != nil {
			return err
		}
		start = r.next.tail()
	}
	if masked > 0 {
		left := r.in.Vars - later.k
		r.mask = &maskRounds{w: later, start: start, rounds: masked, bits: r.in.Bits[r.in.Degree-2], sums: r.allSums.Slice(words+more, r.allSums.Len())}
		r.mask.other, errs[0] = take[gf2.Element](r, 1<<(left-1))
		r.mask.elements, errs[1] = take[gf2.Element](r, (r.in.Degree-1)<<(left-masked))
		r.mask.fragments, errs[2] = take[uint32](r, fragmentWords(1))
		if err := cmp.Or(errs[:]...); err != nil {
			return err
		}
		start = r.mask.tail()
	}
	r.tail, err = newTail(r.q, start)
	return err
}

func (r *windowProof) kernel(name string, grid, block device.Dim, args ...device.Arg) error {
	return r.q.Launch(device.Kernel{Source: finishSource, Name: name}, grid, block, 0, args...)
}

// sources are the kernels that launch needs.
func (r *windowProof) sources() []*kernel.Source {
	s := []*kernel.Source{windowSource, finishSource, foldSource, tailSource, pointsSource}
	if r.next != nil {
		s = append(s, secondSource)
	}
	if r.mask != nil {
		s = append(s, maskSource)
	}
	return s
}

// launch enqueues the proof, which is then in the state.
func (r *windowProof) launch() error {
	for _, step := range []func() error{r.prepare, r.pass, r.finish, r.fold, r.second, r.masked} {
		if err := stopped(r.ctx, r.q); err != nil {
			return err
		}
		if err := step(); err != nil {
			return err
		}
	}
	return r.tail.launch(r.ctx)
}

// prepare makes what depends on no challenge.
func (r *windowProof) prepare() error {
	if r.in.Kind == binary.EqBits {
		entries := 1<<r.low + 1<<r.high + 1<<r.w.k
		if err := r.kernel("binary_eq_tables", device.D1(device.Blocks(entries, 256)), device.D1(256), r.state.Arg(), r.z.Arg(), r.lowTower.Arg(),
			r.lowPolyval.Arg(), r.highPolyval.Arg(), r.front.Arg(), device.U32(r.w.k), device.U32(r.high), device.U32(r.low)); err != nil {
			return err
		}
	}
	if r.w.k > 0 {
		return r.w.prepare(r.q, r.masks, r.patterns, r.allSums, r.in.Bits)
	}
	for j, c := range r.in.Bits {
		p := r.patterns.Slice(j*r.w.patternBytes(), (j+1)*r.w.patternBytes())
		if err := r.kernel("binary_patterns1", device.D1(device.Blocks(r.w.points, 128)), device.D1(128), p.Arg(), c.Arg(), device.U32(r.w.points)); err != nil {
			return err
		}
	}
	return nil
}

// pass makes the window's sums.
func (r *windowProof) pass() error {
	if r.w.k == 0 {
		return nil
	}
	if r.in.Kind != binary.EqBits {
		return r.w.pass(r.q, r.sums, device.View[uint32](r.in.Ext[0]), r.masks)
	}
	if err := r.w.stretches(r.q, r.stretches, device.View[uint32](r.lowTower), r.masks, r.high); err != nil {
		return err
	}
	count := 8 * r.w.groups()
	return r.kernel("binary_eq_sums", device.D2(device.Blocks(count, 32), min(256, device.Blocks(1<<r.high, 4))), device.D1(128),
		r.state.Arg(), r.sums.Arg(), r.stretches.Arg(), r.highPolyval.Arg(), device.U32(count), device.U32(1<<r.high))
}

// finish does the window's rounds.
func (r *windowProof) finish() error {
	if r.w.k == 0 {
		return nil
	}
	front := device.Null()
	if r.in.Kind == binary.EqBits {
		front = r.front.Arg()
	}
	d, last := r.in.Degree, 1 // (2d)^(k-2)
	for range r.w.k - 2 {
		last *= 2 * d
	}
	shared := ((d+1)*2*d*last + (d+1)*(d+1)*last) * gf2.Size
	return r.q.Launch(device.Kernel{Source: finishSource, Name: "binary_window_finish"}, device.D1(1), device.D1(512), shared,
		r.state.Arg(), r.sums.Arg(), front, device.U32(r.in.Degree), device.U32(r.w.k), device.U32(r.w.groups()))
}

// fold leaves p_1 after the window.
func (r *windowProof) fold() error {
	if r.in.Kind == binary.EqBits {
		parts := max(0, r.low-10) // a block does 2^10 entries
		return r.kernel("binary_eq_fold", device.D1(1<<(r.high+parts)), device.D1(256), r.state.Arg(), r.folded.Arg(), r.lowPolyval.Arg(),
			r.highPolyval.Arg(), r.z.Arg(), device.U32(r.w.k), device.U32(r.low), device.U32(parts))
	}
	if r.w.k == 0 {
		return nil
	}
	if err := r.kernel("binary_window_matrices", device.D1(2<<r.w.k), device.D1(64), r.state.Arg(), r.fragments.Arg()); err != nil {
		return err
	}
	return fold(r.q, r.w.k, device.View[uint32](r.folded), device.View[uint32](r.in.Ext[0]), r.fragments, r.w.points)
}

// second does the second window.
func (r *windowProof) second() error {
	if r.next == nil {
		return nil
	}
	return r.next.launch()
}

// masked does the rounds by masks.
func (r *windowProof) masked() error {
	if r.mask == nil {
		return nil
	}
	return r.mask.launch(r.ctx, r.q)
}

// proveWindowDevice is Window on a GPU for the kinds that have bits.
func proveWindowDevice(ctx context.Context, q *device.Queue, tr *tower.Transcript, in Instance, value gf2.Element) (*binary.Proof, error) {
	state, err := newState(q, tr, in.Degree, value)
	if err != nil {
		return nil, err
	}
	defer state.Free()
	r, err := newWindowProof(q, in, state)
	if err != nil {
		return nil, err
	}
	defer r.free()
	r.ctx = ctx
	if err := r.launch(); err != nil {
		return nil, err
	}
	return readState(q, state, in.Shape)
}

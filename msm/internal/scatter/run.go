package scatter

import (
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// Form of scalars in memory.
type Form int

// Montgomery is gnark-crypto's form of elements, Canonical the plain number's words.
const (
	Montgomery Form = iota
	Canonical
)

const (
	chunk       = 1024 // counters of a block of scatter_scan
	scanBlock   = 256  // its threads
	digitsBlock = 128  // threads of scatter_digits
)

// block is the threads of a block of other kernels: of those that have all shared memory
// to themselves, or not.
func (l *Layout) block(large bool) device.Dim {
	if large {
		return device.D1(1024)
	}
	return device.D1(512)
}

// sizes are the lengths of a workspace's buffers.
type sizes struct {
	entries, buckets, list, fine, counts, bins, sums, table int
}

func (l *Layout) sizes() sizes {
	words, _, _ := l.table()
	// Keys are in rows of a multiple of 4; entries are read four at a time.
	n := max(1, len(l.order)*l.stride()) + 4
	s := sizes{
		entries: n, buckets: l.Buckets() + 1, table: len(words), list: n,
		// one more, for totals
		counts: l.bins + 1, bins: l.bins + 1, sums: 2 * ((l.bins + chunk - 1) / chunk),
	}
	if !l.direct {
		s.fine = n
	}
	return s
}

func (s sizes) bytes() int64 {
	return 4*(int64(s.entries)+int64(s.buckets)+int64(s.list)+2*int64(s.counts)+3*int64(s.bins)+int64(s.sums)+int64(s.table)) + 2*int64(s.fine)
}

// Bytes is the device memory that a workspace for the layout takes.
func (l *Layout) Bytes() int64 { return l.sizes().bytes() }

// Workspace is the device memory that sorting by some layouts takes, one at a time.
type Workspace struct {
	layouts []*Layout
	tables  []device.Buffer[uint32]

	entries, offsets, list         device.Buffer[uint32]
	fine                           device.Buffer[uint16]
	counts, starts, cursors, tiles device.Buffer[uint32]
	sums                           device.Buffer[uint32]
}

// NewWorkspace allocates memory for the layouts.
func NewWorkspace(q *device.Queue, layouts ...*Layout) (*Workspace, error) {
	w := &Workspace{layouts: layouts}
	var most sizes
	for _, l := range layouts {
		s := l.sizes()
		most.entries = max(most.entries, s.entries)
		most.buckets = max(most.buckets, s.buckets)
		most.list = max(most.list, s.list)
		most.fine = max(most.fine, s.fine)
		most.counts = max(most.counts, s.counts)
		most.bins = max(most.bins, s.bins)
		most.sums = max(most.sums, s.sums)
	}
	if err := w.alloc(q, most); err != nil {
		w.Free()
		return nil, fmt.Errorf("scatter: sort %d entries into %d buckets: %w", most.entries, most.buckets-1, err)
	}
	return w, nil
}

func (w *Workspace) alloc(q *device.Queue, s sizes) error {
	if q.OnHost() {
		s.list, s.fine, s.counts, s.bins, s.sums = 0, 0, 0, 0, 0
	}
	for _, b := range []struct {
		to *device.Buffer[uint32]
		n  int
	}{
		{&w.entries, s.entries}, {&w.offsets, s.buckets}, {&w.list, s.list},
		{&w.counts, 2 * s.counts}, // and tiles done
		{&w.starts, s.bins}, {&w.cursors, s.bins}, {&w.tiles, s.bins}, {&w.sums, s.sums},
	} {
		if b.n == 0 {
			continue
		}
		v, err := device.Alloc[uint32](q, b.n)
		if err != nil {
			return err
		}
		*b.to = v
	}
	if s.fine > 0 {
		v, err := device.Alloc[uint16](q, s.fine)
		if err != nil {
			return err
		}
		w.fine = v
	}
	for _, l := range w.layouts {
		if q.OnHost() {
			break
		}
		words, _, _ := l.table()
		t, err := device.Upload(q, words)
		if err != nil {
			return err
		}
		w.tables = append(w.tables, t)
	}
	return nil
}

// Free gives the memory back.
func (w *Workspace) Free() {
	for _, b := range append(w.tables, w.entries, w.offsets, w.list, w.counts, w.starts, w.cursors, w.tiles, w.sums) {
		b.Free()
	}
	w.fine.Free()
	w.tables = nil
}

// Run sorts the points of a layout's range by their scalars, given by the field's words,
// one scalar after the other. A scalar that is not below the group's order is left out;
// bad, one word, becomes the least index of such a scalar, counted from the range's
// first point, if that is less than what bad was. The result lives in the workspace,
// until its next Run. Nothing is waited for.
func (w *Workspace) Run(q *device.Queue, l *Layout, scalars device.Buffer[uint32], form Form, bad device.Buffer[uint32]) (plan.Sorted, error) {
	n := l.rng.To - l.rng.From
	if scalars.Len() != n*l.field.Limbs {
		return plan.Sorted{}, fmt.Errorf("%w: scatter: %d words of scalars for %d points, of %d words each", device.ErrUsage, scalars.Len(), n, l.field.Limbs)
	}
	if bad.Len() != 1 {
		return plan.Sorted{}, fmt.Errorf("%w: scatter: %d words for an index", device.ErrUsage, bad.Len())
	}
	at := -1
	for i, known := range w.layouts {
		if known == l {
			at = i
		}
	}
	if at < 0 {
		return plan.Sorted{}, fmt.Errorf("%w: scatter: the workspace is not for this layout", device.ErrUsage)
	}
	s := plan.Sorted{Entries: w.entries.Slice(0, max(1, l.Entries())), Offsets: w.offsets.Slice(0, l.Buckets()+1), Buckets: l.Buckets()}
	if n == 0 || l.Buckets() == 0 {
		return s, s.Offsets.Zero(q)
	}
	if q.OnHost() {
		return s, l.host(q, s, scalars, form, bad)
	}
	return s, w.launch(q, l, at, s, scalars, form, bad)
}

func (w *Workspace) launch(q *device.Queue, l *Layout, at int, s plan.Sorted, scalars device.Buffer[uint32], form Form, bad device.Buffer[uint32]) error {
	n := l.rng.To - l.rng.From
	_, windowsAt, regionsAt := l.table()
	table := w.tables[at]
	windows, regions := table.Slice(4*windowsAt, 4*regionsAt).Arg(), table.Slice(4*regionsAt, table.Len())
	counts, done := w.counts.Slice(0, l.bins), w.counts.Slice(l.bins, 2*l.bins)
	// Keys are where entries go last.
	keys, entries, fine := w.entries, w.list, w.fine.Arg()
	if l.direct {
		keys, entries, fine = w.list, s.Entries, device.Null()
	}
	units := q.Device().Info().Units
	digits, err := digitsKernel(l.field)
	if err == nil {
		err = w.counts.Slice(0, 2*l.bins).Zero(q)
	}
	if err == nil {
		err = q.Launch(digits, device.D1(device.Blocks(n, digitsBlock)), device.D1(digitsBlock), 0, keys.Arg(), bad.Arg(), scalars.Arg(), table.Arg(), windows,
			device.U32(len(l.order)), device.U32(n), device.U32(l.stride()), device.U32(form))
	}
	for _, r := range l.runs() {
		if err != nil {
			return err
		}
		k, shared := device.Kernel{Source: partitionSource, Name: "scatter_count"}, 4*r.bins
		if shared > l.tuning.Shared {
			k.Name, shared = "scatter_count_each", 0
		}
		blocks := min(device.Blocks(n, 8192), max(1, 4*units/r.windows)) // no second round of blocks
		err = q.Launch(k, device.D2(blocks, r.windows), l.block(false), shared, counts.Arg(), keys.Arg(), windows, device.U32(r.first), device.U32(n), device.U32(l.stride()))
	}
	if err == nil {
		err = w.scan(q, l, s, counts)
	}
	for _, r := range l.runs() {
		if err != nil {
			return err
		}
		if r.each {
			blocks := min(device.Blocks(n, 512), device.Blocks(8*units, r.windows))
			err = q.Launch(device.Kernel{Source: partitionSource, Name: "scatter_each"}, device.D2(blocks, r.windows), l.block(false), 0,
				entries.Arg(), fine, w.cursors.Arg(), keys.Arg(), windows, device.U32(r.first), device.U32(n), device.U32(l.stride()))
			continue
		}
		tile := l.tileOf(r.bins, 2*units)
		err = q.Launch(device.Kernel{Source: partitionSource, Name: "scatter_tile"}, device.D2(device.Blocks(n, tile), r.windows), l.block(true), 8*r.bins+8*tile,
			entries.Arg(), fine, w.cursors.Arg(), keys.Arg(), windows, device.U32(r.first), device.U32(n), device.U32(l.stride()), device.U32(tile))
	}
	if err != nil || l.direct {
		return err
	}
	return w.sort(q, l, s, regions, done)
}

// scan makes starts of counts.
func (w *Workspace) scan(q *device.Queue, l *Layout, s plan.Sorted, counts device.Buffer[uint32]) error {
	chunks := device.Blocks(l.bins, chunk)
	starts, tiles, most, tile := w.starts.Arg(), w.tiles.Arg(), device.U32(l.long), device.U32(l.tuning.Tile)
	if l.direct {
		starts, tiles, most, tile = s.Offsets.Arg(), device.Null(), device.U32(uint32(math.MaxUint32)), device.U32(1)
	}
	if chunks > 1 {
		err := q.Launch(device.Kernel{Source: binsSource, Name: "scatter_sums"}, device.D1(chunks), device.D1(scanBlock), 0,
			w.sums.Arg(), counts.Arg(), device.U32(l.bins), most, tile)
		if err != nil {
			return err
		}
	}
	return q.Launch(device.Kernel{Source: binsSource, Name: "scatter_scan"}, device.D1(chunks), device.D1(scanBlock), 0,
		starts, w.cursors.Arg(), tiles, s.Offsets.Slice(s.Buckets, s.Buckets+1).Arg(), w.sums.Arg(), counts.Arg(), device.U32(l.bins), most, tile)
}

// sort sorts the bins by bucket.
func (w *Workspace) sort(q *device.Queue, l *Layout, s plan.Sorted, regions, done device.Buffer[uint32]) error {
	most := min(l.long, l.Entries())
	tile := l.tuning.Tile
	k, shared := device.Kernel{Source: binsSource, Name: "scatter_fine"}, 4*l.fine+6*most+16
	if l.wide {
		k.Name, shared = "scatter_fine_wide", 4*l.fine+4*most
	}
	err := q.Launch(k, device.D1(l.bins), l.block(true), shared,
		s.Entries.Arg(), s.Offsets.Arg(), w.list.Arg(), w.fine.Arg(), w.starts.Arg(), regions.Arg(), device.U32(len(l.regions)), device.U32(l.long))
	if err != nil || l.Entries() <= l.long {
		return err
	}
	blocks := min(l.Entries()/tile+l.Entries()/l.long, 2*q.Device().Info().Units)
	err = q.Launch(device.Kernel{Source: binsSource, Name: "scatter_long_count"}, device.D1(blocks), l.block(false), 4*l.fine,
		s.Offsets.Arg(), done.Arg(), w.fine.Arg(), w.starts.Arg(), w.tiles.Arg(), regions.Arg(), device.U32(l.bins), device.U32(len(l.regions)), device.U32(tile))
	if err != nil {
		return err
	}
	return q.Launch(device.Kernel{Source: binsSource, Name: "scatter_long"}, device.D1(blocks), l.block(false), 8*l.fine+4*tile,
		s.Entries.Arg(), s.Offsets.Arg(), w.list.Arg(), w.fine.Arg(), w.starts.Arg(), w.tiles.Arg(), regions.Arg(), device.U32(l.bins), device.U32(len(l.regions)),
		device.U32(tile))
}

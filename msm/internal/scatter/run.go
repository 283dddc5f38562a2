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
	digitsBlock = 256  // threads of scatter_digits
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
	entries, buckets, list, fine, coarseFine, counts, bins, coarse, sums, table int
}

func (l *Layout) sizes() sizes {
	words, _, _, _ := l.table()
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
	if l.split {
		s.coarseFine = n
		s.coarse = 4 * (l.coarse + 1)
	}
	return s
}

func (s sizes) bytes() int64 {
	return 4*(int64(s.entries)+int64(s.buckets)+int64(s.list)+2*int64(s.counts)+3*int64(s.bins)+int64(s.coarse)+int64(s.sums)+int64(s.table)) +
		2*(int64(s.fine)+int64(s.coarseFine))
}

// Bytes is the device memory that a Workspace for some layouts takes: more than one for
// any of them alone, where one has more entries and another more passes.
func Bytes(layouts ...*Layout) int64 { return most(layouts).bytes() }

// most is the sizes that do for each of some layouts, and tables for all of them.
func most(layouts []*Layout) sizes {
	var m sizes
	for _, l := range layouts {
		s := l.sizes()
		m.entries = max(m.entries, s.entries)
		m.buckets = max(m.buckets, s.buckets)
		m.list = max(m.list, s.list)
		m.fine = max(m.fine, s.fine)
		m.coarseFine = max(m.coarseFine, s.coarseFine)
		m.coarse = max(m.coarse, s.coarse)
		m.counts = max(m.counts, s.counts)
		m.bins = max(m.bins, s.bins)
		m.sums = max(m.sums, s.sums)
		m.table += s.table
	}
	return m
}

// Workspace is the device memory that sorting by some layouts takes, one at a time.
type Workspace struct {
	layouts []*Layout
	tables  []device.Buffer[uint32]

	entries, offsets, list         device.Buffer[uint32]
	fine, coarseFine               device.Buffer[uint16]
	counts, starts, cursors, tiles device.Buffer[uint32]
	coarse                         device.Buffer[uint32] // counts, starts, cursors and tiles of coarse bins
	sums                           device.Buffer[uint32]
}

// NewWorkspace allocates memory for the layouts.
func NewWorkspace(q *device.Queue, layouts ...*Layout) (*Workspace, error) {
	w := &Workspace{layouts: layouts}
	m := most(layouts)
	if err := w.alloc(q, m); err != nil {
		w.Free()
		return nil, fmt.Errorf("scatter: sort %d entries into %d buckets: %w", m.entries, m.buckets-1, err)
	}
	return w, nil
}

func (w *Workspace) alloc(q *device.Queue, s sizes) error {
	if q.OnHost() {
		s.list, s.fine, s.coarseFine, s.counts, s.bins, s.coarse, s.sums = 0, 0, 0, 0, 0, 0, 0
	}
	for _, b := range []struct {
		to *device.Buffer[uint32]
		n  int
	}{
		{&w.entries, s.entries}, {&w.offsets, s.buckets}, {&w.list, s.list},
		{&w.counts, 2 * s.counts}, // and tiles done
		{&w.starts, s.bins}, {&w.cursors, s.bins}, {&w.tiles, s.bins}, {&w.coarse, s.coarse}, {&w.sums, s.sums},
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
	for _, b := range []struct {
		to *device.Buffer[uint16]
		n  int
	}{{&w.fine, s.fine}, {&w.coarseFine, s.coarseFine}} {
		if b.n == 0 {
			continue
		}
		v, err := device.Alloc[uint16](q, b.n)
		if err != nil {
			return err
		}
		*b.to = v
	}
	for _, l := range w.layouts {
		if q.OnHost() {
			break
		}
		words, _, _, _ := l.table()
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
	for _, b := range append(w.tables, w.entries, w.offsets, w.list, w.counts, w.starts, w.cursors, w.tiles, w.coarse, w.sums) {
		b.Free()
	}
	w.fine.Free()
	w.coarseFine.Free()
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

// lists is entries and, if there are bins of several buckets, their buckets within the bin.
type lists struct{ entries, fine device.Arg }

// bins are the counters of bins, or of coarse bins: their entries, where those and their
// tiles start, and where the next entries go.
type bins struct {
	n                              int
	counts, starts, cursors, tiles device.Buffer[uint32]
	most, tile                     int // bins of more entries are cut into tiles of so many
}

func (w *Workspace) launch(q *device.Queue, l *Layout, at int, s plan.Sorted, scalars device.Buffer[uint32], form Form, bad device.Buffer[uint32]) error {
	n := l.rng.To - l.rng.From
	_, windowsAt, regionsAt, splitsAt := l.table()
	table := w.tables[at]
	windows, regions, splits := table.Slice(4*windowsAt, 4*regionsAt).Arg(), table.Slice(4*regionsAt, 4*splitsAt), table.Slice(4*splitsAt, table.Len())
	counts, done := w.counts.Slice(0, l.bins), w.counts.Slice(l.bins, 2*l.bins)
	units := q.Device().Info().Units
	b := bins{n: l.bins, counts: counts, starts: w.starts, cursors: w.cursors, tiles: w.tiles, most: l.long, tile: l.longTile()}
	// Keys are where entries go last, or where they go in between.
	keys, to := w.entries, lists{w.list.Arg(), w.fine.Arg()}
	first := b
	switch {
	case l.direct:
		keys, to = w.list, lists{s.Entries.Arg(), device.Null()}
		first.starts, first.tiles, first.most, first.tile = s.Offsets, device.Buffer[uint32]{}, math.MaxUint32, 1
	case l.split:
		keys, to = w.list, lists{w.entries.Arg(), w.coarseFine.Arg()}
		c := func(i int) device.Buffer[uint32] { return w.coarse.Slice(i*(l.coarse+1), (i+1)*(l.coarse+1)) }
		first = bins{n: l.coarse, counts: c(0).Slice(0, l.coarse), starts: c(1), cursors: c(2), tiles: c(3), tile: l.splitTile(2 * units)}
	}
	copies, together := l.countCopies()
	digits, err := digitsKernel(l.field)
	if err == nil {
		err = w.counts.Slice(0, 2*l.bins).Zero(q)
	}
	if err == nil && l.split {
		err = first.counts.Zero(q)
	}
	if err == nil {
		blocks, counted := device.Blocks(n, digitsBlock), 0
		if together {
			// As many as a card holds, and so long that they have more keys than counters.
			counted = l.coarse
			blocks = min(blocks, units*min(8, 2*l.tuning.Shared/(4*counted<<copies)), device.Blocks(l.Entries(), counted<<copies))
		}
		err = q.Launch(digits, device.D1(blocks), device.D1(digitsBlock), 4*counted<<copies, keys.Arg(), bad.Arg(), first.counts.Arg(), scalars.Arg(), table.Arg(), windows,
			device.U32(len(l.order)), device.U32(n), device.U32(l.stride()), device.U32(form), device.U32(counted), device.U32(copies))
	}
	for _, r := range l.runs() {
		if err != nil {
			return err
		}
		if together {
			break
		}
		k, shared := device.Kernel{Source: partitionSource, Name: "scatter_count"}, 4*r.bins
		if shared > l.tuning.Shared {
			k.Name, shared = "scatter_count_each", 0
		}
		blocks := min(device.Blocks(n, 8192), max(1, 4*units/r.windows)) // no second round of blocks
		err = q.Launch(k, device.D2(blocks, r.windows), l.block(false), shared, first.counts.Arg(), keys.Arg(), windows, device.U32(r.first), device.U32(n), device.U32(l.stride()))
	}
	if err == nil {
		err = w.scan(q, s, first)
	}
	for _, r := range l.runs() {
		if err != nil {
			return err
		}
		if r.each {
			blocks := min(device.Blocks(n, 512), device.Blocks(8*units, r.windows))
			err = q.Launch(device.Kernel{Source: partitionSource, Name: "scatter_each"}, device.D2(blocks, r.windows), l.block(false), 0,
				to.entries, to.fine, first.cursors.Arg(), keys.Arg(), windows, device.U32(r.first), device.U32(n), device.U32(l.stride()))
			continue
		}
		tile := l.tileOf(r.bins, 2*units)
		err = q.Launch(device.Kernel{Source: partitionSource, Name: "scatter_tile"}, device.D2(device.Blocks(n, tile), r.windows), l.block(true), 8*r.bins+8*tile,
			to.entries, to.fine, first.cursors.Arg(), keys.Arg(), windows, device.U32(r.first), device.U32(n), device.U32(l.stride()), device.U32(tile))
	}
	if err == nil && l.split {
		err = w.split(q, l, s, first, b, splits)
	}
	if err != nil || l.direct {
		return err
	}
	return w.sort(q, l, s, regions, done)
}

// split partitions coarse bins into bins.
func (w *Workspace) split(q *device.Queue, l *Layout, s plan.Sorted, coarse, b bins, splits device.Buffer[uint32]) error {
	blocks := l.Entries()/coarse.tile + coarse.n // there are no more tiles
	args := []device.Arg{coarse.starts.Arg(), coarse.tiles.Arg(), splits.Arg(), device.U32(coarse.n), device.U32(len(l.regions)), device.U32(coarse.tile)}
	shared := 4 * counters(l.bits)
	err := q.Launch(device.Kernel{Source: splitSource, Name: "scatter_split_count"}, device.D1(blocks), device.D1(256), shared,
		append([]device.Arg{b.counts.Arg(), w.coarseFine.Arg()}, args...)...)
	if err == nil {
		err = w.scan(q, s, b)
	}
	if err != nil {
		return err
	}
	return q.Launch(device.Kernel{Source: splitSource, Name: "scatter_split"}, device.D1(blocks), l.block(true), shared+4<<l.bits+8*coarse.tile+8,
		append([]device.Arg{w.list.Arg(), w.fine.Arg(), b.cursors.Arg(), w.entries.Arg(), w.coarseFine.Arg()}, args...)...)
}

// scan makes starts of counts.
func (w *Workspace) scan(q *device.Queue, s plan.Sorted, b bins) error {
	chunks := device.Blocks(b.n, chunk)
	tiles, most, tile := device.Null(), device.U32(b.most), device.U32(b.tile)
	if b.tiles.Len() > 0 {
		tiles = b.tiles.Arg()
	}
	if chunks > 1 {
		err := q.Launch(device.Kernel{Source: binsSource, Name: "scatter_sums"}, device.D1(chunks), device.D1(scanBlock), 0,
			w.sums.Arg(), b.counts.Arg(), device.U32(b.n), most, tile)
		if err != nil {
			return err
		}
	}
	return q.Launch(device.Kernel{Source: binsSource, Name: "scatter_scan"}, device.D1(chunks), device.D1(scanBlock), 0,
		b.starts.Arg(), b.cursors.Arg(), tiles, s.Offsets.Slice(s.Buckets, s.Buckets+1).Arg(), w.sums.Arg(), b.counts.Arg(), device.U32(b.n), most, tile)
}

// sort sorts the bins by bucket.
func (w *Workspace) sort(q *device.Queue, l *Layout, s plan.Sorted, regions, done device.Buffer[uint32]) error {
	most := min(l.long, l.Entries())
	tile := l.longTile()
	err := q.Launch(device.Kernel{Source: binsSource, Name: "scatter_fine"}, device.D1(l.bins), l.block(true), 4*l.fine+6*most+16,
		s.Entries.Arg(), s.Offsets.Arg(), w.list.Arg(), w.fine.Arg(), w.starts.Arg(), regions.Arg(), device.U32(len(l.regions)), device.U32(l.long))
	if err != nil || l.Entries() <= l.long {
		return err
	}
	tiles, units := l.Entries()/tile+l.Entries()/l.long, q.Device().Info().Units
	err = q.Launch(device.Kernel{Source: binsSource, Name: "scatter_long_count"}, device.D1(min(tiles, 4*units)), l.block(false), 4*l.fine,
		s.Offsets.Arg(), done.Arg(), w.fine.Arg(), w.starts.Arg(), w.tiles.Arg(), regions.Arg(), device.U32(l.bins), device.U32(len(l.regions)), device.U32(tile))
	if err != nil {
		return err
	}
	return q.Launch(device.Kernel{Source: binsSource, Name: "scatter_long"}, device.D1(min(tiles, 2*units)), l.block(true), 8*l.fine+8*tile+8,
		s.Entries.Arg(), s.Offsets.Arg(), w.list.Arg(), w.fine.Arg(), w.starts.Arg(), w.tiles.Arg(), regions.Arg(), device.U32(l.bins), device.U32(len(l.regions)),
		device.U32(tile))
}

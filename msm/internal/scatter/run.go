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

const chunk = 4096 // counters of a block of scatter_scan

// sizes are the lengths of a workspace's buffers.
type sizes struct {
	entries, buckets, list, counts, bins, sums, table int
}

func (l *Layout) sizes() sizes {
	words, _, _ := l.table()
	s := sizes{
		entries: max(1, l.Entries()), buckets: l.Buckets() + 1, table: len(words),
		// one more, for totals
		counts: l.bins + 1, bins: l.bins + 1, sums: 2 * ((l.bins + chunk - 1) / chunk),
	}
	if !l.direct {
		s.list = s.entries
	}
	return s
}

func (s sizes) bytes() int64 {
	return 4*(int64(s.entries)+int64(s.buckets)+2*int64(s.counts)+3*int64(s.bins)+int64(s.sums)+int64(s.table)) + 6*int64(s.list)
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
		s.list, s.counts, s.bins, s.sums = 0, 0, 0, 0
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
	if s.list > 0 {
		v, err := device.Alloc[uint16](q, s.list)
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
	_, groupsAt, regionsAt := l.table()
	table := w.tables[at]
	units := q.Device().Info().Units
	counts, done := w.counts.Slice(0, l.bins), w.counts.Slice(l.bins, 2*l.bins)
	if err := w.counts.Slice(0, 2*l.bins).Zero(q); err != nil {
		return err
	}
	for _, c := range l.counts {
		bins, shared, fits := l.countBins(c)
		name := "scatter_count"
		if !fits {
			name = "scatter_count_each"
		}
		k, err := named(l.field, name)
		if err != nil {
			return err
		}
		err = q.Launch(k, device.D1(min(device.Blocks(n, threads), 4*units)), device.D1(threads), shared, counts.Arg(), bad.Arg(), scalars.Arg(), table.Arg(),
			device.U32(groupsAt), device.U32(n), device.U32(form), device.U32(c[0]), device.U32(c[1]), device.U32(bins))
		if err != nil {
			return err
		}
	}
	if err := w.scan(q, l, s, counts); err != nil {
		return err
	}
	entries, fine := s.Entries.Arg(), device.Null()
	if !l.direct {
		entries, fine = w.list.Arg(), w.fine.Arg()
	}
	for i := 0; i < len(l.groups); {
		g := l.groups[i]
		run, blocks, shared := 0, 0, 0
		for i+run < len(l.groups) && l.groups[i+run].each == g.each {
			g := l.groups[i+run]
			if g.each {
				shared = max(shared, 48*g.windows)
				blocks = min(device.Blocks(n, threads), 4*units)
			} else {
				blocks = max(blocks, device.Blocks(n, g.scalars))
				shared = max(shared, 48*g.windows+8*g.bins+6*g.scalars*g.windows)
			}
			run++
		}
		name := "scatter_tile"
		if g.each {
			name = "scatter_each"
		}
		k, err := named(l.field, name)
		if err != nil {
			return err
		}
		err = q.Launch(k, device.D2(blocks, run), device.D1(threads), shared, entries, fine, w.cursors.Arg(), scalars.Arg(), table.Arg(),
			device.U32(groupsAt), device.U32(n), device.U32(form), device.U32(i))
		if err != nil {
			return err
		}
		i += run
	}
	if l.direct {
		return nil
	}
	return w.sort(q, l, s, table.Slice(4*regionsAt, 4*regionsAt+4*len(l.regions)), done)
}

// scan makes starts of counts.
func (w *Workspace) scan(q *device.Queue, l *Layout, s plan.Sorted, counts device.Buffer[uint32]) error {
	chunks := device.Blocks(l.bins, chunk)
	starts, tiles, most, tile := w.starts.Arg(), w.tiles.Arg(), device.U32(l.tuning.Long), device.U32(l.tuning.Tile)
	if l.direct {
		starts, tiles, most, tile = s.Offsets.Arg(), device.Null(), device.U32(uint32(math.MaxUint32)), device.U32(1)
	}
	if chunks > 1 {
		err := q.Launch(device.Kernel{Source: binsSource, Name: "scatter_sums"}, device.D1(chunks), device.D1(1024), 0,
			w.sums.Arg(), counts.Arg(), device.U32(l.bins), most, tile)
		if err != nil {
			return err
		}
	}
	return q.Launch(device.Kernel{Source: binsSource, Name: "scatter_scan"}, device.D1(chunks), device.D1(1024), 0,
		starts, w.cursors.Arg(), tiles, s.Offsets.Slice(s.Buckets, s.Buckets+1).Arg(), w.sums.Arg(), counts.Arg(), device.U32(l.bins), most, tile)
}

// sort sorts the bins by bucket.
func (w *Workspace) sort(q *device.Queue, l *Layout, s plan.Sorted, regions, done device.Buffer[uint32]) error {
	most := min(l.tuning.Long, l.Entries())
	long := device.U32(l.tuning.Long)
	tile := l.tuning.Tile
	err := q.Launch(device.Kernel{Source: binsSource, Name: "scatter_fine"}, device.D1(l.bins), device.D1(threads), 4*(l.fine+most),
		s.Entries.Arg(), s.Offsets.Arg(), w.list.Arg(), w.fine.Arg(), w.starts.Arg(), regions.Arg(), device.U32(len(l.regions)), long)
	if err != nil || l.Entries() <= l.tuning.Long {
		return err
	}
	blocks := min(l.Entries()/tile+l.Entries()/l.tuning.Long, 2*q.Device().Info().Units)
	err = q.Launch(device.Kernel{Source: binsSource, Name: "scatter_long_count"}, device.D1(blocks), device.D1(threads), 4*l.fine,
		s.Offsets.Arg(), done.Arg(), w.fine.Arg(), w.starts.Arg(), w.tiles.Arg(), regions.Arg(), device.U32(l.bins), device.U32(len(l.regions)), device.U32(tile))
	if err != nil {
		return err
	}
	return q.Launch(device.Kernel{Source: binsSource, Name: "scatter_long"}, device.D1(blocks), device.D1(threads), 8*l.fine+4*tile,
		s.Entries.Arg(), s.Offsets.Arg(), w.list.Arg(), w.fine.Arg(), w.starts.Arg(), w.tiles.Arg(), regions.Arg(), device.U32(l.bins), device.U32(len(l.regions)),
		device.U32(tile))
}

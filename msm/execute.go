package msm

import (
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/msm/internal/edwards"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
	"github.com/zkwarp/zkwarp/msm/internal/scatter"
)

// run is one multiplication by a schedule. With several chunks, sorting and the
// reduction of buckets run on side, beside the additions on main, and uploads have a
// third queue, so that chunk k+1 comes while chunk k is worked on. With one, all three
// are the same.
type run struct {
	*schedule
	main, side *device.Queue
	uploads    *device.Queue // side where there is one chunk
	points     device.Buffer[uint32]
	lists      []plan.Sorted // by group, if the scalars were prepared

	sorts   []*scatter.Workspace
	sums    adder
	scalars []device.Buffer[uint32] // memory for uploads
	words   device.Buffer[uint32]   // of the present chunk's scalars
	buckets []device.Buffer[uint32] // by group, or one for all in turn
	pieces  []device.Buffer[uint32] // by group, what the reduction asks for
	out     device.Buffer[uint32]   // the sums of all groups, then the first bad scalar of each chunk
	frees   []func()
}

// item is one chunk's group.
type item struct{ chunk, group int }

// execute gives the parts of the schedule's share of Σ scalars points. If lists is not
// nil the scalars are in them, and not in src. It calls ready when it has its memory.
func (s *schedule) execute(main, side, uploads *device.Queue, points device.Buffer[uint32], src source, lists []plan.Sorted, ready func()) ([]Part, error) {
	r := &run{schedule: s, main: main, side: side, uploads: uploads, points: points, lists: lists}
	defer r.free()
	if err := r.alloc(); err != nil {
		return nil, err
	}
	ready()
	if err := r.enqueue(src); err != nil {
		return nil, err
	}
	return r.finish()
}

func (r *run) free() {
	for _, f := range r.frees {
		f()
	}
}

func alloc(r *run, q *device.Queue, words int) (device.Buffer[uint32], error) {
	b, err := device.Alloc[uint32](q, words)
	if err == nil {
		r.frees = append(r.frees, b.Free)
	}
	return b, err
}

func (r *run) alloc() error {
	if r.lists == nil {
		if err := r.allocSorts(r.workspaces()); err != nil {
			return err
		}
	}
	xyzz := r.group.XYZZBytes() / 4
	total, most := 0, 0
	for i, b := range r.groups {
		total += r.reduces[i].Sums()
		most = max(most, b[1]-b[0])
	}
	sums, err := newAdder(r.main, r.group, r.entries, most, r.affine)
	if err != nil {
		return err
	}
	r.sums, r.frees = sums, append(r.frees, sums.Free)
	for i := range r.groups {
		n := most
		if len(r.chunks) > 1 {
			n = r.groups[i][1] - r.groups[i][0]
		} else if i == 1 {
			break
		}
		b, err := alloc(r, r.main, n*xyzz)
		if err != nil {
			return err
		}
		r.buckets = append(r.buckets, b)
	}
	for _, l := range r.reduces {
		b, err := l.Upload(r.side)
		if err != nil {
			return err
		}
		r.pieces, r.frees = append(r.pieces, b), append(r.frees, b.Free)
	}
	if r.out, err = alloc(r, r.side, total*xyzz+len(r.chunks)); err != nil {
		return err
	}
	if r.upload && r.lists == nil {
		for _, n := range r.inFlight() {
			b, err := alloc(r, r.side, n*r.group.Scalar.Limbs)
			if err != nil {
				return err
			}
			r.scalars = append(r.scalars, b)
		}
	}
	return nil
}

// allocSorts makes workspaces for sorting any item.
func (r *run) allocSorts(n int) error {
	var all []*scatter.Layout
	for _, row := range r.layouts {
		all = append(all, row...)
	}
	for range n {
		w, err := scatter.NewWorkspace(r.side, all...)
		if err != nil {
			return err
		}
		r.sorts, r.frees = append(r.sorts, w), append(r.frees, w.Free)
	}
	return nil
}

// bad is the word of the first bad scalar of a chunk.
func (r *run) bad(chunk int) device.Buffer[uint32] {
	at := r.out.Len() - len(r.chunks) + chunk
	return r.out.Slice(at, at+1)
}

// bucketsOf is the memory of a group's sums.
func (r *run) bucketsOf(group int) device.Buffer[uint32] {
	b := r.groups[group]
	return r.buckets[group%len(r.buckets)].Slice(0, (b[1]-b[0])*r.group.XYZZBytes()/4)
}

func (r *run) enqueue(src source) error {
	if err := r.out.Slice(r.out.Len()-len(r.chunks), r.out.Len()).Fill(r.side, 0xffffffff); err != nil {
		return err
	}
	var items []item
	for c := range r.chunks {
		for g := range r.groups {
			items = append(items, item{c, g})
		}
	}
	sorted, err := r.sort(items[0], 0, src)
	if err != nil {
		return err
	}
	if err := r.wait(r.main, r.side); err != nil {
		return err
	}
	for i, it := range items {
		// The next sorting takes the lists that the last additions read.
		if err := r.wait(r.side, r.main); err != nil {
			return err
		}
		if err := r.add(it, sorted); err != nil {
			return err
		}
		if i+1 < len(items) {
			if sorted, err = r.sort(items[i+1], i+1, src); err != nil {
				return err
			}
			// Now, so that the next additions do not wait for the reduction below. They
			// do wait for the one before, whose sums they overwrite.
			if err := r.wait(r.main, r.side); err != nil {
				return err
			}
		}
		if it.chunk+1 < len(r.chunks) {
			continue
		}
		if err := r.wait(r.side, r.main); err != nil {
			return err
		}
		if err := r.reduce(it.group); err != nil {
			return err
		}
	}
	if r.group.Edwards != nil {
		sums := r.out.Slice(0, r.out.Len()-len(r.chunks))
		if err := edwards.ToXYZZ(r.side, r.group, sums, sums); err != nil {
			return fmt.Errorf("msm: %w", err)
		}
	}
	return nil
}

// wait makes what is enqueued on q from now on wait for what is on other.
func (r *run) wait(q, other *device.Queue) error {
	if q == other {
		return nil
	}
	return q.After(other)
}

// sort enqueues the sorting of an item, the at-th.
func (r *run) sort(it item, at int, src source) (plan.Sorted, error) {
	if r.lists != nil {
		return r.lists[it.group], nil
	}
	if it.group == 0 {
		var buf device.Buffer[uint32]
		c := r.chunks[it.chunk]
		if r.upload {
			buf = r.scalars[it.chunk%len(r.scalars)].Slice(0, (c[1]-c[0])*r.group.Scalar.Limbs)
		}
		if err := r.takeScalars(it.chunk, src, buf); err != nil {
			return plan.Sorted{}, fmt.Errorf("msm: scalars: %w", err)
		}
	}
	defer r.side.Span("digits and sort")()
	sorted, err := r.sorts[at%len(r.sorts)].Run(r.side, r.layouts[it.chunk][it.group], r.words, scatter.Montgomery, r.bad(it.chunk))
	if err != nil {
		return sorted, fmt.Errorf("msm: sort: %w", err)
	}
	return sorted, nil
}

// takeScalars enqueues the upload of a chunk's scalars, if they are not on the device, and
// makes side wait for it.
func (r *run) takeScalars(chunk int, src source, buf device.Buffer[uint32]) error {
	if chunk == 0 {
		if err := r.wait(r.uploads, r.side); err != nil {
			return err
		}
	}
	c := r.chunks[chunk]
	var err error
	if r.words, err = src.words(r.uploads, buf, c[0], c[1]); err != nil {
		return err
	}
	if err := r.wait(r.side, r.uploads); err != nil {
		return err
	}
	// The next chunk takes the place of the one before this, whose sorting is enqueued;
	// that of this one is not, and need not be waited for.
	return r.wait(r.uploads, r.side)
}

func (r *run) add(it item, sorted plan.Sorted) error {
	defer r.main.Span("bucket sums")()
	if err := r.sums.Sums(r.main, r.points, sorted, r.bucketsOf(it.group), it.chunk > 0); err != nil {
		return fmt.Errorf("msm: bucket sums: %w", err)
	}
	return nil
}

// reduce enqueues the sums over a group's buckets, which are done.
func (r *run) reduce(group int) error {
	defer r.side.Span("reduce")()
	at := 0
	for _, l := range r.reduces[:group] {
		at += l.Sums()
	}
	l, xyzz := r.reduces[group], r.group.XYZZBytes()/4
	if err := l.Run(r.side, r.group, r.out.Slice(at*xyzz, (at+l.Sums())*xyzz), r.bucketsOf(group), r.pieces[group]); err != nil {
		return fmt.Errorf("msm: reduce: %w", err)
	}
	return nil
}

// finish waits, and reads what there is.
func (r *run) finish() ([]Part, error) {
	words, err := r.out.Read(r.side)
	if err != nil {
		return nil, fmt.Errorf("msm: %w", err)
	}
	sums := words[:len(words)-len(r.chunks)]
	for i, at := range words[len(sums):] {
		if at != 0xffffffff {
			return nil, badScalar(r.chunks[i][0] + int(at))
		}
	}
	var out []Part
	for _, l := range r.reduces {
		n := l.Sums() * r.group.XYZZBytes() / 4
		for _, p := range l.Parts(sums[:n]) {
			out = append(out, Part(p))
		}
		sums = sums[n:]
	}
	return out, nil
}

// Package bucket adds up the points of every bucket of a multi-scalar
// multiplication, from lists that are sorted by bucket.
package bucket

import (
	_ "embed" // kernel sources
	"fmt"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

//go:embed accumulate.cu
var accumulateText string

//go:embed merge.cu
var mergeText string

//go:embed running.cuh
var runningText string

//go:embed chunks.cuh
var chunksText string

//go:embed items.cuh
var itemsText string

//go:embed items.cu
var listText string

var (
	chunks  = &kernel.Source{Name: "msm/internal/bucket/chunks.cuh", Text: chunksText, Headers: []*kernel.Source{kernel.PTX}}
	items   = &kernel.Source{Name: "msm/internal/bucket/items.cuh", Text: itemsText, Headers: []*kernel.Source{chunks}}
	running = &kernel.Source{Name: "msm/internal/bucket/running.cuh", Text: runningText, Headers: []*kernel.Source{curve.XYZZ, chunks}}

	// list makes the list of items.
	list = &kernel.Source{Name: "msm/internal/bucket/items.cu", Text: listText, Headers: []*kernel.Source{items}}
)

// Of items.cu: a block's threads, and what each places; the words of a list's state.
const (
	listThreads = 512
	listEach    = 8
	stateItems  = 1024
	stateWords  = stateItems + 3
)

// merged is how many slots of partial sums one warp makes two of.
const merged = 64

// unit is one group's kernels, and how they are launched.
type unit struct {
	source   *kernel.Source // bucket_accumulate
	merge    *kernel.Source // the others
	threads  int            // of a block of bucket_accumulate
	resident int            // blocks that a multiprocessor holds at a time
	shared   int            // bytes of shared memory of a block
}

// newUnit has kernels whose running sums are in registers or in shared memory. Products of
// more than 8 words are functions that are called: inlined they are more code than the
// instruction cache holds, and slower.
func newUnit(g *curve.Group, threads, resident int, inShared bool) *unit {
	t := kernel.Template{Name: "msm/internal/bucket/accumulate.cu", Text: accumulateText}
	u := &unit{threads: threads, resident: resident}
	element, points := g.Degree*g.Base.Bytes(), 2*2
	if g.Edwards != nil {
		points = 2 * 3
	}
	sum := fmt.Sprintf("InRegisters<Group, %d>", threads)
	u.shared = threads * points * element
	if inShared {
		const numbers = 7
		sum, u.shared = fmt.Sprintf("InShared<Group, %d>", threads), threads*numbers*element
	}
	// Karatsuba's method gains 2 % in the Edwards form, which has registers to spare, and
	// loses 3 % in XYZZ coordinates (one H100).
	karatsuba := "0"
	if g.Edwards != nil {
		karatsuba = "1"
	}
	u.merge = g.Unit(kernel.Template{Name: "msm/internal/bucket/merge.cu", Text: mergeText}, nil, chunks)
	u.source = g.Unit(t, []string{
		"BLOCK_THREADS", fmt.Sprint(threads),
		"BLOCKS_RESIDENT", fmt.Sprint(resident),
		"RUNNING_SUM", sum,
		"WITH_KARATSUBA", karatsuba,
	}, kernel.PTX, running, items)
	return u
}

var units = map[*curve.Group]*unit{
	curve.BN254G1:         newUnit(curve.BN254G1, 128, 4, false),
	curve.BN254G2:         newUnit(curve.BN254G2, 64, 4, true),
	curve.BLS12377G1:      newUnit(curve.BLS12377G1, 128, 3, false),
	curve.BLS12377G2:      newUnit(curve.BLS12377G2, 64, 4, true),
	curve.BLS12377Edwards: newUnit(curve.BLS12377Edwards, 128, 3, false),
	curve.BLS12381G1:      newUnit(curve.BLS12381G1, 128, 3, false),
	curve.BLS12381G2:      newUnit(curve.BLS12381G2, 64, 4, true),
	curve.BW6761G1:        newUnit(curve.BW6761G1, 64, 4, true),
	curve.BW6761G2:        newUnit(curve.BW6761G2, 64, 4, true),
	curve.MNT4753G1:       newUnit(curve.MNT4753G1, 64, 4, true),
	curve.Toy61:           newUnit(curve.Toy61, 128, 4, false),
}

// Sources is the package's translation units.
func Sources() []*kernel.Source {
	out := []*kernel.Source{list}
	for _, g := range append([]*curve.Group{curve.Toy61, curve.BLS12377Edwards}, curve.Groups...) {
		out = append(out, units[g].source, units[g].merge)
	}
	return out
}

// SourcesOf is the kernels of one group, for loading them before they are needed; nil
// where there are none.
func SourcesOf(g *curve.Group) []*kernel.Source {
	u, ok := units[g]
	if !ok {
		return nil
	}
	return []*kernel.Source{list, u.source, u.merge}
}

// shape is how a list of up to so many entries is cut: into chunks of equal length.
// Buckets with more entries than a chunk are cut where chunks are.
type shape struct {
	threads int // chunks
	least   int // entries of a chunk, at least
}

// The chunks are as many times the threads that a card holds: four, and more for long
// lists, because threads end at different times and leave the card half empty in the
// end. A chunk that is cut for that keeps so many entries that its partial sums do not
// count.
const (
	waves     = 4
	mostWaves = 16
	longChunk = 512
)

func (u *unit) shape(units, entries int) shape {
	const least = 8
	held := units * u.resident * u.threads
	w := min(max(waves, entries/(held*longChunk)), mostWaves)
	return shape{threads: max(1, min(held*w, (entries+least-1)/least)), least: least}
}

// slots are the numbers of partial sums that each step leaves; the last is at most merged.
func (s shape) slots() []int {
	out := []int{2 * s.threads}
	for n := out[0]; n > merged; {
		n = 2 * ((n + merged - 1) / merged)
		out = append(out, n)
	}
	return out
}

// Bytes is the memory that a Workspace takes, besides the lists and the buckets.
func Bytes(g *curve.Group, info device.Info, entries, buckets int) int64 {
	u, ok := units[g]
	if !ok {
		return 0
	}
	s := u.shape(info.Units, entries)
	return s.bytes(g) + 4*int64(s.items(buckets)+stateWords)
}

// items is room for the list of items.
func (s shape) items(buckets int) int { return buckets + 2*s.threads }

func (s shape) bytes(g *curve.Group) int64 {
	n := int64(0)
	for _, v := range s.slots() {
		n += int64(v) * int64(g.XYZZBytes()+4)
	}
	return n
}

// Workspace is the memory for the bucket sums of one group. It serves one queue at a
// time.
type Workspace struct {
	unit         *unit
	group        *curve.Group
	entries      int
	buckets      int
	shape        shape
	levels       []level
	items, state device.Buffer[uint32] // none in NewChunks
}

// level is a list of partial sums.
type level struct {
	ids, sums device.Buffer[uint32]
}

// NewWorkspace allocates what the sums of lists with room for up to so many entries in
// up to so many buckets need.
func NewWorkspace(q *device.Queue, g *curve.Group, entries, buckets int) (*Workspace, error) {
	u, ok := units[g]
	if !ok {
		return nil, fmt.Errorf("bucket: no kernels for %s", g.Name)
	}
	return newWorkspace(q, g, entries, buckets, u.shape(q.Device().Info().Units, entries))
}

// newWorkspace is a NewWorkspace with the shape of its lists.
func newWorkspace(q *device.Queue, g *curve.Group, entries, buckets int, s shape) (*Workspace, error) {
	w, err := newChunks(q, g, entries, s)
	if err != nil {
		return nil, err
	}
	w.buckets = buckets
	if w.items, err = device.Alloc[uint32](q, s.items(buckets)); err == nil {
		w.state, err = device.Alloc[uint32](q, stateWords)
	}
	if err != nil {
		w.Free()
		return nil, fmt.Errorf("bucket: list of items: %w", err)
	}
	return w, nil
}

// NewChunks is a Workspace for a list that is cut into a given number of chunks of at
// least so many entries by somebody else, who fills First; it is for Finish alone.
func NewChunks(q *device.Queue, g *curve.Group, entries, chunks, least int) (*Workspace, error) {
	if units[g] == nil || chunks < 1 || chunks >= 1<<30 || least < 1 {
		return nil, fmt.Errorf("bucket: %d chunks of %s: %w", chunks, g.Name, device.ErrUsage)
	}
	return newChunks(q, g, entries, shape{threads: chunks, least: least})
}

// ChunksBytes is the memory that NewChunks takes.
func ChunksBytes(g *curve.Group, chunks int) int64 { return shape{threads: chunks}.bytes(g) }

func newChunks(q *device.Queue, g *curve.Group, entries int, s shape) (*Workspace, error) {
	w := &Workspace{unit: units[g], group: g, entries: entries, shape: s}
	if entries < 0 || int64(entries) > 1<<32-1 {
		return nil, fmt.Errorf("bucket: %d entries: %w", entries, device.ErrUsage)
	}
	for _, n := range s.slots() {
		ids, err := device.Alloc[uint32](q, n)
		if err == nil {
			w.levels = append(w.levels, level{ids: ids})
			w.levels[len(w.levels)-1].sums, err = device.Alloc[uint32](q, n*g.XYZZBytes()/4)
		}
		if err != nil {
			w.Free()
			return nil, fmt.Errorf("bucket: partial sums: %w", err)
		}
	}
	return w, nil
}

// Free gives the memory back.
func (w *Workspace) Free() {
	for _, l := range w.levels {
		l.ids.Free()
		l.sums.Free()
	}
	w.levels = nil
	w.items.Free()
	w.state.Free()
}

// First is where the partial sums of the chunks go, two slots for each.
func (w *Workspace) First() (ids, sums device.Buffer[uint32]) {
	return w.levels[0].ids, w.levels[0].sums
}

// Sums enqueues the sums of all buckets of s. Points are affine ones of the group, in
// Montgomery form; buckets has room for s.Buckets sums in the group's coordinates for
// sums (Group::Sum in kernels), canonical, all words zero where there is no point. Where
// onto is set the sums are added to what buckets holds, else buckets is written anew.
func (w *Workspace) Sums(q *device.Queue, points device.Buffer[uint32], s plan.Sorted, buckets device.Buffer[uint32], onto bool) error {
	if err := w.check(q, points, s, buckets); err != nil {
		return err
	}
	if err := w.list(q, s, buckets, onto); err != nil {
		return err
	}
	first, resident := w.levels[0], q.Device().Info().Units*w.unit.resident
	err := w.launch(q, w.unit.source, "bucket_accumulate_"+w.group.Name, min(resident, device.Blocks(w.shape.items(s.Buckets), w.unit.threads)), w.unit.threads, w.unit.shared,
		points.Arg(), s.Entries.Arg(), s.Offsets.Arg(), device.U32(s.Buckets),
		device.U32(w.shape.threads), device.U32(w.shape.least), flag(onto), w.items.Arg(), w.state.Arg(), buckets.Arg(), first.ids.Arg(), first.sums.Arg())
	if err != nil {
		return err
	}
	return w.Finish(q, s, buckets, onto)
}

// list enqueues the list of items, zeros for the sums of buckets without entries, and the
// ids of slots.
func (w *Workspace) list(q *device.Queue, s plan.Sorted, buckets device.Buffer[uint32], onto bool) error {
	if err := w.state.Zero(q); err != nil {
		return fmt.Errorf("bucket: clear: %w", err)
	}
	t, least, ids := device.U32(w.shape.threads), device.U32(w.shape.least), w.levels[0].ids.Arg()
	blocks := min(device.Blocks(max(s.Buckets, w.shape.threads), listThreads), 4*q.Device().Info().Units)
	err := w.launch(q, list, "bucket_items_count", blocks, listThreads, 0, s.Offsets.Arg(), device.U32(s.Buckets), t, least, ids, w.state.Arg())
	if err != nil {
		return err
	}
	return w.launch(q, list, "bucket_items_place", device.Blocks(w.shape.items(s.Buckets), listThreads*listEach), listThreads, 0, s.Offsets.Arg(), device.U32(s.Buckets),
		t, least, flag(onto), ids, w.state.Arg(), w.items.Arg(), buckets.Arg(), device.U32(w.group.XYZZBytes()/16))
}

// Finish enqueues what follows the sums of items or chunks: the buckets that several
// chunks have parts of, from the partial sums in First.
func (w *Workspace) Finish(q *device.Queue, s plan.Sorted, buckets device.Buffer[uint32], onto bool) error {
	t, first := w.shape.threads, w.levels[0]
	err := w.launch(q, w.unit.merge, "bucket_join_"+w.group.Name, device.Blocks(t, 64), 64, 0, s.Offsets.Arg(), device.U32(s.Buckets), device.U32(t), device.U32(w.shape.least), flag(onto),
		buckets.Arg(), first.ids.Arg(), first.sums.Arg())
	if err != nil {
		return err
	}
	slots := w.shape.slots()
	for i, l := range w.levels {
		last, ids, sums := true, device.Null(), device.Null()
		if i+1 < len(w.levels) {
			last, ids, sums = false, w.levels[i+1].ids.Arg(), w.levels[i+1].sums.Arg()
		}
		err := w.launch(q, w.unit.merge, "bucket_merge_"+w.group.Name, (slots[i]+merged-1)/merged, 32, 0, l.ids.Arg(), l.sums.Arg(), device.U32(slots[i]), flag(last), flag(onto),
			buckets.Arg(), ids, sums)
		if err != nil {
			return err
		}
	}
	return nil
}

func flag(b bool) device.Arg {
	if b {
		return device.U32(1)
	}
	return device.U32(0)
}

func (w *Workspace) launch(q *device.Queue, source *kernel.Source, name string, blocks, block, shared int, args ...device.Arg) error {
	if err := q.Launch(device.Kernel{Source: source, Name: name}, device.D1(blocks), device.D1(block), shared, args...); err != nil {
		return fmt.Errorf("bucket: %w", err)
	}
	return nil
}

func (w *Workspace) check(q *device.Queue, points device.Buffer[uint32], s plan.Sorted, buckets device.Buffer[uint32]) error {
	switch {
	case q.OnHost():
		return fmt.Errorf("bucket: sums on the CPU: %w", device.ErrUsage)
	case s.Entries.Len() > w.entries || s.Buckets > w.buckets:
		return fmt.Errorf("bucket: a list of %d entries in %d buckets in a workspace for %d in %d: %w", s.Entries.Len(), s.Buckets, w.entries, w.buckets, device.ErrUsage)
	case s.Buckets < 1 || s.Buckets >= 1<<31 || s.Offsets.Len() != s.Buckets+1 || buckets.Len() != s.Buckets*w.group.XYZZBytes()/4:
		return fmt.Errorf("bucket: %d buckets, %d offsets, %d words of sums: %w", s.Buckets, s.Offsets.Len(), buckets.Len(), device.ErrUsage)
	case points.Len()%(w.group.AffineBytes()/4) != 0:
		return fmt.Errorf("bucket: points of %d words: %w", points.Len(), device.ErrUsage)
	}
	return nil
}

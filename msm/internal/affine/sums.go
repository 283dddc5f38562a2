package affine

import (
	"fmt"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm/internal/bucket"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
)

// config says how a group's bucket sums run.
type config struct {
	threads  int // of a block
	resident int // blocks that a multiprocessor holds at a time
	each     int // chunks of a thread, at most 32
	// Where a chunk's sum and its product of denominators are: in shared memory, or in
	// global memory and, with luck, the L2 cache.
	sums, products bool
	// A step keeps its points from the way up to the way down, instead of fetching them
	// again.
	staged bool
	// Coordinates are loaded again rather than kept in registers.
	reload bool
	// A square is a product: one function fewer, for the cache of instructions.
	noSquares bool
}

func (c config) unit(g *curve.Group) *kernel.Source {
	flag := func(b bool) string {
		if b {
			return "1"
		}
		return "0"
	}
	t := kernel.Template{Name: "msm/internal/affine/affine.cu", Text: affineText}
	return g.Unit(t, []string{
		"BLOCK_THREADS", fmt.Sprint(c.threads),
		"BLOCKS_RESIDENT", fmt.Sprint(c.resident),
		"SHARED_SUMS", flag(c.sums),
		"SHARED_PRODUCTS", flag(c.products),
		"STAGED", flag(c.staged),
		"RELOAD", flag(c.reload),
		"SQUARES", flag(!c.noSquares),
	}, blockHeader)
}

// shared is the shared memory of a block whose threads have so many chunks each.
func (c config) shared(g *curve.Group, each int) int {
	elements := treeNodes(c.threads)
	if c.products {
		elements += c.threads * each
	} else {
		elements += c.threads
	}
	if c.sums {
		elements += 2 * c.threads * each
	}
	return elements * elementBytes(g)
}

// global is the elements that a chunk has in global memory.
func (c config) global() int {
	n := 0
	if !c.sums {
		n += 2
	}
	if !c.products {
		n++
	}
	if c.staged {
		n += 2
	}
	return n
}

// Measured on an H100 (bench/NOTES.md). The extensions' and BW6-761's are those of the field
// of like length.
var configs = map[*curve.Group]config{
	curve.BN254G1:    {threads: 320, resident: 2, each: 10, products: true, reload: true},
	curve.BN254G2:    {threads: 128, resident: 2, each: 12, products: true, reload: true, noSquares: true},
	curve.BLS12377G1: {threads: 192, resident: 2, each: 11, products: true, reload: true, noSquares: true},
	curve.BLS12377G2: {threads: 128, resident: 2, each: 16, staged: true, reload: true, noSquares: true},
	curve.BLS12381G1: {threads: 192, resident: 2, each: 11, products: true, reload: true, noSquares: true},
	curve.BLS12381G2: {threads: 128, resident: 2, each: 16, staged: true, reload: true, noSquares: true},
	curve.BW6761G1:   {threads: 128, resident: 2, each: 16, staged: true, reload: true, noSquares: true},
	curve.BW6761G2:   {threads: 128, resident: 2, each: 16, staged: true, reload: true, noSquares: true},
	curve.MNT4753G1:  {threads: 128, resident: 2, each: 16, staged: true, reload: true, noSquares: true},
	curve.Toy61:      {threads: 128, resident: 2, each: 8, products: true, staged: true},
}

// shape is how a list is cut: blocks x threads x each chunks.
type shape struct {
	config
	blocks int
	least  int // entries of a chunk, at least
}

func (s shape) chunks() int { return s.blocks * s.threads * s.each }

// shape is for lists of up to so many entries. The partial sums of a chunk cost some
// additions of 14 products, so that short lists are cut into fewer.
func (c config) shape(units, entries int) shape {
	const long, least = 96, 8
	s := shape{config: c, blocks: max(1, units*c.resident), least: least}
	s.each = max(1, min(c.each, entries/(long*s.blocks*s.threads)))
	s.blocks = max(1, min(s.blocks, (entries+least*s.threads*s.each-1)/(least*s.threads*s.each)))
	return s
}

func (s shape) bytes(g *curve.Group) int64 {
	return int64(s.chunks())*int64(3*4+s.global()*elementBytes(g)) + bucket.ChunksBytes(g, s.chunks())
}

// Bytes is the memory that a Workspace takes, besides the lists and the buckets. Sums
// onto what buckets hold take as much as the buckets more.
func Bytes(g *curve.Group, info device.Info, entries int) int64 {
	c, ok := configs[g]
	if !ok {
		return 0
	}
	return c.shape(info.Units, entries).bytes(g)
}

// Workspace is the memory for the bucket sums of one group. It serves one queue at a
// time.
type Workspace struct {
	group         *curve.Group
	source        *kernel.Source
	shape         shape
	entries       int
	state, memory device.Buffer[uint32]
	chunks        *bucket.Workspace
}

// NewWorkspace allocates what the sums of lists with room for up to so many entries
// need.
func NewWorkspace(q *device.Queue, g *curve.Group, entries int) (*Workspace, error) {
	c, ok := configs[g]
	if !ok {
		return nil, fmt.Errorf("affine: no kernels for %s: %w", g.Name, device.ErrUsage)
	}
	return newWorkspace(q, g, units[g], entries, c.shape(q.Device().Info().Units, entries))
}

func newWorkspace(q *device.Queue, g *curve.Group, source *kernel.Source, entries int, s shape) (*Workspace, error) {
	w := &Workspace{group: g, source: source, shape: s, entries: entries}
	var err error
	if w.chunks, err = bucket.NewChunks(q, g, entries, s.chunks(), s.least); err != nil {
		return nil, fmt.Errorf("affine: %w", err)
	}
	w.state, err = device.Alloc[uint32](q, 3*s.chunks())
	if err == nil {
		w.memory, err = device.Alloc[uint32](q, s.chunks()*s.global()*elementBytes(g)/4)
	}
	if err != nil {
		w.Free()
		return nil, fmt.Errorf("affine: sums at work: %w", err)
	}
	return w, nil
}

// Free gives the memory back.
func (w *Workspace) Free() {
	w.chunks.Free()
	w.state.Free()
	w.memory.Free()
}

// Sums enqueues the sums of all buckets of s. Points are affine ones of the group, in
// Montgomery form; buckets has room for s.Buckets sums in XYZZ coordinates, canonical,
// all words zero where there is no point. Where onto is set the sums are added to what
// buckets holds, else buckets is written anew.
func (w *Workspace) Sums(q *device.Queue, points device.Buffer[uint32], s plan.Sorted, buckets device.Buffer[uint32], onto bool) error {
	switch {
	case q.OnHost():
		return fmt.Errorf("affine: sums on the CPU: %w", device.ErrUsage)
	case s.Entries.Len() > w.entries:
		return fmt.Errorf("affine: a list of %d entries in a workspace for %d: %w", s.Entries.Len(), w.entries, device.ErrUsage)
	case s.Buckets < 1 || s.Buckets >= 1<<31 || s.Offsets.Len() != s.Buckets+1 || buckets.Len() != s.Buckets*w.group.XYZZBytes()/4:
		return fmt.Errorf("affine: %d buckets, %d offsets, %d words of sums: %w", s.Buckets, s.Offsets.Len(), buckets.Len(), device.ErrUsage)
	case points.Len()%(w.group.AffineBytes()/4) != 0:
		return fmt.Errorf("affine: points of %d words: %w", points.Len(), device.ErrUsage)
	}
	if !onto {
		return w.sums(q, points, s, buckets)
	}
	// An addition to the bucket wherever a thread leaves one would hold up its whole
	// warp each time.
	fresh, err := device.Alloc[uint32](q, buckets.Len())
	if err != nil {
		return fmt.Errorf("affine: second set of buckets: %w", err)
	}
	defer fresh.Free()
	if err := w.sums(q, points, s, fresh); err != nil {
		return err
	}
	return w.launch(q, "affine_join", device.Blocks(s.Buckets, 128), 128, 0, buckets.Arg(), fresh.Arg(), device.U32(s.Buckets))
}

func (w *Workspace) sums(q *device.Queue, points device.Buffer[uint32], s plan.Sorted, buckets device.Buffer[uint32]) error {
	if err := buckets.Zero(q); err != nil {
		return fmt.Errorf("affine: clear: %w", err)
	}
	ids, partials := w.chunks.First()
	err := w.launch(q, "affine_sums", w.shape.blocks, w.shape.threads, w.shape.shared(w.group, w.shape.each),
		points.Arg(), s.Entries.Arg(), s.Offsets.Arg(), device.U32(s.Buckets), device.U32(w.shape.least), device.U32(w.shape.each),
		device.U32(treeNodes(w.shape.threads)), w.state.Arg(), w.memory.Arg(), buckets.Arg(), ids.Arg(), partials.Arg())
	if err != nil {
		return err
	}
	return w.chunks.Finish(q, s, buckets, false)
}

func (w *Workspace) launch(q *device.Queue, name string, blocks, threads, shared int, args ...device.Arg) error {
	k := device.Kernel{Source: w.source, Name: name + "_" + w.group.Name}
	if err := q.Launch(k, device.D1(blocks), device.D1(threads), shared, args...); err != nil {
		return fmt.Errorf("affine: %w", err)
	}
	return nil
}

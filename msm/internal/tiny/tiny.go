// Package tiny sums few points on a device, some ten thousand at most, in two launches:
// what a sum takes there is not work but the length of its longest chain of additions
// and of launches.
package tiny

import (
	_ "embed" // kernel source
	"fmt"
	"math/big"
	"math/bits"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm/internal/plan"
	"github.com/zkwarp/zkwarp/msm/internal/scatter"
)

//go:embed tiny.cu
var text string

var (
	groups = append([]*curve.Group{curve.Toy61, curve.BLS12377Edwards}, curve.Groups...)
	units  = func() map[*curve.Group]*kernel.Source {
		out := map[*curve.Group]*kernel.Source{}
		for _, g := range groups {
			finished := ""
			if g.Edwards != nil {
				finished = "from_extended"
			}
			out[g] = g.Unit(kernel.Template{Name: "msm/internal/tiny/tiny.cu", Text: text}, []string{
				"BLOCK_THREADS", fmt.Sprint(plan.TinyThreads),
				"MOST_BUCKETS", fmt.Sprint(plan.TinyBuckets),
				"FINISHED", finished,
				"SCALAR_HEADER", g.Scalar.Params().Name,
				"SCALAR_FIELD", g.Scalar.Name,
			}, g.Scalar.Params(), curve.Lanes, scatter.RecodeHeader)
		}
		return out
	}()
)

// Source is the kernels of a group, nil where there are none.
func Source(g *curve.Group) *kernel.Source { return units[g] }

// Sources is the package's translation units.
func Sources() []*kernel.Source {
	var out []*kernel.Source
	for _, g := range groups {
		out = append(out, units[g])
	}
	return out
}

// Layout is how n points are summed: parts of them, a block for each part and window.
type Layout struct {
	group   *curve.Group
	windows []plan.Window
	n       int
	parts   int
	rows    int // sums that are left of a window
}

// New is a layout for n points, and false where the windows share buckets, or points or
// buckets are too many.
func New(g *curve.Group, w *plan.Windows, n int, info device.Info) (*Layout, bool) {
	parts, ok := plan.TinyParts(w, n, info.Units)
	if !ok || units[g] == nil {
		return nil, false
	}
	return newLayout(g, w, n, parts), true
}

func newLayout(g *curve.Group, w *plan.Windows, n, parts int) *Layout {
	l := &Layout{group: g, windows: w.List, n: n, parts: parts}
	for _, x := range w.List {
		l.rows = max(l.rows, 1+bits.Len(uint(x.Buckets-1)))
	}
	return l
}

// table is what kernels read: what is added to scalars, then windows.
func (l *Layout) table() []uint32 {
	sum := new(big.Int)
	for _, w := range l.windows {
		if !w.Top {
			sum.SetBit(sum, w.Shift+w.Bits-1, 1)
		}
	}
	words := l.group.Scalar.Words(sum)
	for len(words)%4 != 0 {
		words = append(words, 0)
	}
	for _, w := range l.windows {
		half := uint32(0)
		if !w.Top {
			half = 1 << (w.Bits - 1)
		}
		words = append(words, uint32(w.Shift), 1<<w.Bits-1, half, uint32(w.Buckets))
	}
	return words
}

// sums and out are words of the buffers of a workspace.
func (l *Layout) sums() int {
	return len(l.windows) * l.parts * (plan.TinyThreads + plan.TinyBuckets) * l.group.XYZZBytes() / 4
}

func (l *Layout) out() int { return len(l.windows)*l.rows*l.group.XYZZBytes()/4 + l.parts }

// Bytes is the memory that a Workspace takes.
func (l *Layout) Bytes() int64 { return 4 * int64(l.sums()+l.out()+len(l.table())) }

// Workspace is the memory for sums by a layout. It serves one queue at a time.
type Workspace struct {
	*Layout
	memory, result, windowTable device.Buffer[uint32]
}

// NewWorkspace allocates it.
func NewWorkspace(q *device.Queue, l *Layout) (*Workspace, error) {
	w := &Workspace{Layout: l}
	var err error
	if w.memory, err = device.Alloc[uint32](q, l.sums()); err == nil {
		w.result, err = device.Alloc[uint32](q, l.out())
	}
	if err == nil {
		w.windowTable, err = device.Upload(q, l.table())
	}
	if err != nil {
		w.Free()
		return nil, fmt.Errorf("tiny: %w", err)
	}
	return w, nil
}

// Free gives the memory back.
func (w *Workspace) Free() {
	w.memory.Free()
	w.result.Free()
	w.windowTable.Free()
}

// Part is the sum of points that counts 2^Shift times.
type Part struct {
	Shift int
	Words []uint32 // in XYZZ coordinates
}

// Sum sums the layout's number of points, in the form that the group's kernels take, and
// scalars in Montgomery form, and waits. bad is the index of the first scalar that is not
// below the group's order, if there is one, and -1 otherwise.
func (w *Workspace) Sum(q *device.Queue, points, scalars device.Buffer[uint32]) (parts []Part, bad int, err error) {
	if q.OnHost() || points.Len() != w.n*w.group.AffineBytes()/4 || scalars.Len() != w.n*w.group.Scalar.Limbs {
		return nil, -1, fmt.Errorf("tiny: %d words of points, %d of scalars for %d of %s: %w", points.Len(), scalars.Len(), w.n, w.group.Name, device.ErrUsage)
	}
	if err := w.launch(q, points, scalars); err != nil {
		return nil, -1, fmt.Errorf("tiny: %w", err)
	}
	words, err := w.result.Read(q)
	if err != nil {
		return nil, -1, fmt.Errorf("tiny: %w", err)
	}
	first := uint32(1<<32 - 1)
	for _, at := range words[len(words)-w.parts:] {
		first = min(first, at)
	}
	if first != 1<<32-1 {
		return nil, int(first), nil
	}
	each := w.group.XYZZBytes() / 4
	for i, x := range w.windows {
		// Σ (i+1) S_i is the sum of all S_i, and 2^h times that of those with bit h.
		row := words[i*w.rows*each:]
		parts = append(parts, Part{x.Shift, row[:each]})
		for h := range bits.Len(uint(x.Buckets - 1)) {
			parts = append(parts, Part{x.Shift + h, row[(h+1)*each : (h+2)*each]})
		}
	}
	return parts, -1, nil
}

func (w *Workspace) launch(q *device.Queue, points, scalars device.Buffer[uint32]) error {
	bad := w.result.Slice(w.result.Len()-w.parts, w.result.Len())
	shared := 4 * ((w.n + w.parts - 1) / w.parts)
	kernel := func(name string) device.Kernel {
		return device.Kernel{Source: units[w.group], Name: name + "_" + w.group.Name}
	}
	stop := q.Span("digits and bucket sums")
	err := q.Launch(kernel("tiny_windows"), device.D2(w.parts, len(w.windows)), device.D1(plan.TinyThreads), shared,
		points.Arg(), scalars.Arg(), w.windowTable.Arg(), device.U32(w.n), w.memory.Arg(), bad.Arg())
	stop()
	if err != nil {
		return err
	}
	defer q.Span("reduce")()
	return q.Launch(kernel("tiny_join"), device.D1(len(w.windows)), device.D1(plan.TinyThreads), 0,
		w.windowTable.Arg(), device.U32(w.parts), w.memory.Arg(), w.result.Arg(), device.U32(w.rows))
}

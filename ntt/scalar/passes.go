package scalar

import (
	_ "embed" // kernel sources
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/mont"
)

//go:embed scalar.cu
var text string

// unit is the kernels for one field. Three blocks of 256 threads hide the latency of one
// another; elements of 12 words leave registers for two.
func unit(f *mont.Field) *kernel.Source {
	blocks := "3"
	if f.Limbs > 8 {
		blocks = "2"
	}
	return curve.ScalarUnit(f, kernel.Template{Name: "ntt/scalar/scalar.cu", Text: text}, []string{"NTT_BLOCKS", blocks}, kernel.PTX)
}

// Sources are the units of the package, a field each.
func Sources() []*kernel.Source {
	var out []*kernel.Source
	for _, f := range fields {
		out = append(out, f.unit)
	}
	return out
}

// Units are the translation units that transforms over a field use, for
// device.Device.Preload; none if there are no transforms over it.
func Units(field *mont.Field) []*kernel.Source {
	if f := find(field); f != nil {
		return []*kernel.Source{f.unit}
	}
	return nil
}

func (f *fieldOf) kernel(name string) device.Kernel {
	return device.Kernel{Source: f.unit, Name: "scalar_" + name + "_" + f.Name}
}

// values of a thread.
const values = 4

// tuning is what shapes passes and tables, as base-2 logarithms.
type tuning struct {
	logTile int // of the elements of a tile, at most logRoots
	logHigh int // of the largest table of powers of the domain's root
}

// usual is tiles of 32 or 48 KB of shared memory for 256 threads of four elements, and
// tables of 4 or 6 MB, which the second-level caches of GPUs hold.
var usual = tuning{logTile: 10, logHigh: 17}

// pass is one launch: the layers of `bits` bits of blocks of 2^remaining elements, on
// tiles of 2^width columns.
type pass struct{ remaining, bits, width int }

// above is how many bits of frequencies earlier passes of 2^log elements are for.
func (p pass) above(log int) int { return log - p.remaining }

// plan is the passes of a transform of 2^log elements by decimation in frequency. The
// last takes whole blocks of the size of a tile; those before share the other layers out
// evenly, so that as many columns as can be lie side by side in a tile: two at least,
// unless one pass with a single column does, which is for sizes that stay in the cache of
// a GPU.
func (t tuning) plan(log int) []pass {
	last := min(log, t.logTile)
	rest := log - last
	if rest == 1 { // a window is two bits
		last, rest = last-1, 2
	}
	count := 0
	switch {
	case rest > t.logTile:
		count = (rest + t.logTile - 2) / (t.logTile - 1)
	case rest > 0:
		count = 1
	}
	var out []pass
	for remaining := log; count > 0; count-- {
		bits := (rest + count - 1) / count
		out = append(out, pass{remaining, bits, min(t.logTile-bits, remaining-bits)})
		remaining -= bits
		rest -= bits
	}
	if last > 0 {
		out = append(out, pass{last, last, 0})
	}
	return out
}

// step is a transform and what else its first and its last pass do: factors of the
// elements that come in (times elements, and a scale) and go out, or one of all, and what
// is taken from those that go out.
type step struct {
	inverse      bool
	times, minus device.Buffer[uint64]
	in, out      scale
	all          factor
}

func orNull[T any](b device.Buffer[T]) device.Arg {
	if b.Len() == 0 {
		return device.Null()
	}
	return b.Arg()
}

// args are the tables of the scale that go to a kernel.
func (s scale) args() []device.Arg { return []device.Arg{orNull(s.first), orNull(s.second)} }

// split is what a scale makes of a place.
func (d *Domain) split(s scale) (mask, shift device.Arg) {
	if s.first.Len() == d.f.Limbs {
		return device.U32(0), device.U32(0)
	}
	return device.U32(1<<d.scaleLog() - 1), device.U32(d.scaleLog())
}

func (t *Transform) transform(q *device.Queue, buf device.Buffer[uint64], from Order, s step) error {
	if t.tables.split == 0 && s.all.scale.first.Len() > 0 {
		s.out = s.all.scale
	}
	passes := t.d.tune.plan(t.d.log)
	if len(passes) == 0 {
		return t.single(q, buf, s)
	}
	if from == Reversed {
		slices.Reverse(passes)
	}
	return t.passes(q, buf, from, s, passes, true, true)
}

// passes does some of a transform's passes; first and last say whether its first and last
// are among them.
func (t *Transform) passes(q *device.Queue, buf device.Buffer[uint64], from Order, s step, passes []pass, first, last bool) error {
	d := t.d
	inverse := 0
	if s.inverse {
		inverse = 1
	}
	for i, p := range passes {
		at := step{}
		canonical := 0
		if first && i == 0 {
			at.times, at.in = s.times, s.in
		}
		if last && i == len(passes)-1 {
			at.minus, at.out, canonical = s.minus, s.out, 1
		}
		args := []device.Arg{buf.Arg()}
		name := "up"
		if from == Natural {
			name = "down"
			args = append(args, orNull(at.times), orNull(at.minus))
		}
		low := t.tables.low
		if p.remaining == d.log && s.all.low.Len() > 0 && t.tables.split > 0 {
			low = s.all.low
		}
		own := s.in.own[p]
		if s.out.own != nil {
			own = s.out.own[p]
		}
		args = append(args, t.tables.roots.Arg(), t.tables.high.Arg(), low.Arg(), orNull(own), device.U32(d.log), device.U32(t.tables.split),
			device.U32(inverse), device.U32(p.remaining), device.U32(p.bits), device.U32(p.width))
		args = append(append(args, at.in.args()...), at.out.args()...)
		// No transform has both.
		mask, shift := d.split(at.in)
		if at.out.first.Len() > 0 {
			mask, shift = d.split(at.out)
		}
		if err := t.launch(q, name, p.bits+p.width, append(args, mask, shift, device.U32(canonical))); err != nil {
			return err
		}
	}
	return nil
}

// launch is a pass over tiles of 2^tile elements.
func (t *Transform) launch(q *device.Queue, name string, tile int, args []device.Arg) error {
	d := t.d
	err := q.Launch(d.f.kernel(name), device.D1(1<<(d.log-tile)), device.D1(max(1, 1<<tile/values)), d.f.Bytes()<<tile, args...)
	if err != nil {
		return fmt.Errorf("scalar: transform of 2^%d elements of %s: %w", d.log, d.f.Name, err)
	}
	return nil
}

// toCoset turns values on the domain into those on the coset, both in natural order. One
// pass does what is last on the way to coefficients and first on the way back.
func (t *Transform) toCoset(q *device.Queue, buf device.Buffer[uint64]) error {
	d := t.d
	passes := d.tune.plan(d.log)
	if len(passes) == 0 {
		return nil // a constant
	}
	columns, rows := passes[:len(passes)-1], passes[len(passes)-1]
	if err := t.passes(q, buf, Natural, step{inverse: true}, columns, true, false); err != nil {
		return err
	}
	canonical := 0
	if len(columns) == 0 {
		canonical = 1
	}
	mask, shift := d.split(t.tables.toCoset)
	args := append([]device.Arg{buf.Arg(), t.tables.roots.Arg(), device.U32(rows.bits)}, t.tables.toCoset.args()...)
	if err := t.launch(q, "down_up", rows.bits, append(args, mask, shift, device.U32(canonical))); err != nil {
		return err
	}
	slices.Reverse(columns)
	return t.passes(q, buf, Reversed, step{in: t.tables.toCoset}, columns, false, true)
}

// single is transform for a domain of one element.
func (t *Transform) single(q *device.Queue, buf device.Buffer[uint64], s step) error {
	err := q.Launch(t.d.f.kernel("single"), device.D1(1), device.D1(1), 0,
		buf.Arg(), orNull(s.times), orNull(s.out.first), orNull(s.minus))
	if err != nil {
		return fmt.Errorf("scalar: transform of one element of %s: %w", t.d.f.Name, err)
	}
	return nil
}

func (t *Transform) reverse(q *device.Queue, buf device.Buffer[uint64]) error {
	const threads = 256
	err := q.Launch(t.d.f.kernel("reverse"), device.D1(device.Blocks(t.d.Len(), threads)), device.D1(threads), 0, buf.Arg(), device.U32(t.d.log))
	if err != nil {
		return fmt.Errorf("scalar: reversal of 2^%d elements of %s: %w", t.d.log, t.d.f.Name, err)
	}
	return nil
}

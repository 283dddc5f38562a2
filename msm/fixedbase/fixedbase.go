// Package fixedbase multiplies one point by many scalars: s_i G for a base G, as setups
// need them. On a device it has a table of multiples of the base, one window of the scalars'
// signed digits after the other, and adds up one point of every window (docs/msm.md, section
// "Multiples of one point").
//
//	t, err := fixedbase.New(dev, bn254.G1, bn254.G1Multiples, base, fixedbase.Options{N: n}) // msm/bn254
//	defer t.Close()
//	err = t.Multiply(ctx, points, scalars)
package fixedbase

import (
	"context"
	_ "embed" // kernel source
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field/mont"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/msm"
	"github.com/zkwarp/zkwarp/msm/internal/affine"
	"github.com/zkwarp/zkwarp/msm/internal/bases"
	"github.com/zkwarp/zkwarp/msm/internal/bucket"
)

//go:embed digits.cu
var digitsText string

// fields are those of the scalars of pairings, and of the toy curve.
var fields = []*mont.Field{curve.Toy61Fr, curve.BN254Fr, curve.BLS12377Fr, curve.BLS12381Fr, curve.BW6761Fr}

// units cut scalars, one for each field.
var units = func() map[*mont.Field]*kernel.Source {
	t := kernel.Template{Name: "msm/fixedbase/digits.cu", Text: digitsText}
	out := map[*mont.Field]*kernel.Source{}
	for _, f := range fields {
		out[f] = curve.ScalarUnit(f, t, nil)
	}
	return out
}()

// Sources is the package's translation units.
func Sources() []*kernel.Source {
	var out []*kernel.Source
	for _, f := range fields {
		out = append(out, units[f])
	}
	return out
}

// Units are the translation units that multiples in a group take, for Device.Preload; nil
// for a group without kernels.
func Units(g *curve.Group) []*kernel.Source {
	if units[g.Scalar] == nil || affine.Normalizer(g) == nil {
		return nil
	}
	return append(bucket.SourcesOf(g), units[g.Scalar], affine.Normalizer(g), bases.SourcesOf(g)[0])
}

// Options are choices of New.
type Options struct {
	// N is about how many multiples there will be: more are worth a larger table, which
	// takes time to make. 0 is 2^20.
	N int
	// Window is the width of windows in bits, 4 to 24, on a device with kernels; 0 chooses,
	// and so does the CPU.
	Window int
	// Tile is how many multiples a device makes at a time, at most 2^24; 0 chooses.
	Tile int
}

const (
	usualN = 1 << 20
	// tileBytes is how many bytes of points a tile has: enough to fill a card for a
	// millisecond, which hides its launches.
	tileBytes = 64 << 20
	// leastTile is what a tile is made smaller to where memory is short.
	leastTile = 1 << 12
)

// Table is multiples of a base on one device. It may be used by several goroutines, one
// after the other.
type Table[P, S any] struct {
	dev   *device.Device
	curve *msm.Curve[P, S]
	tile  int

	mu     sync.Mutex
	closed bool

	// On the CPU:
	host func(points []P, scalars []S)

	// On devices with kernels:
	windows windows
	points  device.Buffer[uint32]
	sum     device.Buffer[uint32] // windows.sum
	room    *room[P, S]           // nil until it is needed
}

// New makes the table of a base, which must be on the curve; infinity is. On the CPU host
// does the work, which is a variable of the curve's package below msm: bn254.G1Multiples for
// bn254.G1. Arguments that do not fit are an msm.ErrInput, and what a device cannot do one of
// package device's errors.
func New[P, S any](dev *device.Device, c *msm.Curve[P, S], host Host[P, S], base P, o Options) (*Table[P, S], error) {
	if dev == nil || c == nil || c.Group == nil || c.Host.Check == nil || host == nil {
		return nil, fmt.Errorf("fixedbase: %w: no device, curve, or multiplication on the host", msm.ErrInput)
	}
	var s S
	if g := c.Group; int(unsafe.Sizeof(base)) != g.AffineBytes() || int(unsafe.Sizeof(s)) != g.Scalar.Bytes() {
		return nil, fmt.Errorf("fixedbase: %s: %w: points of %d bytes and scalars of %d, the group has %d and %d", g.Name, msm.ErrInput,
			unsafe.Sizeof(base), unsafe.Sizeof(s), g.AffineBytes(), g.Scalar.Bytes())
	}
	if o.N < 0 || o.Tile < 0 || o.Tile > 1<<24 {
		return nil, fmt.Errorf("fixedbase: %s: %w: %d multiples in tiles of %d; want 0 or more, in tiles of at most %d", c.Group.Name, msm.ErrInput, o.N, o.Tile, 1<<24)
	}
	if err := checkWidth(o.Window); err != nil {
		return nil, fmt.Errorf("fixedbase: %s: %w: %w", c.Group.Name, msm.ErrInput, err)
	}
	if err := c.Host.Check([]P{base}, false); err != nil {
		return nil, fmt.Errorf("fixedbase: %s: %w: base: %w", c.Group.Name, msm.ErrInput, err)
	}
	if o.N == 0 {
		o.N = usualN
	}
	t := &Table[P, S]{dev: dev, curve: c, tile: o.Tile}
	if t.tile == 0 {
		t.tile = max(1, min(o.N, tileBytes/c.Group.AffineBytes()))
	}
	if dev.Kind() == device.CPU {
		t.host = host(&base, o.N)
		return t, nil
	}
	if err := t.fill(o, base); err != nil {
		t.points.Free()
		t.sum.Free()
		return nil, fmt.Errorf("fixedbase: %s: %w", c.Group.Name, err)
	}
	return t, nil
}

// Close gives the table's memory back.
func (t *Table[P, S]) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed, t.host = true, nil
	t.dropRoom()
	t.points.Free()
	t.sum.Free()
}

// Multiply sets points[i] to scalars[i] times the base, for as many points as scalars, which
// are in Montgomery form and below the group's order. Multiples by 0 are infinity. Lists of
// two lengths, and a scalar that is not below the order, whose index the error names, are an
// msm.ErrInput.
func (t *Table[P, S]) Multiply(ctx context.Context, points []P, scalars []S) error {
	if len(points) != len(scalars) {
		return fmt.Errorf("fixedbase: %s: %w: %d points for %d scalars", t.curve.Group.Name, msm.ErrInput, len(points), len(scalars))
	}
	return t.MultiplyFunc(ctx, points, func(to []S, from int) error {
		parallel.For(len(to), 1<<14, func(lo, hi int) { copy(to[lo:hi], scalars[from+lo:from+hi]) })
		return nil
	})
}

// MultiplyFunc is Multiply for scalars that are made as they are needed: it calls scalars,
// from the caller's goroutine and in order, to fill lists of them, the first of each for
// points[from]. A list is where the device copies it from; it must not be kept. A device
// works on the last list meanwhile.
func (t *Table[P, S]) MultiplyFunc(ctx context.Context, points []P, scalars func(to []S, from int) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return fmt.Errorf("fixedbase: %s: %w", t.curve.Group.Name, ErrClosed)
	}
	if len(points) == 0 {
		return ctx.Err()
	}
	var err error
	if t.dev.Kind() == device.CPU {
		err = t.onHost(ctx, points, scalars)
	} else {
		err = t.stream(ctx, points, scalars)
	}
	if err != nil {
		return fmt.Errorf("fixedbase: %s: %w", t.curve.Group.Name, err)
	}
	return nil
}

// ErrClosed is what a table's methods return after Close.
var ErrClosed = errors.New("the table was closed")

// hostTile is how many multiples the CPU makes between two looks at the context, a
// second's work of one core.
const hostTile = 1 << 16

func (t *Table[P, S]) onHost(ctx context.Context, points []P, scalars func(to []S, from int) error) error {
	tile := max(1, min(len(points), hostTile))
	list := make([]S, tile)
	for lo := 0; lo < len(points); lo += tile {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(len(points), lo+tile)
		if err := scalars(list[:hi-lo], lo); err != nil {
			return err
		}
		if i := t.firstBad(list[:hi-lo]); i >= 0 {
			return badScalar(lo + i)
		}
		t.host(points[lo:hi], list[:hi-lo])
	}
	return ctx.Err()
}

// firstBad is the first scalar that is not below the order, -1 if there is none.
func (t *Table[P, S]) firstBad(scalars []S) int {
	f := t.curve.Group.Scalar
	all, p := words(scalars), f.Words(f.Modulus)
	for i := range scalars {
		s, j := all[i*f.Limbs:(i+1)*f.Limbs], f.Limbs-1
		for j > 0 && s[j] == p[j] {
			j--
		}
		if s[j] >= p[j] {
			return i
		}
	}
	return -1
}

func badScalar(i int) error {
	return fmt.Errorf("scalar %d: %w: not below the group's order", i, msm.ErrInput)
}

// words is the memory of elements that consist of whole 32-bit words.
func words[T any](v []T) []uint32 {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])/4))
}

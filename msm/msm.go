// Package msm is multi-scalar multiplication: Σ s_i P_i over points P_i of an elliptic
// curve's group of prime order and scalars s_i below that order (Pippenger's method;
// docs/msm.md). The packages below it have one value of Curve for each group:
//
//	bases, err := msm.New(dev, bn254.G1, points, msm.Options{})
//	defer bases.Close()
//	sum, err := bases.Sum(ctx, scalars)
//
// Points and scalars are the types of gnark-crypto, which lie on the device as they
// lie in the caller's memory.
package msm

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
)

// ErrInput is the class of errors in what the caller passes: lengths that differ, a
// scalar that is not below the group's order, a point that is not of the group.
var ErrInput = errors.New("bad input")

// ErrClosed is what methods of closed Bases return.
var ErrClosed = errors.New("msm: the bases were closed")

// Curve is a group for this package: P are its affine points, coordinates x and y in
// Montgomery form and all zero for infinity, S its scalars, in Montgomery form.
type Curve[P, S any] struct {
	Group *curve.Group
	Host  Host[P, S]
}

// Host is a group's arithmetic on the CPU. All functions are safe for concurrent use.
type Host[P, S any] struct {
	// Sum is Σ scalars[i] bases[i], on all cores. The lengths are equal and the
	// scalars were checked.
	Sum func(ctx context.Context, bases []P, scalars []S) (P, error)
	// Combine is Σ 2^Shift W over the sums W of windows.
	Combine func(sums []Part) P
	// Check returns an error that names the first point which is not on the curve, or,
	// if asked for, not in the subgroup of prime order.
	Check func(points []P, subgroup bool) error
}

// Part is the sum W of one window, or of a share of it, which counts 2^Shift times.
type Part struct {
	Shift int
	Words []uint32 // X, Y, ZZ, ZZZ of W, each in Montgomery form; ZZ = 0 is infinity
}

// Sum is Σ scalars[i] bases[i] for bases that are used once: New, Sum and Close.
func Sum[P, S any](ctx context.Context, dev *device.Device, c *Curve[P, S], bases []P, scalars []S, o Options) (P, error) {
	var none P
	if err := sameLength(len(scalars), len(bases)); err != nil {
		return none, err
	}
	b, err := New(dev, c, bases, o)
	if err != nil {
		return none, err
	}
	defer b.Close()
	return b.Sum(ctx, scalars)
}

// check says whether the curve's types have the sizes that the group asks for.
func (c *Curve[P, S]) check() error {
	if c == nil || c.Group == nil || c.Host.Sum == nil || c.Host.Combine == nil || c.Host.Check == nil {
		return fmt.Errorf("msm: %w: a curve without its group or its host's functions", ErrInput)
	}
	var p P
	var s S
	if int(unsafe.Sizeof(p)) != c.Group.AffineBytes() || int(unsafe.Sizeof(s)) != c.Group.Scalar.Bytes() {
		return fmt.Errorf("msm: %s: %w: points of %d bytes and scalars of %d, the group has %d and %d", c.Group.Name, ErrInput,
			unsafe.Sizeof(p), unsafe.Sizeof(s), c.Group.AffineBytes(), c.Group.Scalar.Bytes())
	}
	return nil
}

func sameLength(scalars, bases int) error {
	if scalars != bases {
		return fmt.Errorf("msm: %w: %d scalars for %d bases", ErrInput, scalars, bases)
	}
	return nil
}

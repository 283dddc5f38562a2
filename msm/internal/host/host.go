// Package host makes the CPU's side of multi-scalar multiplication, once for all
// groups: sums by gnark-crypto or by Pippenger's method of curve/weierstrass, the
// addition of a GPU's window sums, and checks of points.
package host

import (
	"context"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/weierstrass"
	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/msm"
)

// Affine are affine points with coordinates E.
type Affine[E any] interface{ ~struct{ X, Y E } }

// gnark is what the affine points of gnark-crypto can do.
type gnark[P, S any] interface {
	*P
	MultiExp(points []P, scalars []S, config ecc.MultiExpConfig) (*P, error)
	IsInSubGroup() bool
}

// Gnark is the curve over gnark-crypto's points P, scalars S and coordinates E.
func Gnark[P Affine[E], S, E any, F weierstrass.Field[E], G gnark[P, S]](g *curve.Group) *msm.Curve[P, S] {
	arith := weierstrass.New[E, F](g)
	sum := func(ctx context.Context, points []P, scalars []S) (P, error) {
		return inPieces(ctx, arith, points, scalars, func(points []P, scalars []S) (P, error) {
			var p P
			_, err := G(&p).MultiExp(points, scalars, ecc.MultiExpConfig{})
			return p, err
		})
	}
	return New(g, arith, sum, func(p *P) bool { return G(p).IsInSubGroup() })
}

// piece is how many points gnark-crypto adds between two looks at the context: a
// second's work and more on some tens of cores, so that cutting costs some per cent.
const piece = 1 << 22

func inPieces[P Affine[E], S, E any, F weierstrass.Field[E]](ctx context.Context, c *weierstrass.Curve[E, F], points []P, scalars []S,
	sum func([]P, []S) (P, error)) (P, error) {
	var total weierstrass.XYZZ[E]
	for lo := 0; lo < len(points); lo += piece {
		if err := ctx.Err(); err != nil {
			return P{}, err
		}
		hi := min(lo+piece, len(points))
		p, err := sum(points[lo:hi], scalars[lo:hi])
		if err != nil {
			return P{}, err
		}
		q := weierstrass.Affine[E](p)
		c.Accumulate(&total, &q)
	}
	return P(c.Affine(&total)), ctx.Err()
}

// New is the curve with an arithmetic and a sum of its own. inSubgroup, which is asked
// about points on the curve, may be nil if the group is the whole curve.
func New[P Affine[E], S, E any, F weierstrass.Field[E]](g *curve.Group, c *weierstrass.Curve[E, F],
	sum func(context.Context, []P, []S) (P, error), inSubgroup func(*P) bool) *msm.Curve[P, S] {
	return &msm.Curve[P, S]{Group: g, Host: msm.Host[P, S]{
		Sum: sum,
		Combine: func(sums []msm.Part) P {
			parts := make([]weierstrass.Part[E], len(sums))
			for i, s := range sums {
				p, ok := weierstrass.FromWords[E](s.Words)
				if !ok { // msm makes them by the group's own size
					panic(fmt.Sprintf("msm: %s: a sum of %d words", g.Name, len(s.Words)))
				}
				parts[i] = weierstrass.Part[E]{Shift: s.Shift, Sum: p}
			}
			return P(c.Combine(parts))
		},
		Check: func(points []P, subgroup bool) error { return check(c, points, subgroup, inSubgroup) },
	}}
}

// check looks for the first bad point.
func check[P Affine[E], E any, F weierstrass.Field[E]](c *weierstrass.Curve[E, F], points []P, subgroup bool, inSubgroup func(*P) bool) error {
	if len(points) == 0 {
		return nil
	}
	on := unsafe.Slice((*weierstrass.Affine[E])(unsafe.Pointer(unsafe.SliceData(points))), len(points))
	good := func(i int) bool {
		return c.OnCurve(&on[i]) && (!subgroup || inSubgroup == nil || c.IsInfinity(&on[i]) || inSubgroup(&points[i]))
	}
	var first atomic.Int64
	first.Store(int64(len(points)))
	parallel.For(len(points), 64, func(lo, hi int) {
		for i := lo; i < hi && int64(i) < first.Load(); i++ {
			if good(i) {
				continue
			}
			for old := first.Load(); int64(i) < old && !first.CompareAndSwap(old, int64(i)); old = first.Load() {
			}
			return
		}
	})
	i := int(first.Load())
	switch {
	case i == len(points):
		return nil
	case !c.OnCurve(&on[i]):
		return fmt.Errorf("point %d is not on the curve", i)
	}
	return fmt.Errorf("point %d is not in the subgroup of prime order", i)
}

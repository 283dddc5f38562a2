// Package bases is what is done once with the points of multi-scalar multiplications:
// checks, tables of multiples, and points made of others.
package bases

import (
	_ "embed" // kernel sources
	"fmt"
	"math/big"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/msm/internal/affine"
)

//go:embed bases.cu
var text string

var units = func() map[*curve.Group]*kernel.Source {
	t := kernel.Template{Name: "msm/internal/bases/bases.cu", Text: text}
	out := map[*curve.Group]*kernel.Source{curve.Toy61: curve.Toy61.Unit(t, nil, kernel.PTX)}
	for _, g := range curve.Groups {
		out[g] = g.Unit(t, nil, kernel.PTX)
	}
	return out
}()

// Sources is the package's translation units.
func Sources() []*kernel.Source {
	out := []*kernel.Source{units[curve.Toy61]}
	for _, g := range curve.Groups {
		out = append(out, units[g])
	}
	for _, f := range fields {
		out = append(out, scalarUnits[f])
	}
	return out
}

// SourcesOf is the kernels of a group and of its scalars, for loading them before they are
// needed.
func SourcesOf(g *curve.Group) []*kernel.Source {
	return []*kernel.Source{units[g], scalarUnits[g.Scalar]}
}

// piece is how many points are worked on at a time: what is kept of them in the
// meantime is twice their size.
const piece = 1 << 20

// Bytes is the device memory that the functions of this package take for a while.
func Bytes(g *curve.Group, n int) int64 { return int64(min(n, piece)) * int64(g.XYZZBytes()) }

const threads = 128

func launch(q *device.Queue, g *curve.Group, name string, n int, args ...device.Arg) error {
	return q.Launch(device.Kernel{Source: units[g], Name: "bases_" + name + "_" + g.Name},
		device.D1(device.Blocks(n, threads)), device.D1(threads), 0, args...)
}

// count is how many points a buffer holds.
func count(q *device.Queue, g *curve.Group, points device.Buffer[uint32]) (int, error) {
	size := g.AffineBytes() / 4
	n := points.Len() / size
	switch {
	case units[g] == nil:
		return 0, fmt.Errorf("bases: no kernels for %s: %w", g.Name, device.ErrUsage)
	case q.OnHost():
		return 0, fmt.Errorf("bases: no kernels on the CPU: %w", device.ErrUsage)
	case n*size != points.Len() || n > 1<<31:
		return 0, fmt.Errorf("bases: %d words of points of %d: %w", points.Len(), size, device.ErrUsage)
	}
	return n, points.Use(q)
}

// pieces calls body with every range of points and room for its sums.
func pieces(q *device.Queue, g *curve.Group, n int, body func(lo, hi int, sums device.Buffer[uint32]) error) error {
	size := g.XYZZBytes() / 4
	sums, err := device.Alloc[uint32](q, min(n, piece)*size)
	if err != nil {
		return fmt.Errorf("bases: %w", err)
	}
	defer sums.Free()
	for lo := 0; lo < n; lo += piece {
		hi := min(n, lo+piece)
		if err := body(lo, hi, sums.Slice(0, (hi-lo)*size)); err != nil {
			return err
		}
	}
	return nil
}

// OnCurve is the index of the first point that is not on the curve, or has a coordinate
// that is not below the modulus; -1 if there is none. Infinity, (0, 0), is on it.
func OnCurve(q *device.Queue, g *curve.Group, points device.Buffer[uint32]) (int, error) {
	n, err := count(q, g, points)
	if err != nil || n == 0 {
		return -1, err
	}
	return first(q, func(index device.Buffer[uint32]) error {
		return launch(q, g, "check", n, points.Arg(), device.U32(n), index.Arg())
	})
}

// InSubgroup is the index of the first point of the curve that is not in the subgroup of
// prime order, -1 if there is none.
func InSubgroup(q *device.Queue, g *curve.Group, points device.Buffer[uint32]) (int, error) {
	n, err := count(q, g, points)
	if err != nil || n == 0 || Prime(g) {
		return -1, err
	}
	order, err := device.Upload(q, g.Scalar.Words(g.Scalar.Modulus))
	if err != nil {
		return -1, err
	}
	defer order.Free()
	return first(q, func(index device.Buffer[uint32]) error {
		return launch(q, g, "multiply", n, device.Null(), index.Arg(), points.Arg(), device.U32(1),
			order.Arg(), device.U32(0), device.U32(order.Len()), device.U32(g.Scalar.Bits()), device.U32(n))
	})
}

// first is the least index that body's launches find.
func first(q *device.Queue, body func(index device.Buffer[uint32]) error) (int, error) {
	const none = 1<<32 - 1
	index, err := device.Upload(q, []uint32{none})
	if err != nil {
		return -1, err
	}
	defer index.Free()
	if err := body(index); err != nil {
		return -1, err
	}
	found, err := index.Read(q)
	if err != nil || found[0] == none {
		return -1, err
	}
	return int(found[0]), nil
}

// Prime says whether the whole curve is the group: by Hasse's theorem it has between
// q + 1 - 2 sqrt(q) and q + 1 + 2 sqrt(q) points, and no other multiple of the order
// lies there. It is false for curves over extensions.
func Prime(g *curve.Group) bool {
	if g.Degree != 1 {
		return false
	}
	q, r := g.Base.Modulus, g.Scalar.Modulus
	trace := new(big.Int).Sub(new(big.Int).Add(q, big.NewInt(1)), r)
	return new(big.Int).Mul(trace, trace).Cmp(new(big.Int).Lsh(q, 2)) <= 0
}

// Multiples fills a table of so many copies of n points: the points of copy j are
// 2^(j step) times those of copy 0, which are there already.
func Multiples(q *device.Queue, g *curve.Group, table device.Buffer[uint32], copies, step int) error {
	all, err := count(q, g, table)
	if err != nil {
		return err
	}
	if copies < 1 || step < 1 || all%copies != 0 {
		return fmt.Errorf("bases: %d copies of points in a table of %d, %d bits apart: %w", copies, all, step, device.ErrUsage)
	}
	n, size := all/copies, g.AffineBytes()/4
	power := make([]uint32, step/32+1)
	power[step/32] = 1 << (step % 32)
	numbers, err := device.Upload(q, power)
	if err != nil {
		return err
	}
	defer numbers.Free()
	return pieces(q, g, n, func(lo, hi int, sums device.Buffer[uint32]) error {
		for j := 1; j < copies; j++ {
			from, to := table.Slice(((j-1)*n+lo)*size, ((j-1)*n+hi)*size), table.Slice((j*n+lo)*size, (j*n+hi)*size)
			err := launch(q, g, "multiply", hi-lo, sums.Arg(), device.Null(), from.Arg(), device.U32(1),
				numbers.Arg(), device.U32(0), device.U32(len(power)), device.U32(step+1), device.U32(hi-lo))
			if err == nil {
				err = affine.Normalize(q, g, to, sums)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Multiply fills out with multiples of one point by numbers of so many bits, words
// words each, the lowest first.
func Multiply(q *device.Queue, g *curve.Group, out, point, numbers device.Buffer[uint32], words, bits int) error {
	n, err := count(q, g, out)
	if err != nil || n == 0 {
		return err
	}
	if point.Len() != g.AffineBytes()/4 || numbers.Len() != n*words || bits > 32*words {
		return fmt.Errorf("bases: %d multiples by %d words: %w", n, numbers.Len(), device.ErrUsage)
	}
	return pieces(q, g, n, func(lo, hi int, sums device.Buffer[uint32]) error {
		err := launch(q, g, "multiply", hi-lo, sums.Arg(), device.Null(), point.Arg(), device.U32(0),
			numbers.Slice(lo*words, hi*words).Arg(), device.U32(1), device.U32(words), device.U32(bits), device.U32(hi-lo))
		if err != nil {
			return err
		}
		size := g.AffineBytes() / 4
		return affine.Normalize(q, g, out.Slice(lo*size, hi*size), sums)
	})
}

// Pairs fills out with sums of pairs of points: number i is low[j mod 2^log] +
// high[j / 2^log] for j = from + i, where low has 2^log points.
func Pairs(q *device.Queue, g *curve.Group, out, low, high device.Buffer[uint32], log, from int) error {
	n, err := count(q, g, out)
	if err != nil || n == 0 {
		return err
	}
	size := g.AffineBytes() / 4
	if from < 0 || int64(from)+int64(n) > 1<<32-1 || low.Len() != size<<log || high.Len() < ((from+n-1)>>log+1)*size {
		return fmt.Errorf("bases: points %d to %d of pairs of %d and %d words: %w", from, from+n, low.Len(), high.Len(), device.ErrUsage)
	}
	return pieces(q, g, n, func(lo, hi int, sums device.Buffer[uint32]) error {
		err := launch(q, g, "pairs", hi-lo, sums.Arg(), low.Arg(), high.Arg(), device.U32(log), device.U32(from+lo), device.U32(hi-lo))
		if err != nil {
			return err
		}
		return affine.Normalize(q, g, out.Slice(lo*size, hi*size), sums)
	})
}

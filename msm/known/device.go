package known

import (
	"fmt"
	"math/big"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/mont"
	"github.com/zkwarp/zkwarp/msm/internal/bases"
)

// row is how many low points there are, at most.
const (
	rowBits = 14
	row     = 1 << rowBits
)

// Resident are the points that New makes, made on a device where they stay: their
// number may be what that holds.
type Resident struct {
	Group *curve.Group
	n     int

	low, high []uint32 // logarithms, in Montgomery form
}

// NewResident describes n bases, of the same points as New's. Nothing is on a device yet.
func NewResident(g *curve.Group, seed uint64, n int) (*Resident, error) {
	if n < 0 || n > 1<<31 {
		return nil, fmt.Errorf("known: %d points: %w", n, device.ErrUsage)
	}
	r := &Resident{Group: g, n: n}
	u := uniform{g.Scalar.Words(g.Scalar.Modulus)}
	stream := func(number uint64, n int) []uint32 {
		out, from := make([]uint32, n*g.Scalar.Limbs), rng(seed, number)
		for i := 0; i < len(out); i += g.Scalar.Limbs {
			u.fill(from, out[i:i+g.Scalar.Limbs])
		}
		return out
	}
	// Where there is less than a row, the rest of it is never looked at.
	r.low, r.high = stream(1, row), stream(2, max(1, (n+row-1)/row))
	return r, nil
}

// Len is the number of points.
func (r *Resident) Len() int { return r.n }

// Log is the discrete logarithm of a point.
func (r *Resident) Log(i int) *big.Int {
	f := r.Group.Scalar
	at := func(w []uint32, i int) *big.Int { return f.FromMontgomery(w[i*f.Limbs : (i+1)*f.Limbs]) }
	k := at(r.low, i%row)
	return k.Mod(k.Add(k, at(r.high, i/row)), f.Modulus)
}

// Points fills out with the points from, from+1, ..., as many as it has room for
// (Group.AffineBytes() each). It takes kernels: on the CPU use New.
func (r *Resident) Points(q *device.Queue, out device.Buffer[uint32], from int) error {
	f, size := r.Group.Scalar, r.Group.AffineBytes()/4
	n := out.Len() / size
	if err := r.within(from, n); err != nil {
		return err
	}
	var generator []uint32
	for _, x := range r.Group.Generator {
		generator = append(generator, r.Group.Base.Montgomery(x)...)
	}
	point, err := device.Upload(q, generator)
	if err != nil {
		return err
	}
	defer point.Free()
	multiples := func(logs []uint32) (device.Buffer[uint32], error) {
		plain := make([]uint32, 0, len(logs))
		for i := 0; i < len(logs); i += f.Limbs {
			plain = append(plain, f.Words(f.FromMontgomery(logs[i:i+f.Limbs]))...)
		}
		points, err := device.Alloc[uint32](q, len(logs)/f.Limbs*size)
		if err != nil {
			return points, err
		}
		numbers, err := device.Upload(q, plain)
		if err != nil {
			return points, err
		}
		defer numbers.Free()
		return points, bases.Multiply(q, r.Group, points, point, numbers, f.Limbs, f.Bits())
	}
	low, err := multiples(r.low)
	if err != nil {
		return err
	}
	defer low.Free()
	high, err := multiples(r.high)
	if err != nil {
		return err
	}
	defer high.Free()
	return bases.Pairs(q, r.Group, out, low, high, rowBits, from)
}

func (r *Resident) within(from, n int) error {
	if from < 0 || from+n > r.n {
		return fmt.Errorf("known: points %d to %d of %d: %w", from, from+n, r.n, device.ErrUsage)
	}
	return nil
}

// Expected is the discrete logarithm of the sum of scalars[i] times point from + i, for
// scalars on a device, in Montgomery form.
func (r *Resident) Expected(q *device.Queue, scalars device.Buffer[uint32], from int) (*big.Int, error) {
	f := r.Group.Scalar
	if err := r.within(from, scalars.Len()/f.Limbs); err != nil {
		return nil, err
	}
	low, err := device.Upload(q, r.low)
	if err != nil {
		return nil, err
	}
	defer low.Free()
	high, err := device.Upload(q, r.high)
	if err != nil {
		return nil, err
	}
	defer high.Free()
	return bases.Dot(q, f, scalars, low, high, rowBits, from)
}

// ResidentScalars fills out with scalars of one of Kinds, in Montgomery form: numbers
// from, from+1, ... of a stream. Each depends on kind, seed and its number alone; they
// are not those of Bases.Scalars.
func ResidentScalars(q *device.Queue, f *mont.Field, out device.Buffer[uint32], kind string, seed uint64, from int) error {
	return bases.Random(q, f, out, kind, seed, from)
}

package resident

import (
	"context"
	"errors"
	"math/big"
	"math/bits"
	"sync"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/mont"
	"github.com/zkwarp/zkwarp/ntt/scalar"
)

// Quotient is the transforms of a domain on the first device of a place. It is safe for
// concurrent use. S are elements of gnark-crypto's.
type Quotient[S any] struct {
	dev *device.Device
	t   *scalar.Transform
	n   int
}

// NewQuotient puts the transforms of a domain of n elements to a place. There are none,
// and it returns nil, on the CPU, where the domain's generator or its coset's are not
// gnark-crypto's, where it is larger than scalar.MaxLog, and where memory is short of
// the tables, some megabytes.
func NewQuotient[S any](place *Place, field *mont.Field, n uint64, generator, coset *big.Int) (*Quotient[S], error) {
	log := bits.Len64(n) - 1
	if place.OnCPU() || log > scalar.MaxLog {
		return nil, nil
	}
	d, err := scalar.New(field, log)
	if err != nil {
		return nil, err
	}
	if d.Generator().Cmp(generator) != 0 || d.CosetGenerator().Cmp(coset) != 0 {
		return nil, nil
	}
	q, err := place.devices[0].NewQueue(context.Background())
	if err != nil {
		return nil, err
	}
	defer q.Close()
	t, err := d.On(q)
	if errors.Is(err, device.ErrNoMemory) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	place.left -= t.Bytes()
	place.taken += t.Bytes()
	return &Quotient[S]{dev: place.devices[0], t: t, n: int(n)}, nil
}

// Close gives the tables' memory back.
func (q *Quotient[S]) Close() {
	if q != nil {
		q.t.Free()
	}
}

// SumQuotient is Σ hᵢ zᵢ over the coefficients of h = (A B - C) / (Xⁿ - 1) but the last,
// which is zero, in bit-reversed order, for the values of A, B and C on the domain, zero
// after those given. h stays on the device if z is there, and there alone.
func SumQuotient[P, S any](ctx context.Context, q *Quotient[S], z *Points[P, S], a, b, c []S) (P, error) {
	var none P
	end := sync.OnceFunc(z.place.Trace.Stage("ntt"))
	defer end()
	queue, err := q.dev.NewQueue(ctx)
	if err != nil {
		return none, err
	}
	defer queue.Close()
	copies, err := q.dev.NewQueue(ctx)
	if err != nil {
		return none, err
	}
	defer copies.Close()
	var values [3]device.Buffer[S]
	var words [3]device.Buffer[uint64]
	for i, v := range [][]S{a, b, c} {
		if values[i], err = device.Alloc[S](copies, q.n); err != nil {
			return none, err
		}
		defer values[i].Free()
		words[i] = device.View[uint64](values[i])
		if err := values[i].Slice(len(v), q.n).Zero(copies); err != nil {
			return none, err
		}
		if err := values[i].Slice(0, len(v)).CopyFrom(copies, v); err != nil {
			return none, err
		}
		// Copies take longer than transforms, so that these go on while the next comes.
		if err := queue.After(copies); err != nil {
			return none, err
		}
		if i < 2 {
			err = q.t.ToCoset(queue, words[i])
		} else {
			err = q.t.QuotientOnCoset(queue, words[0], words[1], words[2])
		}
		if err != nil {
			return none, err
		}
	}
	h := values[0].Slice(0, q.n-1)
	if z.bases == nil || len(z.place.devices) > 1 {
		host, err := h.Read(queue)
		if err != nil {
			return none, err
		}
		end()
		defer z.place.Trace.Stage("msm-z")()
		return z.Sum(ctx, host)
	}
	if err := queue.Sync(); err != nil {
		return none, err
	}
	for _, v := range values[1:] {
		v.Free() // for the sum
	}
	end()
	defer z.place.Trace.Stage("msm-z")()
	return z.bases.SumBuffer(ctx, h)
}

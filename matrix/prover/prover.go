// Package prover multiplies matrices over Mersenne-31 on a device: exactly, with
// the matrix instructions for signed bytes where the product is large enough.
//
// Operations are asynchronous on their queue. Matrices are row-major; see package
// matrix for shapes and bounds. Results are canonical and the same on every
// device.
package prover

import (
	"errors"
	"fmt"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/matrix"
)

// Mul sets c = a b: a is s.M x s.K, b is s.K x s.N, or s.N x s.K if s.Transposed,
// and c is s.M x s.N and may not overlap a factor. Lengths that do not fit are a
// matrix.ErrShape and a device.ErrUsage.
//
// Cost on a GPU: up to ten products of as many signed bytes, fewer where
// s.Bounds allow it, and Memory(s) bytes of device memory for the time of the
// product; or, for small products, m k n multiply-adds.
func Mul[B matrix.Entry](q *device.Queue, c, a device.Buffer[m31.Element], b device.Buffer[B], s matrix.Shape) error {
	done, err := begin(q, c, a, b, s)
	if done || err != nil {
		return err
	}
	switch {
	case byRows(s):
		for r := 0; r < s.M && err == nil; r++ {
			err = launchRow(q, c.Slice(r*s.N, (r+1)*s.N), a.Slice(r*s.K, (r+1)*s.K), b, s)
		}
	case worthPacking(s):
		err = byResidues(q, c, a, b, s)
	default:
		err = launchPlain(q, c, a, b, s)
	}
	return wrap(err)
}

// MulPlain is Mul by integer multiply-adds whatever the size, to hold Mul
// against. It needs no further memory.
func MulPlain[B matrix.Entry](q *device.Queue, c, a device.Buffer[m31.Element], b device.Buffer[B], s matrix.Shape) error {
	done, err := begin(q, c, a, b, s)
	if done || err != nil {
		return err
	}
	return wrap(launchPlain(q, c, a, b, s))
}

// begin checks the shape and does what needs no kernel of products.
func begin[B matrix.Entry](q *device.Queue, c, a device.Buffer[m31.Element], b device.Buffer[B], s matrix.Shape) (done bool, err error) {
	if err := s.Check(c.Len(), a.Len(), b.Len()); err != nil {
		return true, fmt.Errorf("matrix: multiply: %w: %w", device.ErrUsage, err)
	}
	if err := errors.Join(c.Use(q), a.Use(q), b.Use(q)); err != nil {
		return true, wrap(err)
	}
	if device.Overlap(c, a) || device.Overlap(c, b) {
		return true, wrap(fmt.Errorf("%w: the result overlaps a factor", device.ErrUsage))
	}
	switch {
	case c.Len() == 0:
		return true, q.Err()
	case s.K == 0:
		return true, c.Zero(q)
	case q.OnHost():
		if err := q.Err(); err != nil {
			return true, err
		}
		return true, matrix.Mul(c.Host(), a.Host(), b.Host(), s)
	}
	return false, nil
}

func wrap(err error) error {
	if err != nil {
		return fmt.Errorf("matrix: multiply: %w", err)
	}
	return nil
}

// Add sets dst[i] = a[i] + b[i]. dst may be a or b. Here and in Multiply and ReLU,
// other lengths than dst's are a matrix.ErrShape and a device.ErrUsage.
func Add(q *device.Queue, dst, a, b device.Buffer[m31.Element]) error {
	return each(q, "matrix_add", dst, m31.AddVec, a, b)
}

// Multiply sets dst[i] = a[i] * b[i]. dst may be a or b.
func Multiply(q *device.Queue, dst, a, b device.Buffer[m31.Element]) error {
	return each(q, "matrix_multiply", dst, m31.MulVec, a, b)
}

// ReLU sets dst[i] = a[i] where a[i] stands for an integer from 0 to (p-1)/2, and 0
// where it stands for a negative one. dst may be a.
func ReLU(q *device.Queue, dst, a device.Buffer[m31.Element]) error {
	return each(q, "matrix_relu", dst, func(d, a, _ []m31.Element) {
		for i, v := range a[:len(d)] {
			if v > m31.P/2 {
				v = 0
			}
			d[i] = v
		}
	}, a)
}

func each(q *device.Queue, name string, dst device.Buffer[m31.Element], f func(d, a, b []m31.Element), in ...device.Buffer[m31.Element]) error {
	n := dst.Len()
	for _, b := range in {
		if err := errors.Join(b.Use(q), dst.Use(q)); err != nil {
			return fmt.Errorf("matrix: %s: %w", name, err)
		}
		if b.Len() != n {
			return fmt.Errorf("matrix: %s: %w: %w: operand of %d entries for a result of %d", name, device.ErrUsage, matrix.ErrShape, b.Len(), n)
		}
	}
	if n == 0 {
		return q.Err()
	}
	if q.OnHost() {
		d, a, b := dst.Host(), in[0].Host(), in[len(in)-1].Host()
		return q.Parallel(n, 1<<14, func(lo, hi int) { f(d[lo:hi], a[lo:hi], b[lo:hi]) })
	}
	args := []device.Arg{dst.Arg()}
	for _, b := range in {
		args = append(args, b.Arg())
	}
	blocks := min(eachBlocks, device.Blocks(n, 4*threads))
	return q.Launch(named(name), device.D1(blocks), device.D1(threads), 0, append(args, device.U64(n))...)
}

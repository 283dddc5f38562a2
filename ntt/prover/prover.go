package prover

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/kernel"
)

// maxY is a grid's largest extent along y.
const maxY = 1 << 15

// maxUnits bounds the units of one column, which kernels index with 32 bits.
const maxUnits = 1<<32 - 1

// Encode enqueues the evaluation of `columns` polynomials over f, or over an extension
// of it coordinate by coordinate. src holds their coefficients, 2^live each, one
// polynomial after the other. Column c of dst, its elements from c*2^n on, gets the
// values: the value at the j-th power of the generator of the 2^n-th roots of unity at
// the index that is j with its n bits in reverse order. dst and src have exactly
// columns*2^n and columns*2^live elements; they are one and the same buffer, with live
// = n, or do not overlap.
func Encode[T any](q *device.Queue, f Field, dst, src device.Buffer[T], columns, n, live int) error {
	w, err := checkTransform[T](q, f, dst, src, columns, n, live)
	if err != nil {
		return fmt.Errorf("ntt: %w", err)
	}
	if dst.Len() == 0 {
		return nil
	}
	if q.OnHost() {
		return encodeOnHost(q, f, dst, src, w, columns, n, live)
	}
	return launch(q, f.spec(), f.spec().tune, device.View[uint32](dst), device.View[uint32](src), w, columns, n, live)
}

// Forward is Encode in place, for columns of 2^n elements each.
func Forward[T any](q *device.Queue, f Field, data device.Buffer[T], n int) error {
	columns := 0
	if n >= 0 && n < 63 {
		columns = data.Len() >> n
	}
	return Encode(q, f, data, data, columns, n, n)
}

// Preload brings the field's kernels and twiddles to q's device and waits for them, so
// that the first transform need not; without it that one waits.
func Preload(q *device.Queue, f Field) error {
	if !f.known() {
		return fmt.Errorf("ntt: %v is not one of the %d", f, len(specs))
	}
	if q.OnHost() {
		return nil
	}
	s := f.spec()
	sources := []*kernel.Source{s.plain}
	if s.five != nil {
		sources = append(sources, s.five)
	}
	if err := q.Device().Preload(sources...); err != nil {
		return err
	}
	_, err := tablesOn(q, s)
	return err
}

func checkTransform[T any](q *device.Queue, f Field, dst, src device.Buffer[T], columns, n, live int) (int, error) {
	if !f.known() {
		return 0, fmt.Errorf("%v is not one of the %d", f, len(specs))
	}
	w, err := width[T](f)
	if err != nil {
		return 0, err
	}
	if n < 0 || n > f.MaxLog() || w > maxUnits>>n {
		return 0, fmt.Errorf("columns of 2^%d elements, want 2^0 to 2^%d and at most 2^32 coordinates", n, f.MaxLog())
	}
	if live < 0 || live > n {
		return 0, fmt.Errorf("2^%d coefficients for 2^%d values", live, n)
	}
	if columns < 0 || columns > dst.Len() || dst.Len() != columns<<n || src.Len() != columns<<live {
		return 0, fmt.Errorf("%d columns: %d coefficients and %d values, want 2^%d and 2^%d for each", columns, src.Len(), dst.Len(), live, n)
	}
	if err := errors.Join(dst.Use(q), src.Use(q)); err != nil {
		return 0, err
	}
	if device.Overlap(dst, src) && (live < n || !same(dst, src)) {
		return 0, errors.New("coefficients and values overlap")
	}
	return w, nil
}

// same says whether two buffers of one length that overlap are the same memory.
func same[T any](a, b device.Buffer[T]) bool {
	return !device.Overlap(a.Slice(0, 1), b.Slice(1, b.Len())) && !device.Overlap(b.Slice(0, 1), a.Slice(1, a.Len()))
}

// encodeOnHost is Encode's twin.
func encodeOnHost[T any](q *device.Queue, f Field, dst, src device.Buffer[T], width, columns, n, live int) error {
	to, from := dst.Host(), src.Host()
	if live < n || !device.Overlap(dst, src) {
		grain := 1 << 14
		err := q.Parallel(columns<<n, grain, func(lo, hi int) {
			for lo < hi {
				c, j := lo>>n, lo&(1<<n-1)
				end := min(hi, (c+1)<<n)
				part := to[lo:end]
				if j < 1<<live {
					count := copy(part, from[c<<live+j:(c+1)<<live])
					part = part[count:]
				}
				clear(part)
				lo = end
			}
		})
		if err != nil {
			return err
		}
	}
	var z T
	s := f.spec()
	return s.host(unsafe.Pointer(unsafe.SliceData(to)), len(to)*int(unsafe.Sizeof(z))/s.unitBytes, width, n, live)
}

// launch enqueues the passes.
func launch(q *device.Queue, s *spec, tune tuning, dst, src device.Buffer[uint32], width, columns, n, live int) error {
	tables, err := tablesOn(q, s)
	if err != nil {
		return err
	}
	source, variant := s.kernels(width)
	log := floorLog(width) // not looked at for five
	for i, p := range s.plan(tune, n, width, columns) {
		have := p.remaining // log2 of the elements that there are of each column
		if i == 0 {
			have = live
		}
		count := columns << (n - p.remaining) // of columns, for this pass
		upper, middle := 0, 0
		if p.at > s.logValues {
			upper = s.tableStart() + upperTable(p.at, s.logValues)
		}
		if p.at >= s.logValues {
			middle = s.tableStart() + middleTable(min(s.logValues, p.bits-s.logValues), s.logValues)
		}
		pitch, shared := s.shared(p, width)
		windows := []device.Arg{device.U32(p.at), device.U32(p.from), device.U32(p.to), device.U32(upper), device.U32(middle), device.U32(pitch), device.U32(s.prime)}
		args := []device.Arg{dst.Arg(), src.Arg(), tables.Arg(), device.U32(p.bits)}
		name, grid := "ntt_rows_", device.Dim{Y: 1, Z: 1}
		if p.rows {
			elements := count << p.bits
			grid.X = uint32(device.Blocks(elements, 1<<p.tileBits))
			args = append(args, device.U32(have), device.U32(log), device.U32(p.tileBits), device.U64(elements))
		} else {
			name = "ntt_columns_"
			row := width << (p.remaining - p.bits)
			grid = device.Dim{X: uint32(row >> p.logWidth), Y: uint32(min(count, maxY)), Z: uint32(device.Blocks(count, maxY))}
			args = append(args, device.U32(p.remaining), device.U32(p.logWidth), device.U32(log), device.U32(row), device.U32(count),
				device.U64(width<<p.remaining), device.U64(width<<have), device.U32(width<<have), device.U32(min(p.remaining-have, s.logValues)))
		}
		err := q.Launch(device.Kernel{Source: source, Name: name + variant}, grid, device.D1(s.threads(p, width)), shared, append(args, windows...)...)
		if err != nil {
			return err
		}
		src = dst
	}
	return nil
}

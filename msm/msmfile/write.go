package msmfile

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/zkwarp/zkwarp/internal/parallel"
)

// Form says how points are written.
type Form int

const (
	// Raw points are x and y.
	Raw Form = iota
	// Compressed points are x and the choice of y: half the bytes, and a root to take
	// for every point that is read.
	Compressed
)

// WritePoints writes points, which are affine and on the curve.
func (f *Format[P, S]) WritePoints(w io.Writer, points []P, form Form) error {
	size := f.raw
	if form == Compressed {
		size /= 2
	}
	return write(w, points, size, f.encode)
}

// WriteScalars writes scalars, in Montgomery form as everywhere.
func (f *Format[P, S]) WriteScalars(w io.Writer, scalars []S) error {
	return write(w, scalars, f.group.Scalar.Bytes(), f.encodeS)
}

func write[T any](w io.Writer, all []T, size int, encode func([]byte, *T)) error {
	if len(all) > math.MaxUint32 {
		return fmt.Errorf("msmfile: %d elements, a file holds 2^32-1", len(all))
	}
	out := bufio.NewWriterSize(w, 1<<20)
	if err := binary.Write(out, binary.BigEndian, uint32(len(all))); err != nil {
		return err
	}
	buf := make([]byte, size*min(len(all), batch))
	for len(all) > 0 {
		n := min(len(all), batch)
		parallel.For(n, 64, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				encode(buf[i*size:(i+1)*size], &all[i])
			}
		})
		if _, err := out.Write(buf[:n*size]); err != nil {
			return err
		}
		all = all[n:]
	}
	return out.Flush()
}

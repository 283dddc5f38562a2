package prover

import (
	"fmt"
	"math"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	mleprover "github.com/zkwarp/zkwarp/mle/prover"
)

// stream restricts a matrix in the host's memory, a tile of its inner dimension
// at a time. Tiles leave disjoint parts of the table, so that the result does
// not depend on them.
type stream struct {
	side
	table device.Buffer[m31.QM31]
	tile  int
}

func newStream(q *device.Queue, s side, table device.Buffer[m31.QM31]) (stream, error) {
	limit, err := q.Device().Budget()
	if err != nil {
		return stream{}, err
	}
	available := int64(math.MaxInt64)
	if limit > 0 {
		available = limit - q.Device().InUse()
	}
	tile, err := TilesFor(s.k, s.bytesOf, available)
	return stream{side: s, table: table, tile: tile}, err
}

// bytesOf is the device memory that a tile takes while it is worked on.
func (s side) bytesOf(tile int) int64 {
	matrix := int64(tile) * int64(s.other) * int64(s.entrySize())
	form := s.restriction(device.Buffer[m31.Element]{}, device.Buffer[int8]{}, tile, device.Buffer[m31.QM31]{})
	return (matrix+7)&^7 + mleprover.RestrictScratch(form, s.entrySize() == 1)
}

func (s stream) run(q *device.Queue) error {
	if len(s.HostBytes) > 0 {
		return runTiles(q, s, s.HostBytes, func(b device.Buffer[int8], k int, out device.Buffer[m31.QM31]) mleprover.Restriction {
			return s.restriction(device.Buffer[m31.Element]{}, b, k, out)
		})
	}
	return runTiles(q, s, s.HostWords, func(b device.Buffer[m31.Element], k int, out device.Buffer[m31.QM31]) mleprover.Restriction {
		return s.restriction(b, device.Buffer[int8]{}, k, out)
	})
}

func runTiles[T int8 | m31.Element](q *device.Queue, s stream, host []T, restriction func(device.Buffer[T], int, device.Buffer[m31.QM31]) mleprover.Restriction) error {
	staged, err := device.Alloc[T](q, s.tile*s.other)
	if err != nil {
		return err
	}
	defer staged.Free()
	var strip []T // a tile's columns, packed
	if s.byRows && s.tile < s.k {
		strip = make([]T, s.tile*s.other)
	}
	for lo := 0; lo < s.k; lo += s.tile {
		n := min(s.tile, s.k-lo)
		part := staged.Slice(0, n*s.other)
		switch {
		case !s.byRows:
			err = part.CopyFrom(q, host[lo*s.other:(lo+n)*s.other])
		case strip == nil:
			err = part.CopyFrom(q, host)
		default:
			for i := range s.other {
				copy(strip[i*n:(i+1)*n], host[i*s.k+lo:])
			}
			err = part.CopyFrom(q, strip[:n*s.other])
		}
		if err != nil {
			return fmt.Errorf("tile at %d: %w", lo, err)
		}
		end := lo + n
		if end == s.k {
			end = s.table.Len() // the padding, too
		}
		if err := mleprover.Restrict(q, []mleprover.Restriction{restriction(part, n, s.table.Slice(lo, end))}); err != nil {
			return fmt.Errorf("tile at %d: %w", lo, err)
		}
	}
	return nil
}

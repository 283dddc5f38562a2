package prover

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/ntt"
)

// A row of the windows' tables has the twiddles for one value of a thread: for each
// window above logValues, and then for those at logValues, of which 1, 2, ... logValues
// layers belong to the transform, one for each row below the window.

// upperTable is where the twiddles of the window at a bit above logValues begin within
// a row, in units.
func upperTable(at, logValues int) int { return 1<<at - 1<<(logValues+1) }

// middleTable is the same for a window at logValues.
func middleTable(layers, logValues int) int {
	return upperTable(2*logValues+1, logValues) + (layers-1)<<logValues
}

// tableRow is the length of a row.
func tableRow(logValues int) int { return middleTable(logValues+1, logValues) }

// tableStart is where the rows begin in a field's tables: behind the powers.
func (s *spec) tableStart() int { return 1<<s.logLow + 1<<(s.maxLog-s.logLow) }

// tables is, for the generator g of the largest group, the first 2^logLow powers of g,
// the powers of g^(2^logLow), and the windows' tables; all but the first of these
// as the kernels' unit_factor.
func tables[T field.Element[T]](t ntt.Transform[T], logValues, logLow int, factor func([]T)) []T {
	g := t.Root(t.MaxLog())
	out := append(powers(g, 1<<logLow), powers(g.Exp(1<<logLow), 1<<(t.MaxLog()-logLow))...)
	for v := range 1 << logValues {
		row := make([]T, 0, tableRow(logValues))
		for at := logValues + 1; at <= 2*logValues; at++ {
			// The upper bits of v are the frequency that at - logValues layers leave,
			// reversed. Their twiddles for the other bits are in the layers themselves.
			layers := at - logValues
			k := ntt.Reverse(v>>(logValues-layers), layers)
			row = append(row, powers(t.Root(at+logValues).Exp(uint64(k)), 1<<at)...)
		}
		for layers := 1; layers <= logValues; layers++ {
			// Bits above are those of other columns.
			k := ntt.Reverse(v&(1<<layers-1), layers)
			row = append(row, powers(t.Root(logValues+layers).Exp(uint64(k)), 1<<logValues)...)
		}
		out = append(out, row...)
	}
	factor(out[1<<logLow:])
	return out
}

func powers[T field.Element[T]](w T, count int) []T {
	out := make([]T, count)
	p := w.One()
	for i := range out {
		out[i] = p
		p = p.Mul(w)
	}
	return out
}

// words is the memory of v.
func words[T any](v []T) []uint32 {
	var z T
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(z)/4))
}

// uploaded holds the tables of each device and field, which stay there.
var uploaded sync.Map // of tableKey to *uploadedTable

type tableKey struct {
	d *device.Device
	s *spec
}

type uploadedTable struct {
	mu sync.Mutex
	b  device.Buffer[uint32]
}

// tablesOn is the field's tables on q's device.
func tablesOn(q *device.Queue, s *spec) (device.Buffer[uint32], error) {
	v, _ := uploaded.LoadOrStore(tableKey{q.Device(), s}, new(uploadedTable))
	t := v.(*uploadedTable)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.b.Len() > 0 {
		return t.b, nil
	}
	b, err := device.Upload(q, s.tables())
	if err != nil {
		return b, fmt.Errorf("ntt: twiddles: %w", err)
	}
	// Other queues may use it from now on.
	if err := q.Sync(); err != nil {
		b.Free()
		return device.Buffer[uint32]{}, fmt.Errorf("ntt: twiddles: %w", err)
	}
	t.b = b
	return b, nil
}

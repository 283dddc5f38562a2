package prover

import (
	"fmt"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/ntt"
)

// maxTileBits bounds the row bits of a tile.
const maxTileBits = 15

// window is a step of a pass: it transforms `bits` row bits from bit `at` on.
type window struct{ at, bits int }

// windows is all windows that steps before the last may have, where a thread holds
// 2^logValues units: those at multiples of logValues may be of fewer bits.
func windows(logValues int) []window {
	var out []window
	for at := logValues; at+logValues <= maxTileBits; at++ {
		for b := 1; b <= logValues; b++ {
			if b == logValues || at%logValues == 0 {
				out = append(out, window{at, b})
			}
		}
	}
	return out
}

// tableOf is where a window's twiddles are in the field's tables, in units: behind
// the powers and the windows before it.
func (s *spec) tableOf(w window) int {
	at := 1<<s.logLow + 1<<(s.maxLog-s.logLow)
	for _, o := range windows(s.logValues) {
		if o == w {
			return at
		}
		at += 1 << (s.logValues + o.at)
	}
	panic(fmt.Sprintf("ntt: no table for %d bits at %d", w.bits, w.at)) // a bug in the plan
}

// tables is, for the generator g of the largest group, the first 2^logLow powers of g,
// the powers of g^(2^logLow), and the windows' twiddles: at [v][low] what separates
// the transform of size 2^(at+bits) into those of size 2^at, the root of that order
// to the power low times the frequency that is left in register v.
func tables[T field.Element[T]](t ntt.Transform[T], logValues, logLow int) []T {
	g := t.Root(t.MaxLog())
	out := append(powers(g, 1<<logLow), powers(g.Exp(1<<logLow), 1<<(t.MaxLog()-logLow))...)
	for _, w := range windows(logValues) {
		root := t.Root(w.at + w.bits)
		for v := range 1 << logValues {
			k := int(bits.Reverse32(uint32(v)<<(32-w.bits)) & (1<<w.bits - 1))
			out = append(out, powers(root.Exp(uint64(k)), 1<<w.at)...)
		}
	}
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

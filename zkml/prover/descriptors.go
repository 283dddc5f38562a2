package prover

import "github.com/zkwarp/zkwarp/zkml/internal/plan"

// words are descriptors under construction.
type words []uint64

func (w *words) add(v ...uint64) (at int) {
	at = len(*w)
	*w = append(*w, v...)
	return at
}

// tiles lists pieces of things, `size` entries each, as kernels' blocks find
// them.
func (w *words) tiles(lengths []int, size int) (at, n int) {
	at = len(*w)
	for i, l := range lengths {
		for k := range (l + size - 1) / size {
			w.add(uint64(i)<<32 | uint64(k))
		}
	}
	return at, len(*w) - at
}

// list adds a list of places; negative ones are nowhere.
func (w *words) list(v []int) (at int) {
	at = len(*w)
	for _, x := range v {
		p := uint64(nowhere)
		if x >= 0 {
			p = uint64(x)
		}
		w.add(p)
	}
	return at
}

// axes adds a shape as kernels take it: pairs of variables and extent, the
// last axis first.
func (w *words) axes(shape []int) axesLayout {
	a := axesLayout{at: len(*w), n: len(shape)}
	vars, _ := plan.AxisVars(shape)
	for i := len(shape) - 1; i >= 0; i-- {
		w.add(uint64(vars[i]), uint64(shape[i]))
	}
	return a
}

type axesLayout struct{ at, n int }

// halves adds a list of 32-bit words, two in a word.
func (w *words) halves(v []uint32) (at int) {
	at = len(*w)
	for i := 0; i < len(v); i += 2 {
		x := uint64(v[i])
		if i+1 < len(v) {
			x |= uint64(v[i+1]) << 32
		}
		w.add(x)
	}
	return at
}

package onnx

// evaluateRearrange copies elements. The source position of a result element is a sum with one term for each map: the map's table at
// the place that the element's coordinates along the map's axes make.
func evaluateRearrange(a *Attr, x, out *Tensor) {
	g := newGather(a, x.Shape, out.Shape)
	if out.Ints != nil {
		gather(g, x.Ints, out.Ints, int64(a.Fill))
		return
	}
	gather(g, x.Real, out.Real, float32(a.Fill))
}

// gatherTable is one map: source offsets, -1 where there is no source.
type gatherTable []int

type gatherer struct {
	tables []gatherTable
	dims   []int // of the result
	of     []int // result axis -> map
	step   []int // result axis -> its step in the map's table
}

func newGather(a *Attr, source, result []int) *gatherer {
	strides := make([]int, len(source))
	for i, s := len(source)-1, 1; i >= 0; i-- {
		strides[i] = s
		s *= source[i]
	}
	g := &gatherer{dims: result}
	var of, step []int // before the permutation
	for k, m := range a.Maps {
		s := elements(m.Shape)
		t := make(gatherTable, s)
		for i := range t {
			switch {
			case m.Index == nil:
				t[i] = i * strides[m.Axis]
			case m.Index[i] < 0:
				t[i] = -1
			default:
				t[i] = int(m.Index[i]) * strides[m.Axis]
			}
		}
		g.tables = append(g.tables, t)
		for _, d := range m.Shape {
			if d > 0 {
				s /= d
			}
			of, step = append(of, k), append(step, s)
		}
	}
	g.of, g.step = of, step
	if a.Perm != nil {
		g.of, g.step = permuted(of, a.Perm), permuted(step, a.Perm)
	}
	return g
}

// gather fills the result row by row along its last axis.
func gather[T float32 | int64](g *gatherer, x, out []T, fill T) {
	if len(out) == 0 {
		return
	}
	last := len(g.dims) - 1
	length, inner, innerStep := 1, -1, 0
	if last >= 0 {
		length, inner, innerStep = g.dims[last], g.of[last], g.step[last]
	}
	parallel(len(out)/length, max(1, 1<<12/length), func(lo, hi int) {
		coords := make([]int, max(last, 0))
		places := make([]int, len(g.tables))
		for a, rest := last-1, lo; a >= 0; a-- {
			coords[a] = rest % g.dims[a]
			rest /= g.dims[a]
			places[g.of[a]] += coords[a] * g.step[a]
		}
		for r := lo; r < hi; r++ {
			row := out[r*length : (r+1)*length]
			base := 0
			for k, t := range g.tables {
				if k == inner {
					continue
				}
				o := t[places[k]]
				if o < 0 {
					base = -1
					break
				}
				base += o
			}
			switch {
			case base < 0:
				for i := range row {
					row[i] = fill
				}
			case inner < 0:
				row[0] = x[base]
			default:
				t, at := g.tables[inner], places[inner]
				for i := range row {
					if o := t[at]; o >= 0 {
						row[i] = x[base+o]
					} else {
						row[i] = fill
					}
					at += innerStep
				}
			}
			for a := last - 1; a >= 0; a-- {
				coords[a]++
				places[g.of[a]] += g.step[a]
				if coords[a] < g.dims[a] {
					break
				}
				places[g.of[a]] -= coords[a] * g.step[a]
				coords[a] = 0
			}
		}
	})
}

func evaluateConcat(axis int, in []*Tensor, out *Tensor) {
	blocks := elements(out.Shape[:axis])
	whole := elements(out.Shape[axis:])
	at := 0
	for _, t := range in {
		n := elements(t.Shape[axis:])
		for b := range blocks {
			if out.Ints != nil {
				copy(out.Ints[b*whole+at:], t.Ints[b*n:(b+1)*n])
			} else {
				copy(out.Real[b*whole+at:], t.Real[b*n:(b+1)*n])
			}
		}
		at += n
	}
}

func evaluateEmbed(ids []int64, table, out *Tensor) {
	if table.Ints != nil {
		pickRows(ids, table.Ints, out.Ints, table.Shape[1])
		return
	}
	pickRows(ids, table.Real, out.Real, table.Shape[1])
}

func pickRows[T float32 | int64](ids []int64, table, out []T, d int) {
	for i, id := range ids {
		copy(out[i*d:(i+1)*d], table[int(id)*d:(int(id)+1)*d])
	}
}

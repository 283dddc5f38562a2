package quant

import (
	"fmt"
	"math"
	"slices"

	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// sight is what calibration saw of a value.
type sight struct {
	all       observed  // every value seen
	covered   float64   // what covers the percentile asked for
	histogram []int     // of magnitudes up to all.reach; nil unless scales are to lose least information
	squares   float64   // sum of the squares of all values seen
	count     int       // how many there were
	rows      []float64 // of what a norm reads: roots of the mean squares of its rows
}

// size is the root mean square of the values seen, 0 if there were none.
func (s *sight) size() float64 { return math.Sqrt(s.squares / float64(max(s.count, 1))) }

// at returns the reach for codes of a width.
func (s *sight) at(bits int) observed {
	o := s.all
	if bits == functionWidth {
		return o
	}
	o.reach = s.covered
	if s.histogram != nil && bits <= maxBits {
		o.reach = s.all.reach * entropy(s.histogram, bits)
	}
	return o
}

// bins is the resolution of the histograms that percentiles and entropies are read from.
const bins = 1 << 13

// hiddenValue is the size from which on a value is what a mask hides, and no code.
const hiddenValue = 1e30

// observe runs the model on all samples. When scales are not to cover everything it runs twice: once for the ranges and once for histograms
// within them. Ranges of inputs are never cut.
func observe(m *onnx.Model, samples [][]float64, o *Options) ([]sight, error) {
	seen := make([]sight, len(m.Values))
	each := func(visit func(s *sight, id int, t *onnx.Tensor)) error {
		for i, x := range samples {
			inputs, err := split(m, x)
			if err == nil {
				err = m.Visit(inputs, func(id int, t *onnx.Tensor) error {
					visit(&seen[id], id, t)
					return nil
				})
			}
			if err != nil {
				return fmt.Errorf("calibration sample %d: %w", i, err)
			}
		}
		return nil
	}
	normed := normedRows(m)
	err := each(func(s *sight, id int, t *onnx.Tensor) {
		if n := normed[id]; n > 0 {
			s.rows = append(s.rows, rowSizes(t, n)...)
		}
		for i := range t.Len() {
			if v := t.At(i); math.Abs(v) < hiddenValue {
				s.all.reach = max(s.all.reach, math.Abs(v))
				s.squares += v * v
				s.count++
				s.all.signed = s.all.signed || v < 0
			}
		}
	})
	for id := range seen {
		seen[id].covered = seen[id].all.reach
	}
	if err != nil || o.Percentile == 100 && !o.Entropy {
		return seen, err
	}
	histograms := make([][]int, len(m.Values))
	err = each(func(s *sight, id int, t *onnx.Tensor) {
		if s.all.reach == 0 {
			return
		}
		if histograms[id] == nil {
			histograms[id] = make([]int, bins)
		}
		for i := range t.Len() {
			if v := math.Abs(t.At(i)); v < hiddenValue {
				histograms[id][min(int(v/s.all.reach*bins), bins-1)]++
			}
		}
	})
	for _, id := range m.Inputs {
		histograms[id] = nil
	}
	for id, h := range histograms {
		if h == nil {
			continue
		}
		seen[id].covered = seen[id].all.reach * percentile(h, o.Percentile)
		if o.Entropy {
			seen[id].histogram = h
		}
	}
	return seen, err
}

// normedRows returns the lengths of the rows that norms over last axes read, by value.
func normedRows(m *onnx.Model) map[int]int {
	lengths := map[int]int{}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		if n.Op != onnx.OpNorm {
			continue
		}
		shape := m.Values[n.Inputs[0]].Shape
		length, last := 1, true
		for _, a := range n.Attr.Axes {
			length *= shape[a]
			last = last && a >= len(shape)-len(n.Attr.Axes)
		}
		if last {
			lengths[n.Inputs[0]] = length
		}
	}
	return lengths
}

// rowSizes returns the roots of the mean squares of rows that are not zero.
func rowSizes(t *onnx.Tensor, length int) []float64 {
	var sizes []float64
	for at := 0; at < t.Len(); at += length {
		sum := 0.0
		for i := range length {
			sum += t.At(at+i) * t.At(at+i)
		}
		if sum > 0 {
			sizes = append(sizes, math.Sqrt(sum/float64(length)))
		}
	}
	return sizes
}

// Rows that a norm reads should have rowUnits units or more, but for a share of rowsBelow of the smallest.
const (
	rowUnits  = 16
	rowsBelow = 0.01
)

// residualBits returns the width that sums before norms need beyond rowBits, up to 16, or 0.
func residualBits(m *onnx.Model, seen []sight) int {
	need := 0
	for id := range normedRows(m) {
		s := &seen[id]
		if len(s.rows) == 0 {
			continue
		}
		slices.Sort(s.rows)
		small := s.rows[int(rowsBelow*float64(len(s.rows)))]
		bits := rowBits
		for bits < 16 && s.all.reach*headroom/float64(int64(1)<<(bits-1)-1) > small/rowUnits {
			bits++
		}
		if bits > rowBits {
			need = max(need, bits)
		}
	}
	return need
}

// percentile returns the share of the histogram's range that covers so many percent of what is in it.
func percentile(h []int, percent float64) float64 {
	total := 0
	for _, n := range h {
		total += n
	}
	need := int(math.Ceil(float64(total) * percent / 100))
	sum := 0
	for bin, n := range h {
		if sum += n; sum >= need {
			return float64(bin+1) / float64(len(h))
		}
	}
	return 1
}

// entropy returns, for codes of so many bits, the share of the range at which the distribution of the codes diverges least from that of the
// values.
func entropy(fine []int, bits int) float64 {
	h := make([]int, len(fine)/4)
	for i, n := range fine {
		h[i/4] += n
	}
	levels := 1 << (bits - 1) // of magnitudes
	best, at := math.Inf(1), len(h)
	for top := len(h); top >= levels; top -= len(h) / 128 {
		if d := divergence(h, top, levels); d < best {
			best, at = d, top
		}
	}
	return float64(at) / float64(len(h))
}

// divergence is the Kullback-Leibler divergence between the first top bins, with everything beyond added to the last of them, and the same mass
// spread evenly within each of the levels.
func divergence(h []int, top, levels int) float64 {
	beyond := 0
	for _, n := range h[top:] {
		beyond += n
	}
	total := 0.0
	for _, n := range h {
		total += float64(n)
	}
	d := 0.0
	for level := range levels {
		first, last := level*top/levels, (level+1)*top/levels
		sum, used := 0.0, 0.0
		for _, n := range h[first:last] {
			sum += float64(n)
			if n > 0 {
				used++
			}
		}
		if level == levels-1 && beyond > 0 && (last == first || h[last-1] == 0) {
			used++
		}
		for bin := first; bin < last; bin++ {
			p := float64(h[bin])
			if bin == top-1 {
				p += float64(beyond)
			}
			if p == 0 {
				continue
			}
			q := max(sum, 1e-4) / max(used, 1)
			d += p / total * math.Log(p/q)
		}
	}
	return d
}

// split turns a sample into the model's inputs.
func split(m *onnx.Model, x []float64) ([]*onnx.Tensor, error) {
	total := 0
	for _, id := range m.Inputs {
		total += elements(m.Values[id].Shape)
	}
	if len(x) != total {
		return nil, fmt.Errorf("%d values, expected %d for the model's inputs", len(x), total)
	}
	inputs := make([]*onnx.Tensor, len(m.Inputs))
	for i, id := range m.Inputs {
		v := &m.Values[id]
		n := elements(v.Shape)
		for k, e := range x[:n] {
			if v.Int && e != math.Trunc(e) {
				return nil, fmt.Errorf("input %s, element %d is %g, expected a whole number", onnx.Quote(v.Name), k, e)
			}
		}
		inputs[i] = v.Tensor(x[:n])
		x = x[n:]
	}
	return inputs, nil
}

func elements(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

package quant

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/onnx"
)

// form is a value that has no integers yet: a sum of terms, each repeated to the form's shape, followed by a chain of functions. One lookup
// gives it integers.
type form struct {
	shape []int
	terms []term
	chain []unary
	base  int // the model's value of the sum, before the chain
}

// term is c times a tensor of integers, a product of such a tensor with constants, or constants alone.
type term struct {
	x      codes        // id is None for constants alone
	w      *onnx.Tensor // constants, nil for a tensor alone
	name   string       // of the constants
	labels [3][]uint8   // of x, w and the product
	c      float64
	shape  []int // before it is repeated
	along  bool  // a product element by element: labels are the axes of shape
	rare   bool  // few weights that may be as wide as bounds allow
}

func (t *term) isProduct() bool  { return t.w != nil && t.x.id != graph.None }
func (t *term) isAddend() bool   { return t.w == nil }
func (t *term) isConstant() bool { return t.x.id == graph.None }

// isLinear reports whether nothing follows the sum.
func (f *form) isLinear() bool { return len(f.chain) == 0 }

// isHeavy reports whether computing the form again for every reader would cost more than giving it integers once: a sum over an axis is in it.
func (f *form) isHeavy() bool {
	if !f.isLinear() {
		return true
	}
	for i := range f.terms {
		if t := &f.terms[i]; t.isProduct() && t.count() > 1 {
			return true
		}
	}
	return false
}

// addend is a form that is just a tensor.
func addend(x codes, shape []int, v int) *form {
	return &form{shape: shape, terms: []term{{x: x, c: 1, shape: shape}}, base: v}
}

// scaled returns the sum times c.
func (f *form) scaled(c float64) *form {
	out := &form{shape: f.shape, terms: slices.Clone(f.terms)}
	for i := range out.terms {
		out.terms[i].c = float64(out.terms[i].c * c)
	}
	return out
}

// plus returns the sum of two forms of a common shape.
func (f *form) plus(o *form, shape []int) *form {
	return &form{shape: shape, terms: slices.Concat(f.terms, o.terms)}
}

// then returns the form with one more function at the end of its chain.
func (f *form) then(u unary) *form {
	out := *f
	out.chain = append(slices.Clone(f.chain), u)
	return &out
}

// count is the number of summands of a product.
func (t *term) count() int {
	n := 1
	for i, l := range t.labels[1] {
		if !slices.Contains(t.labels[2], l) {
			n *= t.w.Shape[i]
		}
	}
	return n
}

// factor turns real constants into integers, or is an addend's multiplier before rounding, for sums of scale acc. It is a fixed expression, so
// that building repeats what calibration did.
func (t *term) factor(acc float64) float64 {
	if t.isConstant() {
		return t.c / acc
	}
	return float64(t.c*t.x.scale) / acc
}

// greatest returns the greatest absolute value of a constant.
func (l *lowering) greatest(t *onnx.Tensor) float64 {
	lo, hi := l.extremes(t)
	return max(-lo, hi)
}

// extremes remembers what it finds: a form's scale is looked for in many tries, and weights are many.
func (l *lowering) extremes(t *onnx.Tensor) (lo, hi float64) {
	if e, ok := l.ends[t]; ok {
		return e[0], e[1]
	}
	lo, hi = extremes(t)
	l.ends[t] = [2]float64{lo, hi}
	return lo, hi
}

func extremes(t *onnx.Tensor) (lo, hi float64) {
	if t.Real != nil {
		return float64(slices.Min(t.Real)), float64(slices.Max(t.Real))
	}
	return float64(slices.Min(t.Ints)), float64(slices.Max(t.Ints))
}

// finite refuses infinite constants in a sum. A mask before a softmax may have them, and never comes here.
func (l *lowering) finite(f *form) error {
	for i := range f.terms {
		t := &f.terms[i]
		if t.w == nil {
			continue
		}
		if lo, hi := l.extremes(t.w); math.IsInf(lo, 0) || math.IsInf(hi, 0) {
			return fmt.Errorf("%w: the constant %s has an infinite element, which only a mask before a softmax may have", onnx.ErrUnsupported, onnx.Quote(t.name))
		}
	}
	return nil
}

// round returns the integer nearest to v, halves away from zero, or an error when it reaches 2^29. It uses no operation whose result may
// differ between machines.
func round(v float64) (int64, error) {
	r := math.Round(v)
	if !(math.Abs(r) < graph.BoundLimit) {
		return 0, fmt.Errorf("%g does not fit 29 bits", v)
	}
	return int64(r), nil
}

// quantise returns round(c * v) for every element.
func quantise(t *onnx.Tensor, c float64) ([]int32, error) {
	out := make([]int32, t.Len())
	var mu sync.Mutex
	first := len(out) // the first element that does not fit
	parallel.For(len(out), 1<<16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			r, err := round(float64(t.At(i) * c))
			if err != nil {
				mu.Lock()
				first = min(first, i)
				mu.Unlock()
				return
			}
			out[i] = int32(r)
		}
	})
	if first < len(out) {
		_, err := round(float64(t.At(first) * c))
		return nil, fmt.Errorf("element %d: %w", first, err)
	}
	return out, nil
}

// span is an interval in floating point: exact far beyond 2^29, where it is compared.
type span struct{ lo, hi float64 }

func (a span) plus(b span) span { return span{a.lo + b.lo, a.hi + b.hi} }

func (a span) times(b span) span {
	p, q, r, s := a.lo*b.lo, a.lo*b.hi, a.hi*b.lo, a.hi*b.hi
	return span{min(p, q, r, s), max(p, q, r, s)}
}

// limited reports whether every value is below BoundLimit.
func (a span) limited() bool { return a.lo > -graph.BoundLimit && a.hi < graph.BoundLimit }

// paramSpan is the declared range of a parameter whose values are the extremes times c, rounded.
func (l *lowering) paramSpan(t *onnx.Tensor, c float64) span {
	least, most := l.extremes(t)
	lo, hi := math.Round(float64(least*c)), math.Round(float64(most*c))
	if reach := max(math.Abs(lo), math.Abs(hi)); !(reach < graph.BoundLimit) {
		return span{math.Inf(-1), math.Inf(1)}
	}
	pl, ph := graph.ParamBounds(graph.ParamBits([]int32{int32(lo), int32(hi)}))
	return span{float64(pl), float64(ph)}
}

// productSpan bounds a product whose weights have one scale.
func (l *lowering) productSpan(t *term, factor float64) span {
	k := float64(t.count())
	return l.codeSpan(t.x).times(l.paramSpan(t.w, factor)).times(span{k, k})
}

// span bounds the sum of a form for a given scale, as the program's interval arithmetic will. channels tells whether these have scales of their
// own.
func (l *lowering) span(f *form, acc float64, channels bool) span {
	var total span
	for i := range f.terms {
		t := &f.terms[i]
		c := t.factor(acc)
		switch {
		case t.isConstant():
			total = total.plus(l.paramSpan(t.w, c))
		case t.isAddend():
			c = math.Round(c)
			total = total.plus(l.codeSpan(t.x).times(span{c, c}))
		case channels && t.hasChannels():
			total = total.plus(l.channelSpan(t, c))
		default:
			total = total.plus(l.productSpan(t, c))
		}
	}
	return total
}

func (l *lowering) codeSpan(x codes) span {
	lo, hi := l.bounds(x.id)
	return span{float64(lo), float64(hi)}
}

// emit adds the sum of a form with scale acc. channels tells whether those of products have scales of their own.
func (l *lowering) emit(name string, f *form, acc float64, channels bool) (codes, error) {
	terms := make([]graph.Term, 0, len(f.terms))
	products := 0
	for i := range f.terms {
		t := &f.terms[i]
		if t.isAddend() {
			c, err := round(t.factor(acc))
			if err != nil || c == 0 {
				return codes{}, fmt.Errorf("the multiplier of summand %d is not between 1 and 2^29", i)
			}
			terms = append(terms, graph.Term{Coef: c, T: t.x.id})
			continue
		}
		var v, scales []int32
		var err error
		multiplier := int64(1)
		if channels && t.hasChannels() {
			v, multiplier, scales, err = l.scaledWeights(t, t.factor(acc))
		} else {
			v, err = quantise(t.w, t.factor(acc))
		}
		if err != nil {
			return codes{}, fmt.Errorf("constants %s: %w", onnx.Quote(t.name), err)
		}
		if t.isConstant() {
			terms = append(terms, graph.Term{Coef: 1, T: l.b.Param(clean(t.name), t.w.Shape, v, acc)})
			continue
		}
		w := l.b.Param(clean(t.name), t.w.Shape, v, acc/t.x.scale)
		id := l.einsum(suffixed(name, ".product", products), t.x.id, w, t.labels[0], t.labels[1], t.labels[2], acc)
		if len(scales) > 0 {
			shape, labels, _ := t.channels()
			m := l.b.Param(clean(t.name+".scales"), shape, scales, 1)
			l.channelScales[name] = max(l.channelScales[name], -int64(slices.Min(scales)))
			id = l.einsum(suffixed(name, ".scaled", products), id, m, t.labels[2], labels, t.labels[2], acc)
		}
		if bits := graph.ParamBits(v); l.Err() == nil {
			l.weightBits[name] = max(l.weightBits[name], bits)
			id = l.reshape(suffixed(name, ".shaped", products), id, t.shape)
		}
		products++
		terms = append(terms, graph.Term{Coef: multiplier, T: id})
	}
	if err := l.Err(); err != nil {
		return codes{}, err
	}
	if t := l.b.Tensor(terms[0].T); len(terms) == 1 && terms[0].Coef == 1 && slices.Equal(t.Shape, f.shape) && t.Kind != graph.Param && t.Scale == acc {
		return codes{terms[0].T, acc}, nil
	}
	return l.linear(name, terms, f.shape, acc)
}

// linear adds terms up to a tensor of the given shape. Where the terms' common shape is smaller, axes of length 1 are repeated.
func (l *lowering) linear(name string, terms []graph.Term, shape []int, acc float64) (codes, error) {
	computed := false
	for _, t := range terms {
		computed = computed || l.b.Tensor(t.T).Kind != graph.Param
	}
	if !computed {
		return codes{}, fmt.Errorf("the result does not depend on the input")
	}
	id := l.b.Linear(name, terms, 0, acc)
	if l.Err() == nil && !slices.Equal(l.shape(id), shape) {
		id = l.expand(name+".repeated", id, shape)
	}
	return codes{id, acc}, l.Err()
}

// reshape gives a tensor another shape unless it has it already.
func (l *lowering) reshape(name string, id graph.TensorID, shape []int) graph.TensorID {
	if l.Err() != nil || slices.Equal(l.shape(id), shape) {
		return id
	}
	return l.b.Reshape(name, id, shape)
}

// expand repeats axes of length 1 and missing first axes.
func (l *lowering) expand(name string, id graph.TensorID, shape []int) graph.TensorID {
	from := l.shape(id)
	if l.Err() != nil || slices.Equal(from, shape) {
		return id
	}
	if len(from) < len(shape) {
		from = slices.Concat(slices.Repeat([]int{1}, len(shape)-len(from)), from)
		id = l.b.Reshape(name+".rank", id, from)
	}
	maps := make([]graph.AxisMap, len(shape))
	for a, n := range shape {
		maps[a] = keep(a, n)
		if from[a] != n {
			maps[a] = graph.AxisMap{Axis: a, Shape: []int{n}, Index: make([]int32, n)}
		}
	}
	return l.b.Rearrange(name, id, maps, nil)
}

// suffixed names a helper tensor.
func suffixed(name, suffix string, i int) string {
	if i == 0 {
		return name + suffix
	}
	return fmt.Sprintf("%s%s%d", name, suffix, i+1)
}

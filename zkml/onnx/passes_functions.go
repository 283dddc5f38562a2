package onnx

import (
	"math"
	"slices"
)

// Rules for functions that exporters write as several operators.

// normRule finds d / sqrt(mean(d^2) + epsilon), written as a quotient or as a product with an inverse root; d may be x - mean(x).
func (r *rewriter) normRule(n *Node) bool {
	switch n.Op {
	case OpDiv:
		if w, ok := r.unary(n.Inputs[1], FuncSqrt); ok {
			return r.norm(n, n.Inputs[0], w)
		}
	case OpMul:
		for k, id := range n.Inputs {
			w, ok := r.unary(id, FuncRsqrt)
			if root, inverse := r.unary(id, FuncReciprocal); inverse {
				w, ok = r.unary(root, FuncSqrt)
			}
			if ok && r.norm(n, n.Inputs[1-k], w) {
				return true
			}
		}
	}
	return false
}

func (r *rewriter) norm(n *Node, d, w int) bool {
	sum := r.nodeOf(w, OpAdd)
	if sum == nil || !slices.Equal(r.shape(d), r.shape(n.Output)) {
		return false
	}
	for k, id := range sum.Inputs {
		epsilon, ok := r.constant(id)
		if !ok || !(epsilon >= 0 && epsilon < 1) {
			continue
		}
		square, axes, ok := r.mean(sum.Inputs[1-k])
		if !ok || !keptDims(r.shape(w), r.shape(d), axes) {
			return false
		}
		p := r.nodeOf(square, OpMul)
		if p == nil || p.Inputs[0] != d || p.Inputs[1] != d {
			return false
		}
		attr := Attr{Axes: axes, Epsilon: epsilon}
		if sub := r.nodeOf(d, OpSub); sub != nil {
			x, own, ok := r.mean(sub.Inputs[1])
			if ok && x == sub.Inputs[0] && slices.Equal(own, axes) && keptDims(r.shape(sub.Inputs[1]), r.shape(x), axes) {
				attr.Centre = true
				return n.replace(OpNorm, attr, x)
			}
		}
		return n.replace(OpNorm, attr, d)
	}
	return false
}

// mean recognises a sum over axes that is divided by the number of summands, in any order with changes of shape that keep the axes or drop
// those of length 1.
func (r *rewriter) mean(id int) (x int, axes []int, ok bool) {
	factor := 1.0
	for range 6 {
		n := r.node(id)
		if n == nil {
			return 0, nil, false
		}
		switch n.Op {
		case OpReshape:
			id = n.Inputs[0]
		case OpMul, OpDiv:
			c, constant := r.constant(n.Inputs[1])
			k := 0
			if !constant && n.Op == OpMul {
				c, constant = r.constant(n.Inputs[0])
				k = 1
			}
			if !constant || elements(r.shape(n.Inputs[k])) != elements(r.shape(id)) {
				return 0, nil, false
			}
			if n.Op == OpDiv {
				c = 1 / c
			}
			factor *= c
			id = n.Inputs[k]
		case OpReduceSum:
			x = n.Inputs[0]
			count := 1
			for _, a := range n.Attr.Axes {
				count *= r.shape(x)[a]
			}
			return x, n.Attr.Axes, near(factor*float64(count), 1)
		default:
			return 0, nil, false
		}
	}
	return 0, nil, false
}

// keptDims reports whether a shape is another one with the axes shortened to 1.
func keptDims(shape, full, axes []int) bool {
	if len(shape) != len(full) {
		return false
	}
	for i, d := range full {
		if slices.Contains(axes, i) {
			d = 1
		}
		if shape[i] != d {
			return false
		}
	}
	return true
}

// factors writes a value as a constant times computed factors, all of that value's shape.
func (r *rewriter) factors(n *Node, depth int) (c float64, computed []int, ok bool) {
	c = 1
	for k, id := range n.Inputs {
		if v, constant := r.constant(id); constant {
			if n.Op == OpDiv {
				if k == 0 {
					return 0, nil, false
				}
				v = 1 / v
			}
			c *= v
			continue
		}
		if n.Op == OpDiv && k == 1 || !slices.Equal(r.shape(id), r.shape(n.Output)) {
			return 0, nil, false
		}
		if inner := r.node(id); inner != nil && (inner.Op == OpMul || inner.Op == OpDiv) && depth > 0 {
			if c2, more, ok := r.factors(inner, depth-1); ok {
				c *= c2
				computed = append(computed, more...)
				continue
			}
		}
		computed = append(computed, id)
	}
	return c, computed, true
}

// affine writes a value as p + q * base as far as it goes.
func (r *rewriter) affine(id int) (p, q float64, base int) {
	q = 1
	for base = id; ; {
		n := r.node(base)
		if n == nil || n.Op > OpDiv || n.Op == OpEinsum {
			return p, q, base
		}
		k := 1
		c, ok := r.constant(n.Inputs[1])
		if !ok {
			c, ok = r.constant(n.Inputs[0])
			k = 0
		}
		if !ok || !slices.Equal(r.shape(n.Inputs[1-k]), r.shape(base)) || n.Op == OpDiv && k == 0 {
			return p, q, base
		}
		switch {
		case n.Op == OpAdd:
			p += q * c
		case n.Op == OpSub && k == 1:
			p -= q * c
		case n.Op == OpSub:
			p, q = p+q*c, -q
		case n.Op == OpMul:
			q *= c
		default:
			q /= c
		}
		base = n.Inputs[1-k]
	}
}

// cubic writes a value as a polynomial of degree 3 at most in another one.
func (r *rewriter) cubic(id, x, depth int) (p [4]float64, ok bool) {
	if id == x {
		return [4]float64{0, 1}, true
	}
	if c, constant := r.constant(id); constant {
		return [4]float64{c}, true
	}
	n := r.node(id)
	if n == nil || depth == 0 || !slices.Equal(r.shape(id), r.shape(x)) {
		return p, false
	}
	if n.Op == OpUnary && n.Attr.Func == FuncPow && n.Attr.A == 3 {
		a, ok := r.cubic(n.Inputs[0], x, depth-1)
		return [4]float64{0, 0, 0, a[1] * a[1] * a[1]}, ok && a == [4]float64{0, a[1]}
	}
	if n.Op != OpAdd && n.Op != OpSub && n.Op != OpMul && n.Op != OpDiv {
		return p, false
	}
	a, okA := r.cubic(n.Inputs[0], x, depth-1)
	b, okB := r.cubic(n.Inputs[1], x, depth-1)
	if !okA || !okB {
		return p, false
	}
	switch n.Op {
	case OpAdd, OpSub:
		for i := range p {
			if p[i] = a[i] + b[i]; n.Op == OpSub {
				p[i] = a[i] - b[i]
			}
		}
	case OpMul:
		for i := range a {
			for j := range b {
				if i+j < len(p) {
					p[i+j] += a[i] * b[j]
				} else if a[i]*b[j] != 0 {
					return p, false
				}
			}
		}
	default:
		if b != [4]float64{b[0]} || b[0] == 0 {
			return p, false
		}
		for i := range p {
			p[i] = a[i] / b[0]
		}
	}
	return p, true
}

// geluRule finds x (1 + erf(x / sqrt 2)) / 2, and x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2.
func (r *rewriter) geluRule(n *Node) bool {
	if n.Op != OpMul && n.Op != OpDiv {
		return false
	}
	c, computed, ok := r.factors(n, 4)
	if !ok || len(computed) != 2 {
		return false
	}
	for k, g := range computed {
		x := computed[1-k]
		p, q, base := r.affine(g)
		if !near(c*p, 0.5) || !near(c*q, 0.5) {
			continue
		}
		if u, ok := r.unary(base, FuncErf); ok {
			if poly, ok := r.cubic(u, x, 6); ok && near(poly[1], math.Sqrt2/2) && poly == [4]float64{0, poly[1]} {
				return n.replace(OpUnary, Attr{Func: FuncGelu}, x)
			}
		}
		if u, ok := r.unary(base, FuncTanh); ok {
			root := math.Sqrt(2 / math.Pi)
			poly, ok := r.cubic(u, x, 8)
			if ok && poly[0] == 0 && poly[2] == 0 && near(poly[1], root) && near(poly[3], 0.044715*root) {
				return n.replace(OpUnary, Attr{Func: FuncGeluTanh}, x)
			}
		}
	}
	return false
}

// gateRule finds a value times a function of itself: SiLU, HardSwish, Mish.
func (r *rewriter) gateRule(n *Node) bool {
	if n.Op != OpMul && n.Op != OpDiv {
		return false
	}
	c, computed, ok := r.factors(n, 3)
	if !ok || len(computed) != 2 {
		return false
	}
	for k, g := range computed {
		x := computed[1-k]
		gate := r.nodeOf(g, OpUnary)
		if gate == nil {
			continue
		}
		p, q, base := r.affine(gate.Inputs[0])
		a := gate.Attr
		switch {
		case a.Func == FuncSigmoid && c == 1 && base == x && p == 0:
			return n.replace(OpUnary, Attr{Func: FuncSilu, A: q}, x)
		case a.Func == FuncHardSigmoid && c == 1 && gate.Inputs[0] == x && near(a.A, 1./6) && near(a.B, 0.5):
			return n.replace(OpUnary, Attr{Func: FuncHardSwish}, x)
		case a.Func == FuncClip && near(c, 1./6) && base == x && p == 3 && q == 1 && a.A == 0 && a.B == 6:
			return n.replace(OpUnary, Attr{Func: FuncHardSwish}, x)
		case a.Func == FuncTanh && c == 1:
			if inner, ok := r.unary(gate.Inputs[0], FuncSoftplus); ok && inner == x {
				return n.replace(OpUnary, Attr{Func: FuncMish}, x)
			}
		}
	}
	return false
}

// softmaxRule finds exp(u) / sum(exp(u)), whose u may be x minus the greatest x of each row.
func (r *rewriter) softmaxRule(n *Node) bool {
	if n.Op != OpDiv || !slices.Equal(r.shape(n.Inputs[0]), r.shape(n.Output)) {
		return false
	}
	u, ok := r.unary(n.Inputs[0], FuncExp)
	if !ok {
		return false
	}
	e, axes, ok := r.reduced(n.Inputs[1], OpReduceSum)
	if !ok || e != n.Inputs[0] || len(axes) == 0 || !keptDims(r.shape(n.Inputs[1]), r.shape(u), axes) {
		return false
	}
	if x, own, ok := r.belowGreatest(u); ok && slices.Equal(own, axes) {
		u = x
	}
	return n.replace(OpSoftmax, Attr{Axes: axes}, u)
}

// logSumExpRule takes the greatest element out of log(sum(exp(x))), so that no exponential is so large that it hides those of other rows.
func (r *rewriter) logSumExpRule(n *Node) bool {
	if n.Op != OpUnary || n.Attr.Func != FuncLog {
		return false
	}
	e, axes, ok := r.reduced(n.Inputs[0], OpReduceSum)
	if !ok || len(axes) == 0 {
		return false
	}
	x, ok := r.unary(e, FuncExp)
	if !ok {
		return false
	}
	if _, own, ok := r.belowGreatest(x); ok && slices.Equal(own, axes) {
		return false
	}
	kept := slices.Clone(r.shape(x))
	for _, a := range axes {
		kept[a] = 1
	}
	most := r.emit(n, OpReduceMax, Attr{Axes: axes}, x)
	if most < 0 {
		return false
	}
	row := r.emit(n, OpReshape, Attr{Shape: kept}, most)
	below := r.emit(n, OpSub, Attr{}, x, row)
	exp := r.emit(n, OpUnary, Attr{Func: FuncExp}, below)
	sum := r.emit(n, OpReduceSum, Attr{Axes: axes}, exp)
	log := r.emit(n, OpUnary, Attr{Func: FuncLog}, sum)
	shape := r.shape(n.Output)
	return n.replace(OpAdd, Attr{}, r.emit(n, OpReshape, Attr{Shape: shape}, log), r.emit(n, OpReshape, Attr{Shape: shape}, most))
}

// belowGreatest recognises x minus its greatest elements along axes.
func (r *rewriter) belowGreatest(id int) (x int, axes []int, ok bool) {
	n := r.nodeOf(id, OpSub)
	if n == nil {
		return 0, nil, false
	}
	x, axes, ok = r.reduced(n.Inputs[1], OpReduceMax)
	return x, axes, ok && x == n.Inputs[0] && keptDims(r.shape(n.Inputs[1]), r.shape(x), axes)
}

// reduced recognises a reduction, perhaps under another shape.
func (r *rewriter) reduced(id int, op Op) (x int, axes []int, ok bool) {
	n := r.node(id)
	for n != nil && n.Op == OpReshape {
		n = r.node(n.Inputs[0])
	}
	if n == nil || n.Op != op {
		return 0, nil, false
	}
	return n.Inputs[0], n.Attr.Axes, true
}

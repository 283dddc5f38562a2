package gf2

import "unsafe"

// Slice operations: dst and the operands have dst's length (a longer operand's rest is
// ignored, a shorter one panics like any slice), and dst may be one of the operands, but
// no other overlap is allowed.
//
// Each does whole blocks with vector instructions, where the machine has them, and the
// rest element by element.

//go:generate go run -tags=purego ./internal/genvec

// at is the first element's place; for an empty slice it must not be read.
func at[T any](s []T) *T { return unsafe.SliceData(s) }

// AddVec sets dst[i] = a[i] + b[i].
func AddVec(dst, a, b []Element) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i].Add(b[i])
	}
}

// MulPolyval sets dst[i] = a[i] * b[i].
func MulPolyval(dst, a, b []Polyval) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := mulBlocks(at(dst), at(a), at(b), len(dst)); i < len(dst); i++ {
		dst[i] = a[i].Mul(b[i])
	}
}

// ScalePolyval sets dst[i] = s * a[i].
func ScalePolyval(dst, a []Polyval, s Polyval) {
	a = a[:len(dst)]
	for i := scaleBlocks(at(dst), at(a), &s, len(dst)); i < len(dst); i++ {
		dst[i] = a[i].Mul(s)
	}
}

// MulAddPolyval sets dst[i] += s * a[i].
func MulAddPolyval(dst, a []Polyval, s Polyval) {
	a = a[:len(dst)]
	for i := mulAddBlocks(at(dst), at(a), &s, len(dst)); i < len(dst); i++ {
		dst[i] = dst[i].Add(a[i].Mul(s))
	}
}

// FoldPolyval sets dst[i] = lo[i] + r (lo[i] + hi[i]), the value at r of what is lo at 0
// and hi at 1.
func FoldPolyval(dst, lo, hi []Polyval, r Polyval) {
	lo, hi = lo[:len(dst)], hi[:len(dst)]
	for i := foldBlocks(at(dst), at(lo), at(hi), &r, len(dst)); i < len(dst); i++ {
		dst[i] = lo[i].Add(r.Mul(lo[i].Add(hi[i])))
	}
}

// DotPolyval is the sum of a[i] * b[i].
func DotPolyval(a, b []Polyval) Polyval {
	b = b[:len(a)]
	var sums dotSums
	done := dotBlocks(&sums, at(a), at(b), len(a))
	sum := sums.value()
	for i := done; i < len(a); i++ {
		sum = sum.Add(a[i].Mul(b[i]))
	}
	return sum
}

// dotSums is what dotBlocks leaves: the sums over products, before they are reduced, of
// the low halves, of the high halves, and of each low with each high half, in 128 bits
// each, and in every lane of a vector. Without blocks it is zero.
type dotSums [3][4]Polyval

// value adds lanes up and reduces.
func (s *dotSums) value() Polyval {
	var t [3]Polyval
	for k := range t {
		for _, v := range s[k] {
			t[k] = t[k].Add(v)
		}
	}
	lo, hi, mid := t[0], t[1], t[2]
	return reducePolyval(lo.Lo, lo.Hi^mid.Lo, hi.Lo^mid.Hi, hi.Hi)
}

// chunk is how many elements go through another basis at a time: few enough for the
// first cache with three operands, many enough for the tables.
const chunk = 512

// few is how many elements are not worth a constant's matrix, with its tables, or memory
// for another basis.
const few = 64

// through does in POLYVAL's basis what f does, in pieces of operands: of dst's length each,
// and dst is the first of them if it is read too.
func through(dst []Element, operands [][]Element, f func(p [][]Polyval)) {
	p := make([][]Polyval, len(operands))
	memory := make([][chunk]Polyval, len(operands))
	for start := 0; start < len(dst); start += chunk {
		d := dst[start:min(start+chunk, len(dst))]
		for k, o := range operands {
			p[k] = memory[k][:len(d)]
			ToPolyval(p[k], o[start:start+len(d)])
		}
		f(p)
		FromPolyval(d, p[0])
	}
}

// MulVec sets dst[i] = a[i] * b[i].
func MulVec(dst, a, b []Element) {
	if a, b = a[:len(dst)], b[:len(dst)]; len(dst) < few {
		for i, x := range a {
			dst[i] = x.Mul(b[i])
		}
		return
	}
	through(dst, [][]Element{a, b}, func(p [][]Polyval) { MulPolyval(p[0], p[0], p[1]) })
}

// ScaleVec sets dst[i] = s * a[i].
func ScaleVec(dst, a []Element, s Element) {
	if a = a[:len(dst)]; len(a) < few {
		for i, x := range a {
			dst[i] = x.Mul(s)
		}
		return
	}
	Apply(dst, a, Multiplication(s))
}

// MulAddVec sets dst[i] += s * a[i].
func MulAddVec(dst, a []Element, s Element) {
	if a = a[:len(dst)]; len(a) < few {
		for i, x := range a {
			dst[i] = dst[i].Add(x.Mul(s))
		}
		return
	}
	p := s.Polyval()
	through(dst, [][]Element{dst, a}, func(v [][]Polyval) { MulAddPolyval(v[0], v[1], p) })
}

// FoldVec sets dst[i] = lo[i] + r (lo[i] + hi[i]).
func FoldVec(dst, lo, hi []Element, r Element) {
	if lo, hi = lo[:len(dst)], hi[:len(dst)]; len(dst) < few {
		for i, x := range lo {
			dst[i] = x.Add(r.Mul(x.Add(hi[i])))
		}
		return
	}
	ApplySum(dst, [][]Element{lo, hi}, []*Matrix{Multiplication(r.Add(One())), Multiplication(r)})
}

// Dot is the sum of a[i] * b[i].
func Dot(a, b []Element) Element {
	b = b[:len(a)]
	var p, q [chunk]Polyval
	var sum Polyval
	for start := 0; start < len(a); start += chunk {
		x := a[start:min(start+chunk, len(a))]
		ToPolyval(p[:len(x)], x)
		ToPolyval(q[:len(x)], b[start:start+len(x)])
		sum = sum.Add(DotPolyval(p[:len(x)], q[:len(x)]))
	}
	return sum.Element()
}

package bearvec

// FoldExt sets dst[i] = lo[i] + r*(hi[i] - lo[i]) for elements of r's degree.
func (f *Field) FoldExt(dst, lo, hi, r []uint32) int {
	if len(r) == 4 {
		return f.fold4(dst, lo, hi, r)
	}
	return f.fold5(dst, lo, hi, r)
}

// MulAddExt sets dst[i] += c * x[i].
func (f *Field) MulAddExt(dst, x, c []uint32) int {
	if len(c) == 4 {
		return f.mulAdd4(dst, x, c)
	}
	return f.mulAdd5(dst, x, c)
}

// ScaleExt sets dst[i] = c * x[i].
func (f *Field) ScaleExt(dst, x, c []uint32) int {
	if len(c) == 4 {
		return f.scale4(dst, x, c)
	}
	return f.scale5(dst, x, c)
}

// DotExt is the sum of x[i]*y[i], into the element sum.
func (f *Field) DotExt(sum, x, y []uint32) int {
	if len(sum) == 4 {
		return f.dot4(sum, x, y)
	}
	return f.dot5(sum, x, y)
}

// DotStepExt is the sum of (x1[i]-x0[i])*(y1[i]-y0[i]).
func (f *Field) DotStepExt(sum, x0, x1, y0, y1 []uint32) int {
	if len(sum) == 4 {
		return f.dotStep4(sum, x0, x1, y0, y1)
	}
	return f.dotStep5(sum, x0, x1, y0, y1)
}

// Apart sets dst[k*stride+i] to coefficient k of src[i].
func (f *Field) Apart(dst []uint32, stride int, src []uint32, degree int) int {
	switch n := len(src) / degree; {
	case n == 0:
		return 0
	case degree == 4:
		return apart4Blocks(first(dst), 4*stride, first(src), f, n)
	default:
		return apart5Blocks(first(dst), 4*stride, first(src), f, n)
	}
}

// Together sets coefficient k of dst[i] to src[k*stride+i].
func (f *Field) Together(dst, src []uint32, stride, degree int) int {
	switch n := len(dst) / degree; {
	case n == 0:
		return 0
	case degree == 4:
		return together4Blocks(first(dst), first(src), 4*stride, f, n)
	default:
		return together5Blocks(first(dst), first(src), 4*stride, f, n)
	}
}

package m31

// AddVecQM31 sets dst[i] = a[i] + b[i].
func AddVecQM31(dst, a, b []QM31) {
	AddVec(Words(dst), Words(a), Words(b))
}

// SubVecQM31 sets dst[i] = a[i] - b[i].
func SubVecQM31(dst, a, b []QM31) {
	SubVec(Words(dst), Words(a), Words(b))
}

// MulVecQM31 sets dst[i] = a[i] * b[i].
func MulVecQM31(dst, a, b []QM31) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := mulQM31Blocks(at(dst), at(a), at(b), len(dst)); i < len(dst); i++ {
		dst[i] = a[i].Mul(b[i])
	}
}

// MulVecBase sets dst[i] = a[i] * b[i]; dst may be b.
func MulVecBase(dst []QM31, a []Element, b []QM31) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := mulBaseBlocks(at(dst), at(a), at(b), len(dst)); i < len(dst); i++ {
		dst[i] = b[i].MulBase(a[i])
	}
}

// matrixFrom is the number of elements from which a multiplication's matrix
// pays.
const matrixFrom = 8

// ScaleVecQM31 sets dst[i] = s * a[i].
func ScaleVecQM31(dst, a []QM31, s QM31) {
	a = a[:len(dst)]
	i := 0
	if len(dst) >= matrixFrom {
		i = scaleQM31Blocks(at(dst), at(a), newMatrix(s), len(dst))
	}
	for ; i < len(dst); i++ {
		dst[i] = s.Mul(a[i])
	}
}

// ScaleBase sets dst[i] = a[i] * s.
func ScaleBase(dst []QM31, a []Element, s QM31) {
	a = a[:len(dst)]
	for i := scaleBaseBlocks(at(dst), at(a), &s, len(dst)); i < len(dst); i++ {
		dst[i] = s.MulBase(a[i])
	}
}

// MulAddQM31 sets dst[i] += s * a[i].
func MulAddQM31(dst, a []QM31, s QM31) {
	a = a[:len(dst)]
	i := 0
	if len(dst) >= matrixFrom {
		i = mulAddQM31Blocks(at(dst), at(a), newMatrix(s), len(dst))
	}
	for ; i < len(dst); i++ {
		dst[i] = dst[i].Add(s.Mul(a[i]))
	}
}

// MulAddBase sets dst[i] += s * a[i].
func MulAddBase(dst []QM31, a []Element, s QM31) {
	a = a[:len(dst)]
	i := mulAddBaseBlocks(at(dst), at(a), &s, len(dst))
	s0, s1, s2, s3 := uint64(s.A.Re), uint64(s.A.Im), uint64(s.B.Re), uint64(s.B.Im)
	for ; i < len(dst); i++ {
		d, x := &dst[i], uint64(a[i])
		d.A.Re = reduce62(x*s0 + uint64(d.A.Re))
		d.A.Im = reduce62(x*s1 + uint64(d.A.Im))
		d.B.Re = reduce62(x*s2 + uint64(d.B.Re))
		d.B.Im = reduce62(x*s3 + uint64(d.B.Im))
	}
}

// SumQM31 is the sum of a's elements.
func SumQM31(a []QM31) QM31 {
	var out lazySums
	n := sumBlocks(&out, at(Words(a)), 4*len(a)) / 4
	var sum QM31
	if n > 0 {
		_, sum.A.Re, sum.A.Im = out.lane(0, 0)
		_, sum.B.Re, sum.B.Im = out.lane(0, 1)
	}
	var s [4]uint64
	for i := n; i < len(a); i++ {
		s[0] += uint64(a[i].A.Re)
		s[1] += uint64(a[i].A.Im)
		s[2] += uint64(a[i].B.Re)
		s[3] += uint64(a[i].B.Im)
	}
	return sum.Add(QM31{CM31{reduce(s[0]), reduce(s[1])}, CM31{reduce(s[2]), reduce(s[3])}})
}

// FoldBase binds the first variable of a table with the halves lo and hi, of
// len(dst) words each, to r: dst[i] = lo[i] + r*(hi[i] - lo[i]).
func FoldBase(dst []QM31, lo, hi []Element, r QM31) {
	lo, hi = lo[:len(dst)], hi[:len(dst)]
	for i := foldBaseBlocks(at(dst), at(lo), at(hi), &r, len(dst)); i < len(dst); i++ {
		v := r.MulBase(hi[i].Sub(lo[i]))
		v.A.Re = v.A.Re.Add(lo[i])
		dst[i] = v
	}
}

// FoldQM31 is FoldBase for a table of QM31 elements; dst may be lo.
func FoldQM31(dst, lo, hi []QM31, r QM31) {
	lo, hi = lo[:len(dst)], hi[:len(dst)]
	i := 0
	if len(dst) >= matrixFrom {
		i = foldQM31Blocks(at(dst), at(lo), at(hi), newMatrix(r), len(dst))
	}
	for ; i < len(dst); i++ {
		dst[i] = lo[i].Add(r.Mul(hi[i].Sub(lo[i])))
	}
}

package m31

// BaseSum is a running sum of products of a prime field and a QM31 element,
// reduced only when asked. The zero BaseSum is 0.
type BaseSum struct{ w0, w1, w2, w3 uint64 }

// Add adds x*y.
func (s *BaseSum) Add(x Element, y QM31) {
	v := uint64(x)
	s.w0 = partial(s.w0) + v*uint64(y.A.Re)
	s.w1 = partial(s.w1) + v*uint64(y.A.Im)
	s.w2 = partial(s.w2) + v*uint64(y.B.Re)
	s.w3 = partial(s.w3) + v*uint64(y.B.Im)
}

// Value of the sum.
func (s *BaseSum) Value() QM31 {
	return QM31{CM31{reduce(s.w0), reduce(s.w1)}, CM31{reduce(s.w2), reduce(s.w3)}}
}

// ProductSum is a running sum of products of QM31 elements, reduced only when
// asked. The zero ProductSum is 0.
//
// It keeps (A + uB)(C + uD) as the three CM31 sums of AC, BD and AD + BC.
type ProductSum struct {
	acRe, acIm, bdRe, bdIm, mRe, mIm uint64
}

// Add adds x*y.
func (s *ProductSum) Add(x, y QM31) {
	a0, a1, b0, b1 := uint64(x.A.Re), uint64(x.A.Im), uint64(x.B.Re), uint64(x.B.Im)
	c0, c1, d0, d1 := uint64(y.A.Re), uint64(y.A.Im), uint64(y.B.Re), uint64(y.B.Im)
	na1, nb1 := P-a1, P-b1
	s.acRe = partial(s.acRe) + a0*c0 + na1*c1
	s.acIm = partial(s.acIm) + a0*c1 + a1*c0
	s.bdRe = partial(s.bdRe) + b0*d0 + nb1*d1
	s.bdIm = partial(s.bdIm) + b0*d1 + b1*d0
	// Four products may reach 2^64 - 2^34 + 4, so the fifth summand waits.
	s.mRe = partial(s.mRe) + partial(a0*d0+na1*d1+b0*c0+nb1*c1)
	s.mIm = partial(s.mIm) + partial(a0*d1+a1*d0+b0*c1+b1*c0)
}

// Value of the sum.
func (s *ProductSum) Value() QM31 {
	ac := CM31{reduce(s.acRe), reduce(s.acIm)}
	bd := CM31{reduce(s.bdRe), reduce(s.bdIm)}
	return QM31{ac.Add(bd.mulR()), CM31{reduce(s.mRe), reduce(s.mIm)}}
}

package m31

// DotBase is the sum of a[i] * b[i].
func DotBase(a []Element, b []QM31) QM31 {
	b = b[:len(a)]
	var out lazySums
	i := dotBaseBlocks(&out, at(a), at(b), len(a))
	sum := out.words(i)
	var s BaseSum
	for ; i < len(a); i++ {
		s.Add(a[i], b[i])
	}
	return sum.Add(s.Value())
}

// DotBaseAtTwo is DotBase at the value 2 of a variable that is 0 in a0 and b0,
// and 1 in a1 and b1.
func DotBaseAtTwo(a0, a1 []Element, b0, b1 []QM31) QM31 {
	a1, b0, b1 = a1[:len(a0)], b0[:len(a0)], b1[:len(a0)]
	var out lazySums
	i := dotBaseTwoBlocks(&out, at(a0), at(a1), at(b0), at(b1), len(a0))
	sum := out.words(i)
	var s BaseSum
	for ; i < len(a0); i++ {
		s.Add(a1[i].Double().Sub(a0[i]), b1[i].Double().Sub(b0[i]))
	}
	return sum.Add(s.Value())
}

// DotQM31 is the sum of a[i] * b[i].
func DotQM31(a, b []QM31) QM31 {
	b = b[:len(a)]
	var out lazySums
	i := dotQM31Blocks(&out, at(a), at(b), len(a))
	sum := out.products(i)
	var s ProductSum
	for ; i < len(a); i++ {
		s.Add(a[i], b[i])
	}
	return sum.Add(s.Value())
}

// DotQM31AtTwo is DotQM31 at the value 2 of a variable that is 0 in a0 and b0,
// and 1 in a1 and b1.
func DotQM31AtTwo(a0, a1, b0, b1 []QM31) QM31 {
	a1, b0, b1 = a1[:len(a0)], b0[:len(a0)], b1[:len(a0)]
	var out lazySums
	i := dotQM31TwoBlocks(&out, at(a0), at(a1), at(b0), at(b1), len(a0))
	sum := out.products(i)
	var s ProductSum
	for ; i < len(a0); i++ {
		s.Add(a1[i].Double().Sub(a0[i]), b1[i].Double().Sub(b0[i]))
	}
	return sum.Add(s.Value())
}

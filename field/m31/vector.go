package m31

// Slice operations: dst and the operands have dst's length (a longer operand's
// rest is ignored, a shorter one panics like any slice), and dst may be one of
// the operands. They are where vector instructions can be put in later.

// AddVec sets dst[i] = a[i] + b[i].
func AddVec(dst, a, b []Element) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i].Add(b[i])
	}
}

// SubVec sets dst[i] = a[i] - b[i].
func SubVec(dst, a, b []Element) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i].Sub(b[i])
	}
}

// MulVec sets dst[i] = a[i] * b[i].
func MulVec(dst, a, b []Element) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i].Mul(b[i])
	}
}

// ScaleVec sets dst[i] = s * a[i].
func ScaleVec(dst, a []Element, s Element) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = a[i].Mul(s)
	}
}

// MulAddVec sets dst[i] += s * a[i].
func MulAddVec(dst, a []Element, s Element) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = reduce62(uint64(a[i])*uint64(s) + uint64(dst[i]))
	}
}

// Sum is the sum of a's elements.
func Sum(a []Element) Element {
	var s uint64 // 2^33 words fit
	for _, x := range a {
		s += uint64(x)
	}
	return reduce(s)
}

// Dot is the sum of a[i] * b[i].
func Dot(a, b []Element) Element {
	b = b[:len(a)]
	var s uint64
	i := 0
	for ; i+3 <= len(a); i += 3 {
		// Three products and a partial value stay below 2^64.
		s = partial(s) + uint64(a[i])*uint64(b[i]) + uint64(a[i+1])*uint64(b[i+1]) + uint64(a[i+2])*uint64(b[i+2])
	}
	for ; i < len(a); i++ {
		s = partial(s) + uint64(a[i])*uint64(b[i])
	}
	return reduce(s)
}

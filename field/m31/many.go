package m31

import "unsafe"

// Eight arrays lie one after the other in one slice a: array k is
// a[k*stride:][:n], for some n of at most stride words.

// CrossSums are the dot products of each of eight arrays with each of eight
// others, as they gather. The zero CrossSums is all zeros.
type CrossSums struct {
	lazy [8][2]lazySums // of array i with the arrays 0 to 3, and 4 to 7
	used bool
	rest [8][8]Element
}

// Add adds the products of words [lo, hi) of each array.
func (c *CrossSums) Add(a, b []Element, stride, lo, hi int) {
	if lo >= hi {
		return
	}
	a, b = a[:7*stride+hi], b[:7*stride+hi]
	for i := range c.lazy {
		x := a[i*stride+lo : i*stride+hi]
		done := 0
		for k := range c.lazy[i] {
			done = dotFourBlocks(&c.lazy[i][k], at(x), &b[4*k*stride+lo], stride*int(unsafe.Sizeof(b[0])), len(x))
		}
		c.used = c.used || done > 0
		if done == len(x) {
			continue
		}
		for j := range c.rest[i] {
			c.rest[i][j] = c.rest[i][j].Add(Dot(x[done:], b[j*stride+lo+done:j*stride+hi]))
		}
	}
}

// Values are the dot products so far.
func (c *CrossSums) Values() [8][8]Element {
	v := c.rest
	if !c.used {
		return v
	}
	for i := range v {
		for j := range v[i] {
			s := &c.lazy[i][j/4]
			even, _, _ := s.lane(j%4, 0)
			odd, _, _ := s.lane(j%4, 1)
			v[i][j] = v[i][j].Add(even).Add(odd)
		}
	}
	return v
}

// scalars are eight elements of QM31, each followed by its odd words in even
// places.
type scalars [8][2]QM31

// CombineBase sets dst to words [lo, lo+len(dst)) of the sum of eight arrays, of
// which array k is multiplied by s[k].
func CombineBase(dst []QM31, a []Element, stride, lo int, s *[8]QM31) {
	if len(dst) == 0 {
		return
	}
	hi := lo + len(dst)
	a = a[:7*stride+hi]
	var t scalars
	for k, x := range s {
		t[k] = [2]QM31{x, {CM31{Re: x.A.Im}, CM31{Re: x.B.Im}}}
	}
	n := combineBlocks(at(dst), &a[lo], stride*int(unsafe.Sizeof(a[0])), &t, len(dst))
	dst, lo = dst[n:], lo+n
	ScaleBase(dst, a[lo:hi], s[0])
	for k := 1; k < 8; k++ {
		MulAddBase(dst, a[k*stride+lo:k*stride+hi], s[k])
	}
}

// Transpose8 sets dst[k][j] = src[j*step][k] for j and k below 8.
func Transpose8[R, S ~[8]Element](dst *[8]R, src []S, step int) {
	src = src[:7*step+1]
	if transpose8(&dst[0][0], &src[0][0], 8*step) {
		return
	}
	for j := range 8 {
		for k := range 8 {
			dst[k][j] = src[j*step][k]
		}
	}
}

// Transpose8Words sets dst[k][j] = src[j*stride+k] for j and k below 8.
func Transpose8Words[R ~[8]Element](dst *[8]R, src []Element, stride int) {
	src = src[:7*stride+8]
	if transpose8(&dst[0][0], &src[0], stride) {
		return
	}
	for j := range 8 {
		for k, x := range src[j*stride : j*stride+8] {
			dst[k][j] = x
		}
	}
}

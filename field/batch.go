package field

// BatchInverse writes 1/src[i] to dst[i], and 0 where src[i] is 0. The slices have
// one length and may be the same. It is one inversion and three products an element:
// the inverse of the product of all is taken apart from behind (Montgomery).
func BatchInverse[T Element[T]](dst, src []T) {
	var zero T
	src = src[:len(dst)]
	prefix := make([]T, len(src))
	acc := zero.One()
	for i, x := range src {
		prefix[i] = acc
		if x != zero {
			acc = acc.Mul(x)
		}
	}
	acc = acc.Inverse()
	for i := len(src) - 1; i >= 0; i-- {
		x := src[i]
		if x == zero {
			dst[i] = zero
			continue
		}
		dst[i] = acc.Mul(prefix[i])
		acc = acc.Mul(x)
	}
}

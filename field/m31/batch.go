package m31

// inverter is what batch inversion needs of a field element.
type inverter[T any] interface {
	comparable
	Mul(T) T
	Inverse() T
	One() T
}

// batchInverse writes the inverses of src to dst, which may be src: one
// inversion and three products an element (Montgomery's trick). Zeros give
// zeros.
func batchInverse[T inverter[T]](dst, src []T) {
	var zero T
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

// BatchInverse writes 1/src[i] to dst[i], and 0 where src[i] is 0. The slices
// have one length and may be the same.
func BatchInverse(dst, src []Element) { batchInverse(dst, src[:len(dst)]) }

// BatchInverseCM31 is BatchInverse for CM31.
func BatchInverseCM31(dst, src []CM31) { batchInverse(dst, src[:len(dst)]) }

// BatchInverseQM31 is BatchInverse for QM31.
func BatchInverseQM31(dst, src []QM31) { batchInverse(dst, src[:len(dst)]) }

package m31

// MulVecCM31 sets dst[i] = a[i] * b[i].
func MulVecCM31(dst, a, b []CM31) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := mulCM31Blocks(at(dst), at(a), at(b), len(dst)); i < len(dst); i++ {
		dst[i] = a[i].Mul(b[i])
	}
}

// ScaleVecCM31 sets dst[i] = s * a[i].
func ScaleVecCM31(dst, a []CM31, s CM31) {
	a = a[:len(dst)]
	for i := scaleCM31Blocks(at(dst), at(a), &s, len(dst)); i < len(dst); i++ {
		dst[i] = a[i].Mul(s)
	}
}

// Radix4 does two layers of a transform by decimation in frequency on the four
// quarters of a column: for each i
//
//	x0' =  x0 + x1 + x2 + x3
//	x1' = (x0 - x1 + x2 - x3) * w2
//	x2' = (x0 + i x1 - x2 - i x3) * w1
//	x3' = (x0 - i x1 - x2 + i x3) * w3
//
// where i before an element is the square root of -1. All slices have x0's
// length.
func Radix4(x0, x1, x2, x3, w1, w2, w3 []CM31) {
	n := len(x0)
	x1, x2, x3, w1, w2, w3 = x1[:n], x2[:n], x3[:n], w1[:n], w2[:n], w3[:n]
	for i := radix4Blocks(at(x0), at(x1), at(x2), at(x3), at(w1), at(w2), at(w3), n); i < n; i++ {
		radix4(&x0[i], &x1[i], &x2[i], &x3[i], w1[i], w2[i], w3[i])
	}
}

// radix4 is Radix4 for one i. Sums that go into a product stay below 2P
// unreduced, so that two products add up within 64 bits.
func radix4(x0, x1, x2, x3 *CM31, w1, w2, w3 CM31) {
	b0, b1 := x0.Add(*x2), x0.Sub(*x2)
	b2, b3 := x1.Add(*x3), x1.Sub(*x3) // b3 still lacks its factor i
	w1r, w1i := uint64(w1.Re), uint64(w1.Im)
	w2r, w2i := uint64(w2.Re), uint64(w2.Im)
	w3r, w3i := uint64(w3.Re), uint64(w3.Im)
	*x0 = b0.Add(b2)
	r, i := uint64(b0.Re)+P-uint64(b2.Re), uint64(b0.Im)+P-uint64(b2.Im)
	*x1 = CM31{reduce(r*w2r + (2*P-i)*w2i), reduce(r*w2i + i*w2r)}
	r, i = uint64(b1.Re)+P-uint64(b3.Im), uint64(b1.Im)+uint64(b3.Re)
	*x2 = CM31{reduce(r*w1r + (2*P-i)*w1i), reduce(r*w1i + i*w1r)}
	r, i = uint64(b1.Re)+uint64(b3.Im), uint64(b1.Im)+P-uint64(b3.Re)
	*x3 = CM31{reduce(r*w3r + (2*P-i)*w3i), reduce(r*w3i + i*w3r)}
}

// butterfly4 is radix4 where all twiddles are 1.
func butterfly4(x0, x1, x2, x3 *CM31) {
	b0, b1 := x0.Add(*x2), x0.Sub(*x2)
	b2, b3 := x1.Add(*x3), x1.Sub(*x3).MulI()
	*x0, *x1, *x2, *x3 = b0.Add(b2), b0.Sub(b2), b1.Add(b3), b1.Sub(b3)
}

// Radix16 does the last four layers of a transform: each 16 elements of a are a
// column of its own, whose quarters go through Radix4 with the twiddles w1, w2
// and w3 of four elements each, and each quarter through Radix4 without any.
// A rest of a that is no whole column stays as it is.
func Radix16(a []CM31, w *[3][4]CM31) {
	for i := radix16Blocks(at(a), &w[0][0], len(a)); i+16 <= len(a); i += 16 {
		b := (*[16]CM31)(a[i : i+16])
		for j := range 4 {
			radix4(&b[j], &b[4+j], &b[8+j], &b[12+j], w[0][j], w[1][j], w[2][j])
		}
		for j := 0; j < 16; j += 4 {
			butterfly4(&b[j], &b[j+1], &b[j+2], &b[j+3])
		}
	}
}

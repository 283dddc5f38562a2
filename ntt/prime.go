package ntt

// prime is butterflies over a prime field of 31 bits whose elements are words in
// Montgomery form.
type prime[W ~uint32] struct {
	p, inverse W // inverse is 1/p modulo 2^32
	i          W // the root of order 4
}

// inverse is 1/p modulo 2^32, by Newton's iteration: each step doubles the number of
// bits that are right, and p itself is right for three.
func inverse(p uint32) uint32 {
	x := p
	for range 4 {
		x *= 2 - p*x
	}
	return x
}

func (f *prime[W]) add(a, b W) W {
	a += b
	return min(a, a-f.p)
}

func (f *prime[W]) sub(a, b W) W {
	a -= b
	return min(a, a+f.p)
}

// times is a b / 2^32 for a b below 2^32 p.
func (f *prime[W]) times(a, b W) W {
	x := uint64(a) * uint64(b)
	q := W(x) * f.inverse
	r := W(x>>32) - W(uint64(q)*uint64(f.p)>>32)
	return min(r, r+f.p)
}

// four is two layers of butterflies without their twiddles.
func (f *prime[W]) four(x0, x1, x2, x3 W) (y0, y1, y2, y3 W) {
	a, b := f.add(x0, x2), f.sub(x0, x2)
	c, d := f.add(x1, x3), f.times(x1+f.p-x3, f.i)
	return f.add(a, c), f.sub(a, c), f.add(b, d), f.sub(b, d)
}

func (f prime[W]) radix4(x0, x1, x2, x3, w1, w2, w3 []W) {
	n := len(x0)
	x1, x2, x3, w1, w2, w3 = x1[:n], x2[:n], x3[:n], w1[:n], w2[:n], w3[:n]
	for i := range n {
		y0, y1, y2, y3 := f.four(x0[i], x1[i], x2[i], x3[i])
		x0[i], x1[i], x2[i], x3[i] = y0, f.times(y1, w2[i]), f.times(y2, w1[i]), f.times(y3, w3[i])
	}
}

func (f prime[W]) radix16(a []W, w *[3][4]W) {
	for ; len(a) >= 16; a = a[16:] {
		b := (*[16]W)(a)
		for j := range 4 {
			y0, y1, y2, y3 := f.four(b[j], b[4+j], b[8+j], b[12+j])
			b[j], b[4+j], b[8+j], b[12+j] = y0, f.times(y1, w[1][j]), f.times(y2, w[0][j]), f.times(y3, w[2][j])
		}
		for j := 0; j < 16; j += 4 {
			b[j], b[j+1], b[j+2], b[j+3] = f.four(b[j], b[j+1], b[j+2], b[j+3])
		}
	}
}

func (f prime[W]) radix2(a []W) {
	for i := 0; i+1 < len(a); i += 2 {
		a[i], a[i+1] = f.add(a[i], a[i+1]), f.sub(a[i], a[i+1])
	}
}

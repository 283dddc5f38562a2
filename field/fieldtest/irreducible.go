package fieldtest

// Irreducible says whether the polynomial f, monic of degree d below 8 with the
// lowest coefficient first, is irreducible over F_p, by Rabin's test: X^(p^d) is X
// modulo f, and for each prime q that divides d, X^(p^(d/q)) - X has no factor in
// common with f.
func Irreducible(p uint64, f []uint32) bool {
	d := len(f) - 1
	r := ring{p, f}
	x := make([]uint64, d)
	x[1] = 1
	for k, y := 1, x; k <= d; k++ {
		y = r.power(y, p)
		difference := append([]uint64(nil), y...)
		difference[1] = (difference[1] + p - 1) % p
		switch {
		case k == d:
			return degree(difference) < 0
		case d%k == 0 && prime(d/k) && r.commonDegree(difference) != 0:
			return false
		}
	}
	return false
}

func prime(n int) bool { return n == 2 || n == 3 || n == 5 || n == 7 }

// ring is the polynomials over F_p modulo f.
type ring struct {
	p uint64
	f []uint32
}

func (r ring) mul(a, b []uint64) []uint64 {
	d := len(r.f) - 1
	c := make([]uint64, 2*d)
	for i := range a {
		for j := range b {
			c[i+j] = (c[i+j] + a[i]*b[j]) % r.p
		}
	}
	for k := 2*d - 1; k >= d; k-- {
		for i := range d {
			c[k-d+i] = (c[k-d+i] + (r.p-c[k])*uint64(r.f[i])) % r.p
		}
	}
	return c[:d]
}

func (r ring) power(a []uint64, e uint64) []uint64 {
	out := make([]uint64, len(a))
	out[0] = 1
	for ; e != 0; e >>= 1 {
		if e&1 == 1 {
			out = r.mul(out, a)
		}
		a = r.mul(a, a)
	}
	return out
}

// commonDegree is the degree of the greatest common divisor of f and g.
func (r ring) commonDegree(g []uint64) int {
	a := make([]uint64, len(r.f))
	for i, c := range r.f {
		a[i] = uint64(c)
	}
	b := append([]uint64(nil), g...)
	for degree(b) >= 0 {
		lead := r.inverse(b[degree(b)])
		for degree(a) >= degree(b) {
			n := degree(a)
			shift, c := n-degree(b), a[n]*lead%r.p
			for i := range degree(b) + 1 {
				a[shift+i] = (a[shift+i] + (r.p-c)*b[i]) % r.p
			}
		}
		a, b = b, a
	}
	return degree(a)
}

func (r ring) inverse(a uint64) uint64 {
	out := uint64(1)
	for e := r.p - 2; e != 0; e >>= 1 {
		if e&1 == 1 {
			out = out * a % r.p
		}
		a = a * a % r.p
	}
	return out
}

// degree is -1 for 0.
func degree(a []uint64) int {
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != 0 {
			return i
		}
	}
	return -1
}

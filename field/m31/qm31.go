package m31

// QM31 is the element A + u*B of CM31[u]/(u^2 - 2 - i). Its four words are
// A.Re, A.Im, B.Re, B.Im.
type QM31 struct{ A, B CM31 }

// frobU is u^(P-1) = (2+i)^((P-1)/2), the factor by which x -> x^P multiplies
// u; frobUInv is the conjugate of its inverse. A test derives both.
var (
	frobU    = CM31{21189756, 42379512}
	frobUInv = CM31{2126293891, 2105104135}
)

// Lift embeds the prime field.
func Lift(a Element) QM31 { return QM31{A: CM31{Re: a}} }

// LiftPair embeds CM31.
func LiftPair(a CM31) QM31 { return QM31{A: a} }

// OneQM31 is the 1 of QM31.
func OneQM31() QM31 { return QM31{A: CM31{Re: 1}} }

// FromWords is the element of four canonical words.
func FromWords(w [4]Element) QM31 { return QM31{CM31{w[0], w[1]}, CM31{w[2], w[3]}} }

// Words of a, lowest first.
func (a QM31) Words() [4]Element { return [4]Element{a.A.Re, a.A.Im, a.B.Re, a.B.Im} }

// Add returns a + b.
func (a QM31) Add(b QM31) QM31 { return QM31{a.A.Add(b.A), a.B.Add(b.B)} }

// Sub returns a - b.
func (a QM31) Sub(b QM31) QM31 { return QM31{a.A.Sub(b.A), a.B.Sub(b.B)} }

// Neg returns -a.
func (a QM31) Neg() QM31 { return QM31{a.A.Neg(), a.B.Neg()} }

// Double returns 2a.
func (a QM31) Double() QM31 { return QM31{a.A.Double(), a.B.Double()} }

// Mul returns a * b: sixteen word products, added up four at a time without
// reduction. No sum overflows: a product is at most P*(P-1) < 2^62.
func (a QM31) Mul(b QM31) QM31 {
	e := a.B.mulR()
	a0, a1, b0, b1 := uint64(a.A.Re), uint64(a.A.Im), uint64(a.B.Re), uint64(a.B.Im)
	c0, c1, d0, d1 := uint64(b.A.Re), uint64(b.A.Im), uint64(b.B.Re), uint64(b.B.Im)
	e0, e1 := uint64(e.Re), uint64(e.Im)
	na1, nb1, ne1 := P-a1, P-b1, P-e1
	return QM31{
		CM31{
			reduce(a0*c0 + na1*c1 + e0*d0 + ne1*d1),
			reduce(a0*c1 + a1*c0 + e0*d1 + e1*d0),
		},
		CM31{
			reduce(a0*d0 + na1*d1 + b0*c0 + nb1*c1),
			reduce(a0*d1 + a1*d0 + b0*c1 + b1*c0),
		},
	}
}

// Square returns a^2.
func (a QM31) Square() QM31 {
	return QM31{a.A.Square().Add(a.B.Square().mulR()), a.A.Mul(a.B).Double()}
}

// MulBase returns s*a.
func (a QM31) MulBase(s Element) QM31 { return QM31{a.A.MulBase(s), a.B.MulBase(s)} }

// MulCM31 returns s*a.
func (a QM31) MulCM31(s CM31) QM31 { return QM31{a.A.Mul(s), a.B.Mul(s)} }

// MulI returns i*a.
func (a QM31) MulI() QM31 { return QM31{a.A.MulI(), a.B.MulI()} }

// Frobenius returns a^P. It fixes the prime field, takes i to -i, and has
// order 4.
func (a QM31) Frobenius() QM31 { return QM31{a.A.Conj(), a.B.Conj().Mul(frobU)} }

// FrobeniusInverse returns a^(P^3), which undoes Frobenius.
func (a QM31) FrobeniusInverse() QM31 { return QM31{a.A.Conj(), a.B.Conj().Mul(frobUInv)} }

// Inverse returns 1/a, and 0 for 0: (A - uB) / (A^2 - (2+i) B^2).
func (a QM31) Inverse() QM31 {
	n := a.A.Square().Sub(a.B.Square().mulR()).Inverse()
	return QM31{a.A.Mul(n), a.B.Neg().Mul(n)}
}

// Exp returns a^e, and 1 for e = 0.
func (a QM31) Exp(e uint64) QM31 {
	r := OneQM31()
	for ; e != 0; e >>= 1 {
		if e&1 == 1 {
			r = r.Mul(a)
		}
		a = a.Square()
	}
	return r
}

// IsZero says whether a is 0.
func (a QM31) IsZero() bool { return a == QM31{} }

// One is 1, whatever the receiver.
func (QM31) One() QM31 { return OneQM31() }

// FromUint64 embeds v modulo P.
func (QM31) FromUint64(v uint64) QM31 { return Lift(reduce(v)) }

// Degree is 4.
func (QM31) Degree() int { return 4 }

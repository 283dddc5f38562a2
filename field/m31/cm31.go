package m31

// CM31 is the element Re + i*Im of M31[i]/(i^2 + 1).
type CM31 struct{ Re, Im Element }

// LiftCM31 embeds the prime field.
func LiftCM31(a Element) CM31 { return CM31{Re: a} }

// I is the square root of -1.
func I() CM31 { return CM31{Im: 1} }

// Add returns a + b.
func (a CM31) Add(b CM31) CM31 { return CM31{a.Re.Add(b.Re), a.Im.Add(b.Im)} }

// Sub returns a - b.
func (a CM31) Sub(b CM31) CM31 { return CM31{a.Re.Sub(b.Re), a.Im.Sub(b.Im)} }

// Neg returns -a.
func (a CM31) Neg() CM31 { return CM31{a.Re.Neg(), a.Im.Neg()} }

// Double returns 2a.
func (a CM31) Double() CM31 { return CM31{a.Re.Double(), a.Im.Double()} }

// Conj is Re - i*Im, which is also the Frobenius map x -> x^P.
func (a CM31) Conj() CM31 { return CM31{a.Re, a.Im.Neg()} }

// Mul returns a * b.
func (a CM31) Mul(b CM31) CM31 {
	ar, ai := uint64(a.Re), uint64(a.Im)
	br, bi := uint64(b.Re), uint64(b.Im)
	return CM31{reduce(ar*br + (P-ai)*bi), reduce(ar*bi + ai*br)}
}

// Square returns a^2 = (Re+Im)(Re-Im) + i*2*Re*Im.
func (a CM31) Square() CM31 {
	return CM31{a.Re.Add(a.Im).Mul(a.Re.Sub(a.Im)), a.Re.Double().Mul(a.Im)}
}

// MulBase returns s*a.
func (a CM31) MulBase(s Element) CM31 { return CM31{a.Re.Mul(s), a.Im.Mul(s)} }

// MulI returns i*a.
func (a CM31) MulI() CM31 { return CM31{a.Im.Neg(), a.Re} }

// mulR returns (2+i)*a, where 2+i is the square of u in QM31.
func (a CM31) mulR() CM31 {
	return CM31{a.Re.Double().Sub(a.Im), a.Im.Double().Add(a.Re)}
}

// Norm is Re^2 + Im^2, the product of a and its conjugate.
func (a CM31) Norm() Element {
	return reduce(uint64(a.Re)*uint64(a.Re) + uint64(a.Im)*uint64(a.Im))
}

// Inverse returns 1/a, and 0 for 0.
func (a CM31) Inverse() CM31 { return a.Conj().MulBase(a.Norm().Inverse()) }

// Exp returns a^e, and 1 for e = 0.
func (a CM31) Exp(e uint64) CM31 {
	r := CM31{Re: 1}
	for ; e != 0; e >>= 1 {
		if e&1 == 1 {
			r = r.Mul(a)
		}
		a = a.Square()
	}
	return r
}

// IsZero says whether a is 0.
func (a CM31) IsZero() bool { return a == CM31{} }

// One is 1, whatever the receiver.
func (CM31) One() CM31 { return CM31{Re: 1} }

// FromUint64 embeds v modulo P.
func (CM31) FromUint64(v uint64) CM31 { return CM31{Re: reduce(v)} }

// Degree is 2.
func (CM31) Degree() int { return 2 }

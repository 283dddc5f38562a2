package circom

import (
	"errors"
	"fmt"
	"math/big"
	"unsafe"

	"github.com/zkwarp/zkwarp/internal/parallel"
	"github.com/zkwarp/zkwarp/msm"
)

// affine is what the affine points of gnark-crypto can do.
type affine[P any] interface {
	*P
	Add(a, b *P) *P
	Neg(a *P) *P
	ScalarMultiplication(a *P, s *big.Int) *P
	IsOnCurve() bool
	IsInSubGroup() bool
	IsInfinity() bool
}

// group is the arithmetic of affine points P, coordinates in Montgomery form, infinity all
// zero: the memory of gnark-crypto is that of a .zkey on a machine with the lowest byte
// first.
type group[P any] struct {
	add                             func(a, b P) P
	neg                             func(P) P
	mul                             func(P, *big.Int) P
	onCurve, inSubgroup, isInfinity func(*P) bool
}

func groupOf[P any, A affine[P]]() *group[P] {
	return &group[P]{
		add:        func(a, b P) P { A(&a).Add(&a, &b); return a },
		neg:        func(a P) P { A(&a).Neg(&a); return a },
		mul:        func(a P, s *big.Int) P { A(&a).ScalarMultiplication(&a, s); return a },
		onCurve:    func(a *P) bool { return A(a).IsInfinity() || A(a).IsOnCurve() },
		inSubgroup: func(a *P) bool { return A(a).IsInfinity() || A(a).IsInSubGroup() },
		isInfinity: func(a *P) bool { return A(a).IsInfinity() },
	}
}

// bytes is the size of a point.
func (g *group[P]) bytes() int { return int(unsafe.Sizeof(*new(P))) }

// memory is the words of a point.
func (g *group[P]) memory(p *P) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(p)), g.bytes()/8)
}

// check is for points of verifying keys and proofs.
func (g *group[P]) check(p *P) error {
	switch {
	case g.isInfinity(p):
		return errors.New("it is infinity")
	case !g.onCurve(p):
		return errors.New("it is not on the curve")
	case !g.inSubgroup(p):
		return errors.New("it is not in the subgroup of prime order")
	}
	return nil
}

// coordinates are the numbers of a point, not in Montgomery form.
func (g *group[P]) coordinates(c *curve, p *P) []*big.Int {
	w, n := g.memory(p), len(c.qWords)
	var out []*big.Int
	for ; len(w) > 0; w = w[n:] {
		out = append(out, c.fromMontgomery(w[:n]))
	}
	return out
}

// point makes a point of its coordinates.
func (g *group[P]) point(c *curve, coordinates ...*big.Int) (P, error) {
	var p P
	w, n := g.memory(&p), len(c.qWords)
	for _, x := range coordinates {
		if x == nil {
			return p, errors.New("a coordinate is missing")
		}
		if x.Sign() < 0 || x.Cmp(c.q) >= 0 {
			return p, errors.New("a coordinate is not below the field's modulus")
		}
		m := new(big.Int).Lsh(x, uint(64*n))
		toWords(w[:n], m.Mod(m, c.q))
		w = w[n:]
	}
	return p, nil
}

// fromMontgomery is the number of a coordinate.
func (c *curve) fromMontgomery(words []uint64) *big.Int {
	inv := new(big.Int).Lsh(big.NewInt(1), uint(64*len(words)))
	inv.ModInverse(inv, c.q)
	x := fromWords(words)
	return x.Mod(x.Mul(x, inv), c.q)
}

// element is what the scalars of gnark-crypto can do.
type element[S any] interface {
	*S
	Add(x, y *S) *S
	Sub(x, y *S) *S
	Mul(x, y *S) *S
}

// scalars is the arithmetic of a scalar field, elements S of four words in Montgomery form.
type scalars[S any] struct {
	// reduced is e·2^-256, which takes an element out of Montgomery form once.
	reduced func(e Element) S
	// montgomery is an element in Montgomery form.
	montgomery func(e Element) S
	plain      func(s S) Element
	mul        func(x, y S) S
	sub        func(x, y S) S
	// dot is the sum of value[i]·w[wires[i]].
	dot func(value []S, wires []uint32, w []S) S
	// quotient stores a[i]·b[i] - c[i] in a; products stores a[i]·b[i] in c.
	quotient, products func(a, b, c []S)
}

func scalarsOf[S any, F element[S]](c *curve) *scalars[S] {
	of := func(e Element) S { return *(*S)(unsafe.Pointer(&e)) }
	var square Element
	r2 := new(big.Int).Lsh(big.NewInt(1), 512)
	toWords(square[:], r2.Mod(r2, c.r))
	up, one := of(square), of(Element{1})
	times := func(x, y S) S { F(&x).Mul(&x, &y); return x }
	return &scalars[S]{
		reduced:    func(e Element) S { return times(of(e), one) },
		montgomery: func(e Element) S { return times(of(e), up) },
		plain:      func(s S) Element { s = times(s, one); return *(*Element)(unsafe.Pointer(&s)) },
		mul:        times,
		sub:        func(x, y S) S { F(&x).Sub(&x, &y); return x },
		dot: func(value []S, wires []uint32, w []S) S {
			var sum, t S
			for i := range value {
				F(&t).Mul(&value[i], &w[wires[i]])
				F(&sum).Add(&sum, &t)
			}
			return sum
		},
		quotient: func(a, b, c []S) {
			for i := range a {
				F(&a[i]).Mul(&a[i], &b[i])
				F(&a[i]).Sub(&a[i], &c[i])
			}
		},
		products: func(a, b, c []S) {
			for i := range a {
				F(&c[i]).Mul(&a[i], &b[i])
			}
		},
	}
}

// pairing is a curve with the types of its points, G and H, and of its scalars, S.
type pairing[G, H, S any] struct {
	c     *curve
	g1    *group[G]
	g2    *group[H]
	field *scalars[S]
	sum1  *msm.Curve[G, S]
	sum2  *msm.Curve[H, S]
	// holds says whether the product of the pairings is 1.
	holds func([]G, []H) (bool, error)
	// pair is a pairing's value, its coefficients in the order of snarkjs.
	pair func(G, H) ([]*big.Int, error)
	// root is gnark-crypto's generator of the subgroup of so many elements.
	root func(n int) (S, error)
	// transform makes of a polynomial's values on that subgroup, of n elements, those on
	// its coset by shift, both in the order of the generator's powers.
	transform func(n int, shift S) func([]S)
}

func (p *pairing[G, H, S]) curve() *curve { return p.c }

// domain compares snarkjs's order of the subgroup of 2^log elements with gnark-crypto's. They
// are the even powers of a root of twice the order, and the two have different such roots:
// even(i) is where the element with snarkjs's number i is in gnark-crypto's order. For the
// odd powers odd(i) is that place with its bits reversed. shift is gnark-crypto's root.
func (p *pairing[G, H, S]) domain(log int) (even, odd func(i int) int, shift S, err error) {
	// snarkjs takes its roots from the least number that is not a square.
	least := big.NewInt(2)
	for big.Jacobi(least, p.c.r) != -1 {
		least.Add(least, big.NewInt(1))
	}
	rest := new(big.Int).Sub(p.c.r, big.NewInt(1))
	rest.Rsh(rest, uint(log+1)) // the least number to this power has order 2^(log+1)
	rest.Exp(least, rest, p.c.r)

	if shift, err = p.root(2 << log); err != nil {
		return nil, nil, shift, fmt.Errorf("domain of 2^%d: %w", log, err)
	}
	// rest = shift^e, with one bit of e after the other, from the lowest.
	power := func(x *big.Int, squarings int) *big.Int {
		return new(big.Int).Exp(x, new(big.Int).Lsh(big.NewInt(1), uint(squarings)), p.c.r)
	}
	inverse := new(big.Int).ModInverse(p.field.plain(shift).Big(), p.c.r)
	unit, e := big.NewInt(1), uint64(0)
	for i := range log + 1 {
		// rest has order 2^(log+1-i) at most.
		if power(rest, log-i).Cmp(unit) != 0 {
			e |= 1 << i
			rest.Mul(rest, power(inverse, i))
			rest.Mod(rest, p.c.r)
		}
	}
	if rest.Cmp(unit) != 0 {
		return nil, nil, shift, fmt.Errorf("domain of 2^%d: the roots of unity of snarkjs and gnark-crypto generate different groups", log)
	}
	mask := uint64(2)<<log - 1
	reversed := reversal(1 << log)
	even = func(i int) int { return int(e * 2 * uint64(i) & mask >> 1) }
	odd = func(i int) int { return reversed(int(e * (2*uint64(i) + 1) & mask >> 1)) }
	return even, odd, shift, nil
}

// montgomery is all values in Montgomery form.
func (p *pairing[G, H, S]) montgomery(values []Element) []S {
	out := make([]S, len(values))
	parallel.For(len(out), 1<<12, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = p.field.montgomery(values[i])
		}
	})
	return out
}

// unsatisfied implements system.
func (p *pairing[G, H, S]) unsatisfied(c *R1CS, values []Element) int {
	w := p.montgomery(values)
	sum := func(terms []Term) S {
		value, wires := make([]S, len(terms)), make([]uint32, len(terms))
		for i, t := range terms {
			value[i], wires[i] = p.field.montgomery(t.Value), t.Wire
		}
		return p.field.dot(value, wires, w)
	}
	err := forEach(c.Constraints(), func(i int) error {
		a, b, out := c.Constraint(i)
		if p.field.plain(p.field.mul(sum(a), sum(b))) != p.field.plain(sum(out)) {
			return unsatisfiedAt(i)
		}
		return nil
	})
	if at, ok := err.(unsatisfiedAt); ok { //nolint:errorlint // it is never wrapped
		return int(at)
	}
	return -1
}

// unsatisfiedAt is a constraint's number.
type unsatisfiedAt int

func (i unsatisfiedAt) Error() string { return fmt.Sprintf("constraint %d does not hold", int(i)) }

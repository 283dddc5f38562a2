// Package msmfile reads and writes files of points and of scalars, as gnark-crypto's
// Encoder writes slices of them: a number of elements in 4 bytes, highest first, then
// the elements. A scalar is its number below the order. A point is raw, x then y, or
// compressed, x with the choice of y in bits that x leaves unused; coordinates of the
// extension come with u's part first. Both kinds may be mixed. MNT4-753 is written like
// BW6-761, which has as many bytes and unused bits.
//
// Reading is strict: numbers are canonical, points on the curve, infinity is all zero
// but for its flag, and nothing follows the last element. Memory is taken for what has
// been read, not for what a header promises.
package msmfile

import (
	"errors"
	"fmt"
	"math/big"
	"unsafe"

	"github.com/zkwarp/zkwarp/curve"
	"github.com/zkwarp/zkwarp/curve/weierstrass"
	"github.com/zkwarp/zkwarp/field/mont"
)

// ErrFormat is the class of errors in a file's contents.
var ErrFormat = errors.New("bad file")

// Affine are affine points with coordinates E.
type Affine[E any] interface{ ~struct{ X, Y E } }

// Field is what compressed points ask of coordinates.
type Field[E any] interface {
	weierstrass.Field[E]
	// Sqrt sets a root; of a number that has none it returns nil or sets anything.
	Sqrt(x *E) *E
	// LexicographicallyLargest tells which of y and -y this is.
	LexicographicallyLargest() bool
}

// Format are the files of one group. It is safe for concurrent use.
type Format[P, S any] struct {
	group *curve.Group
	flags flags
	raw   int // bytes of a raw point; a compressed one takes half

	point   func(p *P, b []byte) error // of a raw or a compressed point
	encode  func(b []byte, p *P)       // half of the buffer: compressed
	scalar  func(s *S, b []byte) error
	encodeS func(b []byte, s *S)
}

// flags are the highest bits of a point's first byte.
type flags struct{ mask, raw, rawInfinity, smallest, largest, infinity byte }

var (
	// BN254's modulus leaves two bits; infinity, raw, is no point that needs a flag.
	twoBits = flags{mask: 0xc0, raw: 0, rawInfinity: 0, smallest: 0x80, largest: 0xc0, infinity: 0x40}
	// As ZCash writes points of BLS12-381.
	threeBits = flags{mask: 0xe0, raw: 0, rawInfinity: 0x40, smallest: 0x80, largest: 0xa0, infinity: 0xc0}
)

// product is what converting scalars asks of them.
type product[S any] interface {
	*S
	Mul(x, y *S) *S
}

// New returns a group's format for points P with coordinates E, and scalars S.
func New[P Affine[E], S, E any, F Field[E], M product[S]](g *curve.Group) *Format[P, S] {
	c := weierstrass.New[E, F](g)
	x := &coder[E, F]{c: c, field: g.Base, degree: g.Degree, modulus: g.Base.Words(g.Base.Modulus)}
	scales(g.Base, &x.toMontgomery, &x.fromMontgomery)
	f := &Format[P, S]{group: g, flags: threeBits, raw: g.AffineBytes()}
	if 32*g.Base.Limbs-g.Base.Bits() < 3 {
		f.flags = twoBits
	}
	f.point = func(p *P, b []byte) error {
		q, err := x.point(b, f.flags, f.raw)
		*p = P(q)
		return err
	}
	f.encode = func(b []byte, p *P) {
		q := weierstrass.Affine[E](*p)
		x.encode(b, &q, f.flags, f.raw)
	}
	order := g.Scalar.Words(g.Scalar.Modulus)
	var to, from S
	scales(g.Scalar, &to, &from)
	f.scalar = func(s *S, b []byte) error {
		w := words(s)
		bigEndian(w, b)
		if !below(w, order) {
			return errors.New("not below the group's order")
		}
		M(s).Mul(s, &to)
		return nil
	}
	f.encodeS = func(b []byte, s *S) {
		var plain S
		M(&plain).Mul(s, &from)
		putBigEndian(b, words(&plain))
	}
	return f
}

// Group of the points.
func (f *Format[P, S]) Group() *curve.Group { return f.group }

// coder is what New knows of a group's coordinates.
type coder[E any, F Field[E]] struct {
	c                            *weierstrass.Curve[E, F]
	field                        *mont.Field
	degree                       int
	modulus                      []uint32
	toMontgomery, fromMontgomery E
}

// scales sets what a number's plain words are multiplied by to become an element, and an
// element to become its number: the words of R² and of 1, where words w stand for w/R.
func scales[T any](f *mont.Field, to, from *T) {
	r := f.Int(f.Montgomery(big.NewInt(1)))
	copy(words(to), f.Montgomery(r))
	words(from)[0] = 1
}

func words[T any](v *T) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(v)), unsafe.Sizeof(*v)/4)
}

func bigEndian(w []uint32, b []byte) {
	for i := range w {
		at := b[len(b)-4*i-4:]
		w[i] = uint32(at[0])<<24 | uint32(at[1])<<16 | uint32(at[2])<<8 | uint32(at[3])
	}
}

func putBigEndian(b []byte, w []uint32) {
	for i, v := range w {
		at := b[len(b)-4*i-4:]
		at[0], at[1], at[2], at[3] = byte(v>>24), byte(v>>16), byte(v>>8), byte(v)
	}
}

// below says whether a < b, lowest words first.
func below(a, b []uint32) bool {
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// coordinate reads one, the highest part first.
func (x *coder[E, F]) coordinate(b []byte) (E, error) {
	var e E
	w, n := words(&e), x.field.Limbs
	for i := range x.degree {
		part := w[(x.degree-1-i)*n:][:n]
		bigEndian(part, b[4*n*i:][:4*n])
		if !below(part, x.modulus) {
			return e, errors.New("a coordinate is not below the field's modulus")
		}
	}
	F(&e).Mul(&e, &x.toMontgomery)
	return e, nil
}

func (x *coder[E, F]) putCoordinate(b []byte, e *E) {
	var plain E
	F(&plain).Mul(e, &x.fromMontgomery)
	w, n := words(&plain), x.field.Limbs
	for i := range x.degree {
		putBigEndian(b[4*n*i:][:4*n], w[(x.degree-1-i)*n:][:n])
	}
}

func (x *coder[E, F]) encode(b []byte, p *weierstrass.Affine[E], f flags, raw int) {
	compressed := len(b) < raw
	if x.c.IsInfinity(p) {
		clear(b)
		b[0] = f.rawInfinity
		if compressed {
			b[0] = f.infinity
		}
		return
	}
	x.putCoordinate(b[:raw/2], &p.X)
	switch {
	case !compressed:
		x.putCoordinate(b[raw/2:], &p.Y)
	case F(&p.Y).LexicographicallyLargest():
		b[0] |= f.largest
	default:
		b[0] |= f.smallest
	}
}

var (
	errFlags    = errors.New("unknown flags")
	errInfinity = errors.New("infinity is not all zero")
	errCurve    = errors.New("not on the curve")
)

// point reads one, raw or compressed by b's length, which its flags have told.
func (x *coder[E, F]) point(b []byte, f flags, raw int) (weierstrass.Affine[E], error) {
	var p weierstrass.Affine[E]
	var err error
	flag := b[0] & f.mask
	if flag == f.infinity || flag == f.rawInfinity && (flag != f.raw || allZero(b)) {
		if b[0]&^f.mask != 0 || !allZero(b[1:]) {
			return p, errInfinity
		}
		return p, nil
	}
	first := b[0] &^ f.mask
	if p.X, err = x.x(b[:raw/2], first); err != nil {
		return p, err
	}
	if len(b) == raw {
		if p.Y, err = x.coordinate(b[raw/2:]); err != nil {
			return p, err
		}
		if x.c.IsInfinity(&p) || !x.c.OnCurve(&p) {
			return p, errCurve
		}
		return p, nil
	}
	var r E
	F(&r).Square(&p.X)
	F(&r).Add(&r, &x.c.A)
	F(&r).Mul(&r, &p.X)
	F(&r).Add(&r, &x.c.B)
	if F(&p.Y).Sqrt(&r) == nil || !x.c.OnCurve(&p) {
		return p, errCurve
	}
	if largest := flag == f.largest; F(&p.Y).LexicographicallyLargest() != largest {
		F(&p.Y).Neg(&p.Y)
		if F(&p.Y).LexicographicallyLargest() != largest {
			return p, errFlags // y = 0, of which there is one
		}
	}
	return p, nil
}

func (x *coder[E, F]) x(b []byte, first byte) (E, error) {
	plain := append(make([]byte, 0, 192), b...)
	plain[0] = first
	return x.coordinate(plain)
}

func allZero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}

// size of a point whose first byte is b, 0 if its flags are unknown.
func (f *Format[P, S]) size(b byte) int {
	switch b & f.flags.mask {
	case f.flags.raw, f.flags.rawInfinity:
		return f.raw
	case f.flags.smallest, f.flags.largest, f.flags.infinity:
		return f.raw / 2
	}
	return 0
}

// errorAt names an element of a file.
func errorAt(what string, i int, err error) error {
	return fmt.Errorf("%s %d: %w: %w", what, i, ErrFormat, err)
}

// Package field says what a field element can do, so that verifiers can be
// written once. The fields themselves are the packages below this one; provers
// use those directly, for speed.
package field

// Element is what a type T of field elements offers. Elements are small values
// in canonical form, so == is equality in the field and the zero value is zero.
type Element[T any] interface {
	comparable

	Add(T) T
	Sub(T) T
	Mul(T) T
	Neg() T
	Double() T
	Square() T
	// Inverse of the element, and 0 for 0.
	Inverse() T
	// Exp raises to a power; the 0th power of anything is 1.
	Exp(uint64) T
	IsZero() bool

	// One and FromUint64 do not depend on the receiver. FromUint64 reduces its
	// argument modulo the characteristic.
	One() T
	FromUint64(uint64) T

	// Degree is the number of 32-bit words (coefficients over the prime field).
	// It does not depend on the receiver.
	Degree() int
	// AppendWords appends the canonical coefficients, lowest degree first.
	AppendWords([]uint32) []uint32
	// SetWords is the element whose coefficients are exactly the given words.
	// It fails if their number is not Degree or if one of them is not
	// canonical; it does not depend on the receiver.
	SetWords([]uint32) (T, error)
}

// Base is what a type T of prime field elements offers besides: it is one 32-bit
// word, whose value need not be the canonical one (it may be in Montgomery form),
// but is the same whenever the element is.
type Base[T any] interface {
	~uint32
	Element[T]
	// Modulus is the number of elements. It does not depend on the receiver.
	Modulus() uint32
	// Uint32 is the element as a number below Modulus.
	Uint32() uint32
}

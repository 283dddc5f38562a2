package ntt

import (
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/koalabear"
)

// BabyBear is the transform over BabyBear: the 2^27-th roots of unity are the powers
// of 31^15.
type BabyBear struct{}

// KoalaBear is the transform over KoalaBear: the 2^24-th roots of unity are the
// powers of 3^127.
type KoalaBear struct{}

var (
	_ Transform[babybear.Element]  = BabyBear{}
	_ Transform[koalabear.Element] = KoalaBear{}

	babyBear = engine[babybear.Element]{
		maxLog:  babybear.TwoAdicity,
		root:    babybear.Root,
		scale:   babybear.ScaleVec,
		add:     babybear.AddVec,
		sub:     babybear.SubVec,
		mul:     babybear.MulVec,
		radix4:  babybear.Radix4,
		radix16: babybear.Radix16,
	}
	koalaBear = engine[koalabear.Element]{
		maxLog:  koalabear.TwoAdicity,
		root:    koalabear.Root,
		scale:   koalabear.ScaleVec,
		add:     koalabear.AddVec,
		sub:     koalabear.SubVec,
		mul:     koalabear.MulVec,
		radix4:  koalabear.Radix4,
		radix16: koalabear.Radix16,
	}
)

// MaxLog is 27.
func (BabyBear) MaxLog() int { return babybear.TwoAdicity }

// Root returns the generator of the 2^n-th roots of unity.
func (BabyBear) Root(n int) babybear.Element { return babybear.Root(n) }

// Forward evaluates columns of coefficients, in natural order.
func (BabyBear) Forward(data []babybear.Element, n int) error { return babyBear.natural(data, n) }

// ForwardReversed evaluates columns of which only the first 2^live coefficients may
// be non-zero, and leaves the values in bit-reversed order.
func (BabyBear) ForwardReversed(data []babybear.Element, n, live int) error {
	return babyBear.reversed(data, n, live)
}

// ForwardWide is ForwardReversed for each of the width coordinates of elements.
func (BabyBear) ForwardWide(data []babybear.Element, width, n, live int) error {
	return babyBear.wide(data, width, n, live)
}

// Inverse undoes Forward.
func (BabyBear) Inverse(data []babybear.Element, n int) error { return babyBear.inverse(data, n) }

// MaxLog is 24.
func (KoalaBear) MaxLog() int { return koalabear.TwoAdicity }

// Root returns the generator of the 2^n-th roots of unity.
func (KoalaBear) Root(n int) koalabear.Element { return koalabear.Root(n) }

// Forward evaluates columns of coefficients, in natural order.
func (KoalaBear) Forward(data []koalabear.Element, n int) error { return koalaBear.natural(data, n) }

// ForwardReversed evaluates columns of which only the first 2^live coefficients may
// be non-zero, and leaves the values in bit-reversed order.
func (KoalaBear) ForwardReversed(data []koalabear.Element, n, live int) error {
	return koalaBear.reversed(data, n, live)
}

// ForwardWide is ForwardReversed for each of the width coordinates of elements.
func (KoalaBear) ForwardWide(data []koalabear.Element, width, n, live int) error {
	return koalaBear.wide(data, width, n, live)
}

// Inverse undoes Forward.
func (KoalaBear) Inverse(data []koalabear.Element, n int) error { return koalaBear.inverse(data, n) }

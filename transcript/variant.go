package transcript

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/koalabear"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

// Variant is a kind of transcript: the field W whose words it absorbs and
// squeezes, and the extension E of W that its challenges are from. There is one
// value of each kind, which the functions M31, BabyBear4 and so on return.
type Variant[W field.Base[W], E field.Element[E]] struct {
	name        string
	degree      int
	permutation *poseidon2.Permutation[W]
}

func variant[W field.Base[W], E field.Element[E]](name string, p *poseidon2.Permutation[W]) *Variant[W, E] {
	var e E
	return &Variant[W, E]{name: name, degree: e.Degree(), permutation: p}
}

// Name is the variant's, a short word such as babybear4.
func (v *Variant[W, E]) Name() string { return v.name }

// Field is the name of W, without the degree of E.
func (v *Variant[W, E]) Field() string { return v.permutation.Name }

// Degree is the number of words of a challenge.
func (v *Variant[W, E]) Degree() int { return v.degree }

// New starts a transcript of the protocol with the given domain tag, one of
// the Tag constants.
func (v *Variant[W, E]) New(tag uint32) *Of[W, E] {
	t := &Of[W, E]{variant: v}
	t.words[Rate] = word[W](uint64(tag))
	return t
}

// Words is the memory of the elements as words, lowest coefficients first.
func (v *Variant[W, E]) Words(list []E) []W {
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(list))), v.degree*len(list))
}

var (
	variantM31 = sync.OnceValue(func() *Variant[m31.Element, m31.QM31] {
		return variant[m31.Element, m31.QM31]("m31", poseidon2.M31Permutation())
	})
	variantBabyBear4 = sync.OnceValue(func() *Variant[babybear.Element, babybear.E4] {
		return variant[babybear.Element, babybear.E4]("babybear4", poseidon2.BabyBear())
	})
	variantBabyBear5 = sync.OnceValue(func() *Variant[babybear.Element, babybear.E5] {
		return variant[babybear.Element, babybear.E5]("babybear5", poseidon2.BabyBear())
	})
	variantKoalaBear4 = sync.OnceValue(func() *Variant[koalabear.Element, koalabear.E4] {
		return variant[koalabear.Element, koalabear.E4]("koalabear4", poseidon2.KoalaBear())
	})
	variantKoalaBear5 = sync.OnceValue(func() *Variant[koalabear.Element, koalabear.E5] {
		return variant[koalabear.Element, koalabear.E5]("koalabear5", poseidon2.KoalaBear())
	})
)

// M31 has words of Mersenne-31 and challenges of QM31.
func M31() *Variant[m31.Element, m31.QM31] { return variantM31() }

// BabyBear4 has words of BabyBear and challenges of its quartic extension.
func BabyBear4() *Variant[babybear.Element, babybear.E4] { return variantBabyBear4() }

// BabyBear5 has words of BabyBear and challenges of its quintic extension.
func BabyBear5() *Variant[babybear.Element, babybear.E5] { return variantBabyBear5() }

// KoalaBear4 has words of KoalaBear and challenges of its quartic extension.
func KoalaBear4() *Variant[koalabear.Element, koalabear.E4] { return variantKoalaBear4() }

// KoalaBear5 has words of KoalaBear and challenges of its quintic extension.
func KoalaBear5() *Variant[koalabear.Element, koalabear.E5] { return variantKoalaBear5() }

// word is the number n, reduced, in the form that W keeps it in.
func word[W field.Base[W]](n uint64) W {
	var zero W
	return zero.FromUint64(n)
}

// modulus is the number of elements of W.
func modulus[W field.Base[W]]() uint32 {
	var zero W
	return zero.Modulus()
}

// canonical fails with the first word that is not reduced, as a word from outside
// may be. The form does not matter: both are numbers below the modulus.
func canonical[W field.Base[W]](list []W) error {
	p := modulus[W]()
	for i, w := range list {
		if uint32(w) >= p {
			return fmt.Errorf("word %d is %d, not below %d", i, uint32(w), p)
		}
	}
	return nil
}

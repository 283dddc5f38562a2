package transcript

import (
	"fmt"
	"unsafe"

	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/hash/poseidon2"
)

// Variant is a kind of transcript: the field W whose words it absorbs and
// squeezes, and the extension E of W that its challenges are from. There is one
// value of each kind, which the functions M31, BabyBear4 and so on return.
type Variant[W field.Base[W], E field.Element[E]] struct {
	name   string
	field  string
	degree int
	hash   permutation[W]
}

// permutation is the width-16 Poseidon2 permutation over W. many takes lanes
// states at once, word k of state j at k*lanes+j.
type permutation[W any] struct {
	one   func(*[16]W)
	lanes int
	many  func([]W)
}

func variant[W field.Base[W], E field.Element[E]](name, fieldName string, hash permutation[W]) *Variant[W, E] {
	var e E
	return &Variant[W, E]{name: name, field: fieldName, degree: e.Degree(), hash: hash}
}

// Name is the variant's, a short word such as babybear4.
func (v *Variant[W, E]) Name() string { return v.name }

// Field is the name of W, without the degree of E.
func (v *Variant[W, E]) Field() string { return v.field }

// Degree is the number of words of a challenge.
func (v *Variant[W, E]) Degree() int { return v.degree }

// New starts a transcript of the protocol with the given domain tag, one of
// the Tag constants.
func (v *Variant[W, E]) New(tag uint32) *Of[W, E] {
	t := &Of[W, E]{variant: v}
	t.words[Rate] = word[W](uint64(tag))
	return t
}

var variantM31 = variant[m31.Element, m31.QM31]("m31", "m31", permutation[m31.Element]{
	one:   poseidon2.Permute16,
	lanes: poseidon2.Lanes,
	many: func(s []m31.Element) {
		poseidon2.PermuteLanes16((*[16][poseidon2.Lanes]m31.Element)(unsafe.Pointer((*[16 * poseidon2.Lanes]m31.Element)(s))))
	},
})

// M31 has words of Mersenne-31 and challenges of QM31.
func M31() *Variant[m31.Element, m31.QM31] { return variantM31 }

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

// wordsOf is the memory of the elements as words, degree an element.
func wordsOf[W, E any](list []E, degree int) []W {
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(list))), degree*len(list))
}

// Words is the memory of the elements as words, lowest coefficients first.
func (v *Variant[W, E]) Words(list []E) []W { return wordsOf[W](list, v.degree) }

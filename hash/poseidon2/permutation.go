package poseidon2

import (
	"sync"
	"unsafe"

	"github.com/zkwarp/zkwarp/device/kernel"
	"github.com/zkwarp/zkwarp/field"
	"github.com/zkwarp/zkwarp/field/babybear"
	"github.com/zkwarp/zkwarp/field/koalabear"
	"github.com/zkwarp/zkwarp/field/m31"
)

// Permutation is the permutations over one field, whose elements are words W, in
// both widths. States are canonical words, in the form that memory holds.
type Permutation[W field.Base[W]] struct {
	Name      string // of the field
	Permute16 func(*[16]W)
	Permute24 func(*[24]W)

	// Lanes is a number of states, a power of two, that Many16 and Many24
	// permute at once, in little more time than one where the machine has the
	// vectors. Word k of state j is s[k*Lanes+j].
	Lanes          int
	Many16, Many24 func(s []W)

	// Header is the permutations in CUDA for one thread a state,
	// poseidon2_permute16(u32*) and poseidon2_permute24(u32*).
	Header *kernel.Source
	// WarpHeader is poseidon2_warp_permute(u32), the permutation of width 16 by
	// one warp, lane i holding word i mod 16.
	WarpHeader *kernel.Source
}

var (
	m31Permutation = &Permutation[m31.Element]{
		Name:       "m31",
		Permute16:  Permute16,
		Permute24:  Permute24,
		Lanes:      Lanes,
		Many16:     func(s []m31.Element) { PermuteLanes16((*[16][Lanes]m31.Element)(first(s, 16*Lanes))) },
		Many24:     func(s []m31.Element) { PermuteLanes24((*[24][Lanes]m31.Element)(first(s, 24*Lanes))) },
		Header:     Header,
		WarpHeader: M31WarpHeader,
	}
	babyBear = sync.OnceValue(func() *Permutation[babybear.Element] {
		return bearPermutation[babybear.Element]("babybear", BabyBearParams, babybear.Header)
	})
	koalaBear = sync.OnceValue(func() *Permutation[koalabear.Element] {
		return bearPermutation[koalabear.Element]("koalabear", KoalaBearParams, koalabear.Header)
	})
)

// M31Permutation is the permutations over Mersenne-31, S-box x^5.
func M31Permutation() *Permutation[m31.Element] { return m31Permutation }

// BabyBear is the permutations over BabyBear, S-box x^7.
func BabyBear() *Permutation[babybear.Element] { return babyBear() }

// KoalaBear is the permutations over KoalaBear, S-box x^3.
func KoalaBear() *Permutation[koalabear.Element] { return koalaBear() }

// first is the address of the first n elements of s.
func first[W any](s []W, n int) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s[:n])) }

// known is the parameter set of a width that is known to exist.
func known(params func(int) (Params, error), width int) Params {
	p, err := params(width)
	if err != nil {
		panic(err)
	}
	return p
}

//go:build !purego

package poseidon2

//go:noescape
func permuteBabyBear16AVX2(s, rc *uint32)

//go:noescape
func permuteBabyBear24AVX2(s, rc *uint32)

//go:noescape
func permuteKoalaBear16AVX2(s, rc *uint32)

//go:noescape
func permuteKoalaBear24AVX2(s, rc *uint32)

//go:noescape
func permuteBabyBear16AVX512(s, rc *uint32)

//go:noescape
func permuteBabyBear24AVX512(s, rc *uint32)

//go:noescape
func permuteKoalaBear16AVX512(s, rc *uint32)

//go:noescape
func permuteKoalaBear24AVX512(s, rc *uint32)

// bearKernel is one permutation with vectors: of eight states, and of sixteen.
// s is word 0 of the first one, in rows of sixteen.
type bearKernel struct{ avx2, avx512 func(s, rc *uint32) }

var bearKernels = map[[2]int]bearKernel{ // by degree and width
	{7, 16}: {permuteBabyBear16AVX2, permuteBabyBear16AVX512},
	{7, 24}: {permuteBabyBear24AVX2, permuteBabyBear24AVX512},
	{3, 16}: {permuteKoalaBear16AVX2, permuteKoalaBear16AVX512},
	{3, 24}: {permuteKoalaBear24AVX2, permuteKoalaBear24AVX512},
}

// vectorLanes permutes and says true, or does nothing.
func (b *bear) vectorLanes(s []uint32) bool {
	k := bearKernels[[2]int{b.Degree, b.Width}]
	rc := &b.flat[0]
	switch vectors {
	case useAVX512:
		k.avx512(&s[0], rc)
	case useAVX2:
		k.avx2(&s[0], rc)
		k.avx2(&s[8], rc)
	default:
		return false
	}
	return true
}

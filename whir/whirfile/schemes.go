package whirfile

import (
	"github.com/zkwarp/zkwarp/transcript"
	"github.com/zkwarp/zkwarp/whir"
)

// schemes in the order of their listing.
var schemes = list()

func list() []*Scheme {
	out := []*Scheme{packedM31()}
	for _, h := range []whir.Hash{whir.Poseidon2, whir.BLAKE3, whir.SHA256} {
		out = append(out,
			newGeneric("babybear4", "BabyBear, challenges of degree 4", whir.BabyBear4(h), transcript.BabyBear4()),
			newGeneric("babybear5", "BabyBear, challenges of degree 5", whir.BabyBear5(h), transcript.BabyBear5()),
			newGeneric("koalabear4", "KoalaBear, challenges of degree 4", whir.KoalaBear4(h), transcript.KoalaBear4()),
			newGeneric("koalabear5", "KoalaBear, challenges of degree 5", whir.KoalaBear5(h), transcript.KoalaBear5()),
			newGeneric("cm31", "Mersenne-31: pairs a + bi, challenges of degree 4", whir.CM31With(h), transcript.M31()))
	}
	return out
}

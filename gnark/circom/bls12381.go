package circom

import (
	"math/big"

	"github.com/consensys/gnark-crypto/ecc"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"

	msmbls12381 "github.com/zkwarp/zkwarp/msm/bls12381"
)

var bls12381System = newBLS12381()

func newBLS12381() system {
	c := newCurve(ecc.BLS12_381, "bls12381")
	return &pairing[bls12381.G1Affine, bls12381.G2Affine, fr.Element]{
		c:     c,
		g1:    groupOf[bls12381.G1Affine](),
		g2:    groupOf[bls12381.G2Affine](),
		field: scalarsOf[fr.Element](c),
		sum1:  msmbls12381.G1,
		sum2:  msmbls12381.G2,
		holds: bls12381.PairingCheck,
		pair: func(p bls12381.G1Affine, q bls12381.G2Affine) ([]*big.Int, error) {
			// snarkjs and gnark-crypto end with the same power, a multiple of (q^12 - 1) / r.
			z, err := bls12381.Pair([]bls12381.G1Affine{p}, []bls12381.G2Affine{q})
			if err != nil {
				return nil, err
			}
			var out []*big.Int
			for _, x := range []bls12381.E2{z.C0.B0, z.C0.B1, z.C0.B2, z.C1.B0, z.C1.B1, z.C1.B2} {
				out = append(out, x.A0.BigInt(new(big.Int)), x.A1.BigInt(new(big.Int)))
			}
			return out, nil
		},
		root: func(n int) (fr.Element, error) { return fft.Generator(uint64(n)) },
		transform: func(n int, shift fr.Element) func([]fr.Element) {
			d := fft.NewDomain(uint64(n), fft.WithShift(shift))
			return func(a []fr.Element) {
				d.FFTInverse(a, fft.DIF)
				d.FFT(a, fft.DIT, fft.OnCoset())
			}
		},
	}
}

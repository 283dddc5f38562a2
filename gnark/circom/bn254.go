package circom

import (
	"math/big"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"

	msmbn254 "github.com/zkwarp/zkwarp/msm/bn254"
)

var bn254System = newBN254()

func newBN254() system {
	c := newCurve(ecc.BN254, "bn128")
	return &pairing[bn254.G1Affine, bn254.G2Affine, fr.Element]{
		c:     c,
		g1:    groupOf[bn254.G1Affine](),
		g2:    groupOf[bn254.G2Affine](),
		field: scalarsOf[fr.Element](c),
		sum1:  msmbn254.G1,
		sum2:  msmbn254.G2,
		holds: bn254.PairingCheck,
		pair: func(p bn254.G1Affine, q bn254.G2Affine) ([]*big.Int, error) {
			// snarkjs and gnark-crypto end with the same power, a multiple of (q^12 - 1) / r.
			z, err := bn254.Pair([]bn254.G1Affine{p}, []bn254.G2Affine{q})
			if err != nil {
				return nil, err
			}
			var out []*big.Int
			for _, x := range []bn254.E2{z.C0.B0, z.C0.B1, z.C0.B2, z.C1.B0, z.C1.B1, z.C1.B2} {
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

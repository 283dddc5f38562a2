package keyfile

import (
	"bytes"
	"context"
	"io"

	"github.com/consensys/gnark-crypto/ecc"
	curve "github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/pedersen"
	"github.com/consensys/gnark/backend/groth16"
	gnark "github.com/consensys/gnark/backend/groth16/bn254"

	group "github.com/zkwarp/zkwarp/msm/bn254"
)

var systemBN254 = &system{
	id:    ecc.BN254,
	sizes: sizes{scalar: fr.Bytes, g1: curve.SizeOfG1AffineUncompressed, g2: curve.SizeOfG2AffineUncompressed},
	domain: func(b []byte) error {
		var d fft.Domain
		_, err := d.ReadFrom(bytes.NewReader(b))
		return err
	},
	decode: func(r io.Reader, check bool, to ...any) error {
		var options []func(*curve.Decoder)
		if !check {
			options = append(options, curve.NoSubgroupChecks())
		}
		d := curve.NewDecoder(r, options...)
		for _, v := range to {
			if err := d.Decode(v); err != nil {
				return err
			}
		}
		return nil
	},
	encode: func(w io.Writer, from ...any) error {
		e := curve.NewEncoder(w, curve.RawEncoding())
		for _, v := range from {
			if err := e.Encode(v); err != nil {
				return err
			}
		}
		return nil
	},
}

func keyBN254(pk *gnark.ProvingKey) *key[curve.G1Affine, curve.G2Affine] {
	return &key[curve.G1Affine, curve.G2Affine]{
		system: systemBN254,
		key:    pk,
		own:    &pk.Domain,
		alpha:  &pk.G1.Alpha, beta: &pk.G1.Beta, delta: &pk.G1.Delta,
		a: &pk.G1.A, b: &pk.G1.B, z: &pk.G1.Z, k: &pk.G1.K,
		beta2: &pk.G2.Beta, delta2: &pk.G2.Delta, b2: &pk.G2.B,
		nA: &pk.NbInfinityA, nB: &pk.NbInfinityB,
		infinityA: &pk.InfinityA, infinityB: &pk.InfinityB,
		check1: onDevice(group.G1), check2: onDevice(group.G2),
		commitments: func() (list []pair[curve.G1Affine]) {
			for _, c := range pk.CommitmentKeys {
				list = append(list, pair[curve.G1Affine]{c.Basis, c.BasisExpSigma})
			}
			return list
		},
		setCommitments: func(list []pair[curve.G1Affine]) {
			for _, c := range list {
				pk.CommitmentKeys = append(pk.CommitmentKeys, pedersen.ProvingKey{Basis: c.basis, BasisExpSigma: c.sigma})
			}
		},
	}
}

func readBN254(ctx context.Context, b []byte, o Options) (*File, error) {
	return read[*curve.G1Affine, *curve.G2Affine](ctx, keyBN254(new(gnark.ProvingKey)), b, o)
}

func writeBN254(key groth16.ProvingKey) func(io.Writer) error {
	pk, ok := key.(*gnark.ProvingKey)
	if !ok {
		return nil
	}
	return func(w io.Writer) error { return write(w, keyBN254(pk)) }
}

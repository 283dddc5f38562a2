package fixedbase_test

import (
	bls12377fr "github.com/consensys/gnark-crypto/ecc/bls12-377/fr"
	bls12381fr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	bn254fr "github.com/consensys/gnark-crypto/ecc/bn254/fr"
	bw6761fr "github.com/consensys/gnark-crypto/ecc/bw6-761/fr"
)

// Scalars of the pairings.
type (
	bn254Scalar    = bn254fr.Element
	bls12377Scalar = bls12377fr.Element
	bls12381Scalar = bls12381fr.Element
	bw6761Scalar   = bw6761fr.Element
)

package csfile

// Packages of gnark's library that have hints, which each registers by itself. Package std
// registers all of them once more, and gnark's log says so on standard output before main
// begins.
import (
	// Each registers its hints.
	_ "github.com/consensys/gnark/std/algebra/emulated/fields_bls12381"
	_ "github.com/consensys/gnark/std/algebra/emulated/fields_bn254"
	_ "github.com/consensys/gnark/std/algebra/emulated/fields_bw6761"
	_ "github.com/consensys/gnark/std/algebra/emulated/sw_bls12381"
	_ "github.com/consensys/gnark/std/algebra/emulated/sw_bn254"
	_ "github.com/consensys/gnark/std/algebra/emulated/sw_bw6761"
	_ "github.com/consensys/gnark/std/algebra/emulated/sw_emulated"
	_ "github.com/consensys/gnark/std/algebra/emulated/sw_emulated/maptocurve_increment"
	_ "github.com/consensys/gnark/std/algebra/native/fields_bls12377"
	_ "github.com/consensys/gnark/std/algebra/native/sw_bls12377"
	_ "github.com/consensys/gnark/std/algebra/native/sw_bls12377/maptocurve_increment"
	_ "github.com/consensys/gnark/std/algebra/native/sw_grumpkin"
	_ "github.com/consensys/gnark/std/algebra/native/sw_grumpkin/maptocurve_increment"
	_ "github.com/consensys/gnark/std/algebra/native/twistededwards"
	_ "github.com/consensys/gnark/std/conversion"
	_ "github.com/consensys/gnark/std/evmprecompiles"
	_ "github.com/consensys/gnark/std/hash/sha3"
	_ "github.com/consensys/gnark/std/math/bits"
	_ "github.com/consensys/gnark/std/math/bitslice"
	_ "github.com/consensys/gnark/std/math/cmp"
	_ "github.com/consensys/gnark/std/math/emulated"
	_ "github.com/consensys/gnark/std/math/uints"
	_ "github.com/consensys/gnark/std/rangecheck"
	_ "github.com/consensys/gnark/std/selector"
)

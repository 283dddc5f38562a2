// Package setup makes the keys of Groth16 for constraint systems of gnark's, with the points
// multiplied on a GPU. From the same random bytes they are gnark's keys, byte for byte, on
// every device.
//
// Whoever runs it knows the trapdoor for a while, and can forge proofs with it: keys that
// others are to trust come from a ceremony of several parties.
package setup

//go:generate go run ../../groth16/internal/gen

import (
	"context"
	"crypto/rand"
	"fmt"

	gnark "github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/constraint"
	csbls12377 "github.com/consensys/gnark/constraint/bls12-377"
	csbls12381 "github.com/consensys/gnark/constraint/bls12-381"
	csbn254 "github.com/consensys/gnark/constraint/bn254"
	csbw6761 "github.com/consensys/gnark/constraint/bw6-761"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/gnark/internal/setup/internal/bls12377"
	"github.com/zkwarp/zkwarp/gnark/internal/setup/internal/bls12381"
	"github.com/zkwarp/zkwarp/gnark/internal/setup/internal/bn254"
	"github.com/zkwarp/zkwarp/gnark/internal/setup/internal/bw6761"
	"github.com/zkwarp/zkwarp/gnark/internal/setup/internal/shared"
)

// ErrSystem is the class of errors about the constraint system: one of another backend or
// curve, or one that contradicts itself.
var ErrSystem = shared.ErrSystem

// Options are choices of Run. The zero value is right for most.
type Options = shared.Options

// Run makes the keys of a system, an R1CS over BN254, BLS12-377, BLS12-381 or BW6-761. It
// stops with ctx.
func Run(ctx context.Context, ccs constraint.ConstraintSystem, o Options) (gnark.ProvingKey, gnark.VerifyingKey, error) {
	if o.Random == nil {
		o.Random = rand.Reader
	}
	// One device makes keys, also where ZKWARP_DEVICE or the caller names them all for proofs.
	if !device.Automatic(o.Device) {
		devices, err := device.OpenList(o.Device)
		if err != nil {
			return nil, nil, fmt.Errorf("setup: %w", err)
		}
		o.Device = devices[0].Name()
	}
	// Only keys that are there go into the interfaces.
	var pk gnark.ProvingKey
	var vk gnark.VerifyingKey
	var err error
	switch r1cs := ccs.(type) {
	case *csbn254.R1CS:
		pk, vk, err = bn254.Run(ctx, r1cs, &o)
	case *csbls12377.R1CS:
		pk, vk, err = bls12377.Run(ctx, r1cs, &o)
	case *csbls12381.R1CS:
		pk, vk, err = bls12381.Run(ctx, r1cs, &o)
	case *csbw6761.R1CS:
		pk, vk, err = bw6761.Run(ctx, r1cs, &o)
	default:
		err = fmt.Errorf("%w: a %T, want an R1CS over BN254, BLS12-377, BLS12-381 or BW6-761", ErrSystem, ccs)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("setup: %w", err)
	}
	return pk, vk, nil
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/consensys/gnark/backend/witness"
	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/gnark/circom"
	"github.com/zkwarp/zkwarp/gnark/groth16"
)

func (a *app) verifyCommand() *cobra.Command {
	var f flags
	var vkey string
	c := &cobra.Command{
		Use:   "verify PROOF",
		Short: "Verify a proof",
		Long: "verify --curve C --vk FILE --public FILE PROOF verifies a proof of gnark, with the public witness; verify --vkey verification_key.json\n" +
			"--public public.json proof.json one of circom and snarkjs.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("%d proofs are named, want one", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			start := time.Now()
			err := error(nil)
			if vkey != "" {
				err = cmp.Or(needs("public", f.public), alone("vkey", "curve", f.curve, "vk", f.vk))
			} else {
				err = needs("curve", f.curve, "vk", f.vk, "public", f.public)
			}
			switch {
			case err != nil:
				return err
			case vkey != "":
				err = verifyCircom(cmd.Context(), vkey, f.public, args[0])
			default:
				err = verifyGnark(cmd.Context(), &f, args[0])
			}
			if err != nil {
				return err
			}
			return a.result(map[string]any{"verified": true, "proof": args[0], "ms": milliseconds(time.Since(start))}, "accepted")
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.curve, "curve", "", "bn254, bls12-377, bls12-381 or bw6-761, which gnark's files do not tell")
	fs.StringVar(&f.vk, "vk", "", "gnark's verifying key")
	fs.StringVar(&vkey, "vkey", "", "snarkjs's verification_key.json")
	fs.StringVar(&f.public, "public", "", "the public witness, or public.json")
	return c
}

func verifyGnark(ctx context.Context, f *flags, path string) error {
	id, err := curve(f.curve)
	if err != nil {
		return err
	}
	vk, proof := groth16.NewVerifyingKey(id), groth16.NewProof(id)
	public, err := witness.New(id.ScalarField())
	if err != nil {
		return err
	}
	if err := read(ctx, "verifying key", f.vk, id, vk); err != nil {
		return err
	}
	if err := readWitness(ctx, "public witness", f.public, id, public); err != nil {
		return err
	}
	head, err := public.Public()
	if err != nil {
		return fmt.Errorf("public witness %s: %w", f.public, err)
	}
	if n := lengthOf(public) - lengthOf(head); n > 0 {
		return fmt.Errorf("public witness %s: it has %d secret values too, and is a full witness; want what prove --public writes", f.public, n)
	}
	if err := read(ctx, "proof", path, id, proof); err != nil {
		return err
	}
	_, err = guarded(func() (any, error) { return nil, groth16.Verify(proof, vk, public) })
	if err != nil {
		return coded(ExitRejected, fmt.Errorf("%s is rejected: %w", path, err))
	}
	return nil
}

func verifyCircom(ctx context.Context, vkey, public, path string) error {
	key, err := open(ctx, "verification key", vkey, circom.OpenJSON[circom.VerifyingKey])
	if err != nil {
		return err
	}
	signals, err := open(ctx, "public signals", public, circom.OpenJSON[circom.Public])
	if err != nil {
		return err
	}
	proof, err := open(ctx, "proof", path, circom.OpenJSON[circom.Proof])
	if err != nil {
		return err
	}
	err = circom.Verify(&key, signals, proof)
	if errors.Is(err, circom.ErrMismatch) {
		err = fmt.Errorf("verified with %s and %s: %w", vkey, public, err)
	}
	if err != nil {
		return coded(ExitRejected, fmt.Errorf("%s is rejected: %w", path, err))
	}
	return nil
}

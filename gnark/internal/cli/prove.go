package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/gnark/circom"
	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// curves are the names of --curve.
var curves = []ecc.ID{ecc.BN254, ecc.BLS12_377, ecc.BLS12_381, ecc.BW6_761}

func curve(name string) (ecc.ID, error) {
	var names []string
	for _, id := range curves {
		known := strings.ReplaceAll(id.String(), "_", "-")
		if name == known {
			return id, nil
		}
		names = append(names, known)
	}
	return 0, usage("--curve %q: want %s", name, strings.Join(names, ", "))
}

type flags struct {
	curve, r1cs, pk, vk, witness string // gnark
	zkey, wtns                   string // circom
	public, out                  string
}

// needs says which of the flags that go together is missing.
func needs(list ...string) error {
	for i := 0; i < len(list); i += 2 {
		if list[i+1] == "" {
			return usage("--%s is missing", list[i])
		}
	}
	return nil
}

// alone refuses flags of the other kind of files.
func alone(with string, list ...string) error {
	for i := 0; i < len(list); i += 2 {
		if list[i+1] != "" {
			return usage("--%s does not go with --%s", list[i], with)
		}
	}
	return nil
}

func (a *app) proveCommand() *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "prove",
		Short: "Prove that a witness satisfies a circuit",
		Long: "prove --curve C --r1cs FILE --pk FILE --witness FILE -o PROOF proves a circuit of gnark from files as WriteTo writes them; with --vk\n" +
			"the proof is verified before it is written. prove --zkey FILE --wtns FILE -o proof.json proves one of circom, from snarkjs's key.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			prove := a.proveGnark
			err := error(nil)
			if f.zkey != "" || f.wtns != "" {
				prove = a.proveCircom
				err = cmp.Or(needs("zkey", f.zkey, "wtns", f.wtns), alone("zkey", "curve", f.curve, "r1cs", f.r1cs, "pk", f.pk, "vk", f.vk, "witness", f.witness))
			} else if f.curve+f.r1cs+f.pk+f.vk+f.witness == "" {
				err = usage("--curve, --r1cs, --pk and --witness are missing, or for a circuit of circom --zkey and --wtns")
			} else {
				err = needs("curve", f.curve, "r1cs", f.r1cs, "pk", f.pk, "witness", f.witness)
			}
			if err == nil {
				err = needs("output", f.out)
			}
			if err != nil {
				return err
			}
			outputs := []string{f.out}
			if f.public != "" {
				outputs = append(outputs, f.public)
			}
			if err := a.check([]string{f.r1cs, f.pk, f.vk, f.witness, f.zkey, f.wtns}, outputs); err != nil {
				return err
			}
			return prove(cmd.Context(), &f)
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.curve, "curve", "", "bn254, bls12-377, bls12-381 or bw6-761, which gnark's files do not tell")
	fs.StringVar(&f.r1cs, "r1cs", "", "gnark's constraint system")
	fs.StringVar(&f.pk, "pk", "", "gnark's proving key")
	fs.StringVar(&f.vk, "vk", "", "gnark's verifying key")
	fs.StringVar(&f.witness, "witness", "", "gnark's full witness")
	fs.StringVar(&f.zkey, "zkey", "", "snarkjs's key")
	fs.StringVar(&f.wtns, "wtns", "", "circom's witness")
	fs.StringVar(&f.public, "public", "", "write the public witness to this file, - for standard output; for circom public.json")
	fs.StringVarP(&f.out, "output", "o", "", "write the proof to this file, - for standard output; for circom proof.json")
	return c
}

func (a *app) proveGnark(ctx context.Context, f *flags) error {
	id, err := curve(f.curve)
	if err != nil {
		return err
	}
	ccs, pk := groth16.NewCS(id), groth16.NewProvingKey(id)
	w, err := witness.New(id.ScalarField())
	if err != nil {
		return err
	}
	options := []groth16.Option{groth16.WithDevice(a.device), groth16.WithLogger(a.log)}
	if f.vk != "" {
		vk := groth16.NewVerifyingKey(id)
		if err := read(ctx, "verifying key", f.vk, vk); err != nil {
			return err
		}
		options = append(options, groth16.WithVerifyingKey(vk))
	}
	if err := readWitness(ctx, "witness", f.witness, w); err != nil {
		return err
	}
	if err := read(ctx, "constraint system", f.r1cs, ccs); err != nil {
		return err
	}
	if err := match(f, id, ccs, w); err != nil {
		return err
	}
	if err := read(ctx, "proving key", f.pk, pk); err != nil {
		return err
	}
	p, err := groth16.NewProver(pk, options...)
	if err != nil {
		return err
	}
	defer p.Close()
	start := time.Now()
	proof, err := guarded(func() (groth16.Proof, error) { return p.Prove(ctx, ccs, w) })
	switch {
	case errors.Is(err, groth16.ErrInput), errors.Is(err, witness.ErrInvalidWitness):
		return err
	case err != nil:
		return coded(ExitRejected, err) // the solver's: the witness does not satisfy it
	}
	took := time.Since(start)
	outputs := []output{{f.out, to(proof)}}
	if f.public != "" {
		public, err := w.Public()
		if err != nil {
			return err
		}
		outputs = append(outputs, output{f.public, to(public)})
	}
	if err := a.write(outputs...); err != nil {
		return err
	}
	a.done(outputs, "%d constraints proved in %v: %s", ccs.GetNbConstraints(), took.Round(time.Millisecond), f.out)
	return nil
}

// match refuses what gnark reads without an error, but is not of this curve or circuit.
func match(f *flags, id ecc.ID, ccs constraint.ConstraintSystem, w witness.Witness) error {
	if ccs.Field().Cmp(id.ScalarField()) != 0 {
		return fmt.Errorf("constraint system %s: it is not over %s", f.r1cs, f.curve)
	}
	_, secret, public := ccs.GetNbVariables()
	public-- // the constant
	head, err := w.Public()
	if err != nil {
		return fmt.Errorf("witness %s: %w", f.witness, err)
	}
	all, first := reflect.ValueOf(w.Vector()).Len(), reflect.ValueOf(head.Vector()).Len()
	if all != public+secret || first != public {
		return fmt.Errorf("witness %s: %d values, of which %d are public; the circuit has %d public and %d secret ones", f.witness, all, first, public, secret)
	}
	return nil
}

func to(v io.WriterTo) func(io.Writer) error {
	return func(w io.Writer) error { _, err := v.WriteTo(w); return err }
}

func (a *app) proveCircom(ctx context.Context, f *flags) error {
	key, err := open(ctx, "key", f.zkey, circom.OpenZKey)
	if err != nil {
		return err
	}
	w, err := open(ctx, "witness", f.wtns, circom.OpenWitness)
	if err != nil {
		return err
	}
	name := a.device
	if device.Automatic(name) && !device.Prefer("groth16", key.DomainSize()) {
		name = "cpu"
	}
	start := time.Now()
	proof, err := circom.Prove(ctx, key, w, circom.Options{Device: name, Log: a.log})
	if errors.Is(err, circom.ErrUnsatisfied) {
		return coded(ExitRejected, err)
	}
	if err != nil {
		return err
	}
	took := time.Since(start)
	outputs := []output{{f.out, func(w io.Writer) error { return circom.WriteJSON(w, proof) }}}
	if f.public != "" {
		outputs = append(outputs, output{f.public, func(to io.Writer) error { return circom.WriteJSON(to, w.Public(key.NumPublic())) }})
	}
	if err := a.write(outputs...); err != nil {
		return err
	}
	a.done(outputs, "a domain of %d proved in %v: %s", key.DomainSize(), took.Round(time.Millisecond), f.out)
	return nil
}

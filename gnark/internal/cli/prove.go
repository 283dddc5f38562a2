package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/gnark/circom"
	"github.com/zkwarp/zkwarp/gnark/groth16"
	"github.com/zkwarp/zkwarp/gnark/internal/csfile"
	"github.com/zkwarp/zkwarp/gnark/internal/keyfile"
)

// curves are the names of --curve.
var curves = []ecc.ID{ecc.BN254, ecc.BLS12_377, ecc.BLS12_381, ecc.BW6_761}

func curve(name string) (ecc.ID, error) {
	var names []string
	for _, id := range curves {
		if name == nameOf(id) {
			return id, nil
		}
		names = append(names, nameOf(id))
	}
	return 0, usage("--curve %q: want %s", name, strings.Join(names, ", "))
}

// nameOf is what --curve calls a curve.
func nameOf(id ecc.ID) string { return strings.ReplaceAll(id.String(), "_", "-") }

type flags struct {
	curve, r1cs, pk, vk string // gnark
	witnesses           []string
	trusted             bool
	zkey                string // circom
	wtnses              []string
	public, out         string
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
			"the proof is verified before it is written. The key may also be as WriteRawTo, WriteDump or key convert write it. With several --witness,\n" +
			"-o and --public are folders, for WITNESS.proof and WITNESS.public of each.\n" +
			"prove --zkey FILE --wtns FILE -o proof.json proves one of circom, from snarkjs's key.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			prove := a.proveGnark
			err := error(nil)
			if wtns := strings.Join(f.wtnses, ""); f.zkey+wtns != "" {
				prove = a.proveCircom
				err = cmp.Or(needs("zkey", f.zkey, "wtns", wtns), alone("zkey", "curve", f.curve, "r1cs", f.r1cs, "pk", f.pk, "vk", f.vk, "witness", strings.Join(f.witnesses, "")))
				switch {
				case err != nil:
				case f.trusted:
					err = usage("--trusted does not go with --zkey")
				case len(f.wtnses) > 1:
					err = usage("--wtns is given %d times; with --zkey a run makes one proof", len(f.wtnses))
				}
			} else if f.curve+f.r1cs+f.pk+f.vk+strings.Join(f.witnesses, "") == "" {
				err = usage("--curve, --r1cs, --pk and --witness are missing, or for a circuit of circom --zkey and --wtns")
			} else {
				err = needs("curve", f.curve, "r1cs", f.r1cs, "pk", f.pk, "witness", strings.Join(f.witnesses, ""))
			}
			if err == nil {
				err = needs("output", f.out)
			}
			if err != nil {
				return err
			}
			targets, err := f.targets()
			if err != nil {
				return err
			}
			var outputs []string
			for _, p := range targets {
				outputs = append(outputs, p.proof)
				if p.public != "" {
					outputs = append(outputs, p.public)
				}
			}
			if err := a.check(slices.Concat([]string{f.r1cs, f.pk, f.vk, f.zkey}, f.wtnses, f.witnesses), outputs); err != nil {
				return err
			}
			return prove(cmd.Context(), &f, targets)
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.curve, "curve", "", "bn254, bls12-377, bls12-381 or bw6-761, which gnark's files do not tell")
	fs.StringVar(&f.r1cs, "r1cs", "", "gnark's constraint system")
	fs.StringVar(&f.pk, "pk", "", "gnark's proving key; which of its formats, the file tells")
	fs.StringVar(&f.vk, "vk", "", "gnark's verifying key")
	fs.StringArrayVar(&f.witnesses, "witness", nil, "gnark's full witness; several times for several proofs")
	fs.BoolVar(&f.trusted, "trusted", false, "gnark's constraint system and proving key are one's own: neither indices nor points are checked")
	fs.StringVar(&f.zkey, "zkey", "", "snarkjs's key")
	fs.StringArrayVar(&f.wtnses, "wtns", nil, "circom's witness")
	fs.StringVar(&f.public, "public", "", "write the public witness to this file, - for standard output; for circom public.json")
	fs.StringVarP(&f.out, "output", "o", "", "write the proof to this file, - for standard output; for circom proof.json")
	return c
}

// target is where a proof and its public witness go.
type target struct{ witness, proof, public string }

// targets are those of all proofs.
func (f *flags) targets() ([]target, error) {
	if len(f.witnesses) < 2 {
		return []target{{strings.Join(f.witnesses, ""), f.out, f.public}}, nil
	}
	for _, folder := range []string{f.out, f.public} {
		if info, err := os.Stat(folder); folder != "" && (err != nil || !info.IsDir()) {
			return nil, usage("%s is no folder that is there, as -o and --public have to be with %d witnesses", folder, len(f.witnesses))
		}
	}
	var list []target
	for _, w := range f.witnesses {
		p := target{witness: w, proof: filepath.Join(f.out, filepath.Base(w)+".proof")}
		if f.public != "" {
			p.public = filepath.Join(f.public, filepath.Base(w)+".public")
		}
		list = append(list, p)
	}
	return list, nil
}

func (a *app) proveGnark(ctx context.Context, f *flags, targets []target) error {
	id, err := curve(f.curve)
	if err != nil {
		return err
	}
	options := []groth16.Option{groth16.WithDevice(a.device), groth16.WithLogger(a.log)}
	if f.vk != "" {
		vk := groth16.NewVerifyingKey(id)
		if err := read(ctx, "verifying key", f.vk, id, vk); err != nil {
			return err
		}
		options = append(options, groth16.WithVerifyingKey(vk))
	}
	witnesses := make([]witness.Witness, len(targets))
	for i, p := range targets {
		if witnesses[i], err = witness.New(id.ScalarField()); err != nil {
			return err
		}
		if err := readWitness(ctx, "witness", p.witness, id, witnesses[i]); err != nil {
			return err
		}
	}
	start := time.Now()
	ccs, solving, key, err := a.circuit(ctx, f, id)
	if err != nil {
		return err
	}
	defer func() { _ = key.Close() }() // of a mapping, which the program gives up with its end anyway
	for i, p := range targets {
		if err := match(p.witness, ccs, witnesses[i]); err != nil {
			return err
		}
	}
	s := a.begin("loading proving key " + f.pk)
	p, err := groth16.NewProver(key.Key, options...)
	s.end()
	switch {
	case errors.Is(err, groth16.ErrInput) && f.vk != "":
		return fmt.Errorf("%s and %s: %w", f.pk, f.vk, err)
	case errors.Is(err, groth16.ErrInput):
		return fmt.Errorf("%s: %w", f.pk, err)
	case err != nil:
		return err
	}
	defer p.Close()
	loaded := time.Since(start)
	start = time.Now()
	s = a.begin(fmt.Sprintf("proving %d constraints", ccs.GetNbConstraints()))
	proofs, err := guarded(func() ([]groth16.Proof, error) {
		if len(witnesses) > 1 {
			return p.ProveBatch(ctx, ccs, witnesses, solving)
		}
		proof, err := p.Prove(ctx, ccs, witnesses[0], solving)
		return []groth16.Proof{proof}, err
	})
	s.end()
	switch {
	case errors.Is(err, groth16.ErrInput):
		return fmt.Errorf("%s and %s: %w", f.r1cs, f.pk, err)
	case errors.Is(err, witness.ErrInvalidWitness):
		return err
	case err != nil:
		at := 0
		if len(targets) > 1 {
			at = min(len(proofs), len(targets)-1)
		}
		return coded(ExitRejected, fmt.Errorf("%s: %w", targets[at].witness, err)) // the solver's: the witness does not satisfy it
	}
	took := time.Since(start)
	var outputs []output
	var list []map[string]any
	for i, p := range targets {
		outputs = append(outputs, output{p.proof, to(proofs[i])})
		one := map[string]any{"witness": p.witness, "proof": p.proof}
		if p.public != "" {
			public, err := witnesses[i].Public()
			if err != nil {
				return err
			}
			outputs = append(outputs, output{p.public, to(public)})
			one["public"] = p.public
		}
		list = append(list, one)
	}
	if err := a.write(ctx, outputs...); err != nil {
		return err
	}
	times := ""
	if len(targets) > 1 {
		times = fmt.Sprintf(" %d times", len(targets))
	}
	return a.done(outputs, map[string]any{"constraints": ccs.GetNbConstraints(), "key_format": key.Format.String(), "load_ms": milliseconds(loaded), "prove_ms": milliseconds(took), "proofs": list},
		"%d constraints proved%s in %v, with a %s key that was loaded in %v: %s", ccs.GetNbConstraints(), times, took.Round(time.Millisecond), key.Format, loaded.Round(time.Millisecond), f.out)
}

// circuit reads the constraint system and the proving key, the system first where the key's
// size is known without all of it: checking points may take minutes.
func (a *app) circuit(ctx context.Context, f *flags, id ecc.ID) (ccs constraint.ConstraintSystem, solving backend.ProverOption, key *keyfile.File, err error) {
	o := keyfile.Options{Trusted: f.trusted}
	wires := 0
	if regular(f.pk) {
		wires, err = keyWires(ctx, id, f.pk)
	} else if key, err = a.openKey(ctx, id, f.pk, o); err == nil {
		wires = wiresOf(key.Key)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	s := a.begin("reading constraint system " + f.r1cs)
	var options []solver.Option
	ccs, err = within(ctx, func() (ccs constraint.ConstraintSystem, err error) {
		b, err := contents(f.r1cs)
		switch {
		case err != nil:
		case f.trusted:
			ccs, err = csfile.Decode(id, b)
		default:
			ccs, options, err = csfile.Read(id, b, wires)
		}
		return ccs, err
	})
	s.end()
	if err != nil {
		return nil, nil, nil, reading("constraint system", f.r1cs, err)
	}
	if key == nil {
		key, err = a.openKey(ctx, id, f.pk, o)
	}
	return ccs, backend.WithSolverOptions(options...), key, err
}

// match refuses a witness that gnark reads without an error, but that is not of this circuit.
func match(path string, ccs constraint.ConstraintSystem, w witness.Witness) error {
	_, secret, public := ccs.GetNbVariables()
	public-- // the constant
	head, err := w.Public()
	if err != nil {
		return fmt.Errorf("witness %s: %w", path, err)
	}
	all, first := lengthOf(w), lengthOf(head)
	if all != public+secret || first != public {
		return fmt.Errorf("witness %s: %d values, of which %d are public; the circuit has %d public and %d secret ones", path, all, first, public, secret)
	}
	return nil
}

// lengthOf is how many values a witness has.
func lengthOf(w witness.Witness) int { return reflect.ValueOf(w.Vector()).Len() }

func to(v io.WriterTo) func(io.Writer) error {
	return func(w io.Writer) error { _, err := v.WriteTo(w); return err }
}

func (a *app) proveCircom(ctx context.Context, f *flags, _ []target) error {
	key, err := open(ctx, "key", f.zkey, circom.OpenZKey)
	if err != nil {
		return err
	}
	wtns := f.wtnses[0]
	w, err := open(ctx, "witness", wtns, circom.OpenWitness)
	if err != nil {
		return err
	}
	name := a.device
	if device.Automatic(name) && !device.Prefer("groth16", key.DomainSize()) {
		name = "cpu"
	}
	start := time.Now()
	s := a.begin(fmt.Sprintf("proving over a domain of %d", key.DomainSize()))
	proof, err := circom.Prove(ctx, key, w, circom.Options{Device: name, Log: a.log})
	s.end()
	switch {
	case errors.Is(err, circom.ErrUnsatisfied):
		return coded(ExitRejected, fmt.Errorf("%s: %w", wtns, err))
	case errors.Is(err, circom.ErrMismatch):
		return fmt.Errorf("%s and %s: %w", f.zkey, wtns, err)
	case err != nil:
		return err
	}
	took := time.Since(start)
	outputs := []output{{f.out, func(w io.Writer) error { return circom.WriteJSON(w, proof) }}}
	if f.public != "" {
		outputs = append(outputs, output{f.public, func(to io.Writer) error { return circom.WriteJSON(to, w.Public(key.NumPublic())) }})
	}
	if err := a.write(ctx, outputs...); err != nil {
		return err
	}
	one := map[string]any{"witness": wtns, "proof": f.out}
	if f.public != "" {
		one["public"] = f.public
	}
	return a.done(outputs, map[string]any{"domain": key.DomainSize(), "prove_ms": milliseconds(took), "proofs": []any{one}},
		"a domain of %d proved in %v: %s", key.DomainSize(), took.Round(time.Millisecond), f.out)
}

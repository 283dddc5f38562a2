package cli

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/spf13/cobra"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/gnark/groth16"
	"github.com/zkwarp/zkwarp/gnark/internal/keyfile"
)

// openKey opens a proving key in whatever format.
func (a *app) openKey(ctx context.Context, id ecc.ID, path string, o keyfile.Options) (*keyfile.File, error) {
	s := a.begin("reading proving key " + path)
	defer s.end()
	o.Progress = s.tell
	if !o.Trusted {
		devices, err := device.OpenList(a.device)
		if err != nil {
			return nil, err
		}
		o.Device = devices[0]
	}
	f, err := within(ctx, func() (*keyfile.File, error) {
		if regular(path) {
			return keyfile.Open(ctx, id, path, o)
		}
		b, err := contents(path)
		if err != nil {
			return nil, err
		}
		return keyfile.Read(ctx, id, b, o)
	})
	return f, reading("proving key", path, err)
}

// keyWires is how many wires a key is for: of a file that can be read twice without
// looking at its points.
func keyWires(ctx context.Context, id ecc.ID, path string) (int, error) {
	n, err := within(ctx, func() (int, error) { return keyfile.Wires(id, path) })
	return n, reading("proving key", path, err)
}

// wiresOf is how many wires a key is for.
func wiresOf(pk groth16.ProvingKey) int {
	return reflect.ValueOf(pk).Elem().FieldByName("InfinityA").Len()
}

// formats are how a key can be written.
var formats = []keyfile.Format{keyfile.Mapped, keyfile.Dump, keyfile.Raw, keyfile.Compressed}

func (a *app) keyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "key",
		Short: "Change how a proving key is written",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(a.convertCommand())
	return c
}

func (a *app) convertCommand() *cobra.Command {
	var f flags
	var format string
	c := &cobra.Command{
		Use:   "convert KEY",
		Short: "Write a proving key so that it is mapped and not read",
		Long: "key convert --curve C KEY -o OUT reads a proving key of gnark's in any format and writes it in another: mapped, which prove opens without\n" +
			"reading it, or gnark's own dump, raw or compressed. Points are checked to be in their groups, which with --trusted they are not.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("%d keys are named, want one", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := needs("curve", f.curve, "output", f.out); err != nil {
				return err
			}
			id, err := curve(f.curve)
			if err != nil {
				return err
			}
			i := slices.IndexFunc(formats, func(x keyfile.Format) bool { return x.String() == format })
			if i < 0 {
				return usage("--format %q: want mapped, dump, raw or compressed", format)
			}
			if err := a.check(args, []string{f.out}); err != nil {
				return err
			}
			return a.convert(cmd.Context(), id, args[0], f.out, formats[i], f.trusted)
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.curve, "curve", "", "bn254, bls12-377, bls12-381 or bw6-761, which gnark's files do not tell")
	fs.StringVarP(&f.out, "output", "o", "", "write the key to this file, - for standard output")
	fs.StringVar(&format, "format", keyfile.Mapped.String(), "mapped, dump, raw or compressed")
	fs.BoolVar(&f.trusted, "trusted", false, "the key is one's own: its points are not checked")
	return c
}

func (a *app) convert(ctx context.Context, id ecc.ID, from, to string, format keyfile.Format, trusted bool) error {
	start := time.Now()
	// With its tables, or gnark's own formats would say that it had none.
	key, err := a.openKey(ctx, id, from, keyfile.Options{Trusted: trusted, Tables: true})
	if err != nil {
		return err
	}
	out := output{to, func(w io.Writer) error {
		switch format {
		case keyfile.Compressed:
			_, err := key.Key.WriteTo(w)
			return err
		case keyfile.Raw:
			_, err := key.Key.WriteRawTo(w)
			return err
		case keyfile.Dump:
			return key.Key.WriteDump(w)
		}
		return keyfile.Write(w, key.Key)
	}}
	s := a.begin("writing " + to)
	err = a.write(ctx, out)
	s.end()
	if err = errors.Join(err, key.Close()); err != nil {
		return err
	}
	return a.done([]output{out}, map[string]any{"key": to, "from": key.Format.String(), "format": format.String(), "wires": wiresOf(key.Key), "ms": milliseconds(time.Since(start))},
		"%s key %s written as %s: %s", key.Format, from, format, to)
}

package groth16

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend"
	gnark "github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/groth16/internal/resident"
)

// failing is a key on a device that fails in one of a proof's two parts.
type failing struct {
	key
	solve, finish error
}

func (f *failing) Solve(ctx context.Context, ccs constraint.ConstraintSystem, w witness.Witness, c backend.ProverConfig) (any, error) {
	if f.solve != nil {
		return nil, f.solve
	}
	return f.key.Solve(ctx, ccs, w, c)
}

func (f *failing) Finish(ctx context.Context, solved any, random io.Reader, again bool) (Proof, error) {
	if f.finish != nil {
		return nil, f.finish
	}
	return f.key.Finish(ctx, solved, random, again)
}

type square struct {
	X frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

func (c *square) Define(api frontend.API) error {
	api.AssertIsEqual(c.Y, api.Mul(c.X, c.X))
	return nil
}

// What a device could not do the CPU does if nobody asked for the device by name, and what it
// did wrongly in any case; other errors are the caller's.
func TestSettle(t *testing.T) {
	d := devicetest.Open(t, "simt")
	field := ecc.BN254.ScalarField()
	ccs, err := frontend.Compile(field, r1cs.NewBuilder, &square{})
	if err != nil {
		t.Fatal(err)
	}
	pk, vk, err := Setup(ccs)
	if err != nil {
		t.Fatal(err)
	}
	full, err := frontend.NewWitness(&square{3, 9}, field)
	if err != nil {
		t.Fatal(err)
	}
	public, err := full.Public()
	if err != nil {
		t.Fatal(err)
	}
	other := errors.New("another error")
	for _, c := range []struct {
		err        error
		auto, name bool // whether the CPU is to make the proof: chosen automatically, by name
	}{
		{device.ErrNoMemory, true, false},
		{device.ErrFault, true, false},
		{device.ErrUnavailable, true, false},
		{resident.ErrWrong, true, true},
		{device.ErrUsage, false, false},
		{context.Canceled, false, false},
		{other, false, false},
	} {
		for _, named := range []bool{false, true} {
			for _, part := range []string{"solve", "finish"} {
				what := fmt.Sprintf("%v in %s, device by name %v", c.err, part, named)
				var log bytes.Buffer
				t.Setenv(device.EnvDevice, "")
				o, err := newOptions([]Option{WithLogger(slog.New(slog.NewTextHandler(&log, nil)))})
				if err != nil {
					t.Fatal(err)
				}
				if named {
					o.device = d.Name()
				}
				p := &Prover{pk: pk, o: o, devices: []*device.Device{d}}
				real, err := p.onCPU()
				if err != nil {
					t.Fatal(err)
				}
				f := &failing{key: real}
				if part == "solve" {
					f.solve = fmt.Errorf("something: %w", c.err)
				} else {
					f.finish = fmt.Errorf("something: %w", c.err)
				}
				p.key = f
				check := func(how string, proof Proof, err error) {
					t.Helper()
					if again := c.auto && !named || c.name; !again {
						if proof != nil || !errors.Is(err, c.err) {
							t.Errorf("%s: %s: %v, %v", what, how, proof, err)
						}
						return
					}
					if err != nil {
						t.Errorf("%s: %s: %v", what, how, err)
					} else if err := gnark.Verify(proof, vk, public); err != nil {
						t.Errorf("%s: %s: %v", what, how, err)
					}
				}
				proof, err := p.Prove(t.Context(), ccs, full)
				check("Prove", proof, err)
				lines, want := strings.Count(log.String(), "level=ERROR"), 0
				if c.auto && !named || c.name {
					want = 1
				}
				if lines != want {
					t.Errorf("%s: %d lines of errors, want %d: %s", what, lines, want, log.String())
				}
				proofs, err := p.ProveBatch(t.Context(), ccs, []witness.Witness{full})
				if len(proofs) == 1 {
					check("ProveBatch", proofs[0], err)
				} else {
					check("ProveBatch", nil, err)
				}
				if part == "solve" && errors.Is(c.err, resident.ErrWrong) {
					continue // solving finds nothing wrong
				}
				s, err := p.Solve(t.Context(), ccs, full)
				if err == nil {
					proof, err = p.ProveSolved(t.Context(), s)
				} else {
					proof = nil
				}
				check("ProveSolved", proof, err)
				p.Close()
			}
		}
	}
}

// Errors of devices keep their class, and all others are the caller's.
func TestClassify(t *testing.T) {
	classes := []error{device.ErrUnavailable, device.ErrNoMemory, device.ErrFault, device.ErrUsage, ErrInput}
	for _, class := range append(classes[:4:4], errors.New("a point too few")) {
		err := classify(fmt.Errorf("key: %w", class))
		want := class
		if !slices.Contains(classes, class) {
			want = ErrInput
		}
		for _, c := range classes {
			if errors.Is(err, c) != (c == want) {
				t.Errorf("%v is an error of class %q: %v", err, c, c != want)
			}
		}
		if !errors.Is(err, class) || !strings.HasPrefix(err.Error(), "groth16: ") {
			t.Errorf("%v has lost its reason or its package", err)
		}
	}
}

package groth16_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	gnark "github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// A key that is mapped from its file proves as the one in memory does, on every device, through a Prover and
// through Prove, and with gnark's own prover.
func TestOpenProvingKey(t *testing.T) {
	r := setUp(t, ecc.BN254, named(t, "commits"))
	path := filepath.Join(t.TempDir(), "key")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := groth16.WriteProvingKey(f, r.pk); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var want []byte
	blind(t, func() {
		proof, err := gnark.Prove(r.ccs, r.pk, r.right)
		if err != nil {
			t.Fatal(err)
		}
		want = encode(t, proof)
	})
	told := 0
	k, err := groth16.OpenProvingKey(t.Context(), ecc.BN254, path, groth16.WithKeyProgress(func(_, _ int64) { told++ }))
	if err != nil {
		t.Fatal(err)
	}
	if k.Format() != groth16.KeyMapped || !k.Mapped() || told == 0 {
		t.Errorf("format %s, mapped: %t, progress told %d times", k.Format(), k.Mapped(), told)
	}
	for name, prove := range map[string]func(*testing.T) (groth16.Proof, error){
		"gnark": func(t *testing.T) (groth16.Proof, error) { return gnark.Prove(r.ccs, k.ProvingKey(), r.right) },
		"Prove": func(t *testing.T) (groth16.Proof, error) { return groth16.Prove(r.ccs, k.ProvingKey(), r.right) },
		"simt":  func(t *testing.T) (groth16.Proof, error) { return proveOn(t, "simt", k.ProvingKey(), r) },
		"cuda":  func(t *testing.T) (groth16.Proof, error) { return proveOn(t, "cuda", k.ProvingKey(), r) },
	} {
		t.Run(name, func(t *testing.T) {
			blind(t, func() {
				proof, err := prove(t)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(encode(t, proof), want) {
					t.Error("the proof is another one")
				}
			})
		})
	}
	for range 2 {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}

	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := groth16.OpenProvingKey(t.Context(), ecc.BN254, path); !errors.Is(err, groth16.ErrInput) || !strings.Contains(err.Error(), path) {
		t.Errorf("a file that is cut short: %v", err)
	}
	if _, err := groth16.OpenProvingKey(t.Context(), ecc.BN254, path+"s"); !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), path) != 1 {
		t.Errorf("no file: %v", err)
	}
	if _, err := groth16.OpenProvingKey(t.Context(), ecc.BN254, path, groth16.WithKeyProgress(nil)); !errors.Is(err, groth16.ErrInput) {
		t.Errorf("no function: %v", err)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := groth16.OpenProvingKey(t.Context(), ecc.BN254, path, groth16.WithKeyDevice("cude")); !errors.Is(err, device.ErrUsage) {
		t.Errorf("no device: %v", err)
	}
	// All devices of a Prover's are good for it, where there are any.
	if k, err := groth16.OpenProvingKey(t.Context(), ecc.BN254, path, groth16.WithKeyDevice("cuda:all")); errors.Is(err, device.ErrUsage) {
		t.Errorf("all devices: %v", err)
	} else if err == nil {
		k.Close()
	}
	if k, err := groth16.OpenProvingKey(t.Context(), ecc.BN254, path, groth16.WithKeyDevice("cpu"), groth16.WithDomainTables()); err != nil {
		t.Error(err)
	} else if err := k.Close(); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := groth16.OpenProvingKey(ctx, ecc.BN254, path); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if err := groth16.WriteProvingKey(new(bytes.Buffer), nil); !errors.Is(err, groth16.ErrInput) {
		t.Errorf("no key: %v", err)
	}
}

// BenchmarkNewProver makes a prover of a key that is in a file or in memory, and gives it up: on
// a GPU that is the upload of the key.
func BenchmarkNewProver(b *testing.B) {
	ccs, err := frontend.Compile(ecc.BN254.ScalarField(), r1cs.NewBuilder, &chain{log: 20})
	if err != nil {
		b.Fatal(err)
	}
	pk, err := groth16.DummySetup(ccs)
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "key")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(groth16.WriteProvingKey(file, pk), file.Close()); err != nil {
		b.Fatal(err)
	}
	for name, open := range map[string]func() (groth16.ProvingKey, func() error, error){
		"memory": func() (groth16.ProvingKey, func() error, error) { return pk, func() error { return nil }, nil },
		"file": func() (groth16.ProvingKey, func() error, error) {
			k, err := groth16.OpenProvingKey(b.Context(), ecc.BN254, path, groth16.WithTrustedFile())
			if err != nil {
				return nil, nil, err
			}
			return k.ProvingKey(), k.Close, nil
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				pk, done, err := open()
				if err != nil {
					b.Fatal(err)
				}
				p, err := groth16.NewProver(pk)
				if err != nil {
					b.Fatal(err)
				}
				p.Close()
				if err := done(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// proveOn is a proof on a device.
func proveOn(t *testing.T, name string, pk groth16.ProvingKey, r *ready) (groth16.Proof, error) {
	p, err := groth16.NewProver(pk, groth16.WithDevice(devicetest.Open(t, name).Name()), groth16.WithVerifyingKey(r.vk))
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Prove(t.Context(), r.ccs, r.right)
}

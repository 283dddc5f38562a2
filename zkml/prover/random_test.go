package prover

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// TestRandomPrograms proves programs that nobody thought of.
func TestRandomPrograms(t *testing.T) {
	for seed := range uint64(24) {
		c := zkmltest.Random(seed)
		vk, pk, err := Setup(cpu(t), c.Program, c.Weights, &quick)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		r, err := Prove(cpu(t), pk, c.X, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if !slices.Equal(r.Y, c.Output()) {
			t.Fatalf("%s: proved %v, want %v", c.Name, r.Y, c.Output())
		}
		if err := zkml.Verify(vk, c.X, r.Y, r.Proof, nil); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
	}
}

// TestCancel stops a proof whose context is done.
func TestCancel(t *testing.T) {
	k := mlp(t)
	for _, stop := range Stages() {
		ctx, cancel := context.WithCancel(context.Background())
		q, err := host(ctx)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Prove(q, k.pk, k.X, &Options{Progress: func(s Stage, done bool) {
			if s == stop && !done {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled in the stage %q: %v", stop, err)
		}
		cancel()
	}
}

// TestConcurrent makes proofs with one key at the same time.
func TestConcurrent(t *testing.T) {
	k := mlp(t)
	code, err := k.pk.Encode()
	if err != nil {
		t.Fatal(err)
	}
	pk, err := DecodeProvingKey(code) // its commitment is still to be made
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			r, err := Prove(cpu(t), pk, k.X, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if err := zkml.Verify(pk.VerifyingKey(), k.X, r.Y, r.Proof, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

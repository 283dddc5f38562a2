package groth16_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend"
	gnark "github.com/consensys/gnark/backend/groth16"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// A solution is good for several proofs, also at the same time, that differ and verify;
// the first of the same randomness is gnark's. Stages are traced, one after the other
// where that is asked for.
func TestProveSolved(t *testing.T) {
	for _, name := range []string{"cpu", "simt"} {
		for _, serial := range []bool{false, true} {
			if name == "simt" && !serial {
				continue
			}
			d := devicetest.Open(t, name)
			r := setUp(t, ecc.BN254, named(t, "commits"))
			var mu sync.Mutex
			seen := map[string]int{}
			type span struct{ from, to time.Time }
			var sums []span
			trace := func(stage string, d time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				seen[stage]++
				if now := time.Now(); slices.Contains([]string{"msm-a", "msm-b1", "msm-b2", "msm-k", "msm-z"}, stage) {
					sums = append(sums, span{now.Add(-d), now})
				}
			}
			options := []groth16.Option{groth16.WithDevice(d.Name()), groth16.WithVerifyingKey(r.vk), groth16.WithTrace(trace)}
			if serial {
				options = append(options, groth16.WithSerial())
			}
			var want []byte
			blind(t, func() {
				proof, err := gnark.Prove(r.ccs, r.pk, r.right)
				if err != nil {
					t.Fatal(err)
				}
				want = encode(t, proof)
			})
			var p *groth16.Prover
			var s *groth16.Solution
			var first groth16.Proof
			blind(t, func() {
				var err error
				if p, err = groth16.NewProver(r.pk, options...); err != nil {
					t.Fatal(err)
				}
				if s, err = p.Solve(context.Background(), r.ccs, r.right); err != nil {
					t.Fatal(err)
				}
				if first, err = p.ProveSolved(context.Background(), s); err != nil {
					t.Fatal(err)
				}
			})
			defer p.Close()
			if !bytes.Equal(encode(t, first), want) {
				t.Errorf("%s: the proof is not gnark's", name)
			}
			for _, stage := range []string{"solve", "commitments", "ntt", "msm-a", "msm-b1", "msm-b2", "msm-k", "msm-z", "assemble", "check", "prove"} {
				if seen[stage] == 0 {
					t.Errorf("%s: no stage %s in %v", name, stage, seen)
				}
			}
			slices.SortFunc(sums, func(a, b span) int { return a.from.Compare(b.from) })
			for i := range sums {
				// Clocks are read a little after stages end.
				if serial && i > 0 && sums[i].from.Before(sums[i-1].to.Add(-5*time.Millisecond)) {
					t.Errorf("%s: sums go on at the same time: %v", name, sums)
				}
			}
			if name == "simt" {
				continue
			}
			proofs := make([]groth16.Proof, 4)
			var wg sync.WaitGroup
			for i := range proofs {
				wg.Go(func() {
					var err error
					if proofs[i], err = p.ProveSolved(context.Background(), s); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			for i, proof := range proofs {
				if proof == nil {
					continue
				}
				if err := gnark.Verify(proof, r.vk, r.public); err != nil {
					t.Errorf("proof %d: %v", i, err)
				}
				if bytes.Equal(encode(t, proof), want) {
					t.Errorf("proof %d has the randomness of another", i)
				}
			}
		}
	}
}

// Solutions are of the prover that made them, which says so, and has gnark's errors.
func TestSolutions(t *testing.T) {
	r := setUp(t, ecc.BN254, named(t, "cubic"))
	var provers []*groth16.Prover
	for range 2 {
		p, err := groth16.NewProver(r.pk, groth16.WithDevice("cpu"))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		provers = append(provers, p)
	}
	s, err := provers[0].Solve(t.Context(), r.ccs, r.right)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*groth16.Solution{s, nil} {
		if _, err := provers[1].ProveSolved(t.Context(), s); !errors.Is(err, groth16.ErrInput) {
			t.Errorf("a solution of another prover: %v", err)
		}
	}
	_, theirs := gnark.Prove(r.ccs, r.pk, r.wrong)
	if _, err := provers[0].Solve(t.Context(), r.ccs, r.wrong); err == nil || err.Error() != theirs.Error() {
		t.Errorf("wrong witness: %v, gnark's error is %v", err, theirs)
	}
	provers[0].Close()
	if _, err := provers[0].ProveSolved(t.Context(), s); !errors.Is(err, groth16.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if _, err := provers[0].Solve(t.Context(), r.ccs, r.right); !errors.Is(err, groth16.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// Proofs of one solution at the same time take turns at the hash function that it was made
// with, which checks them.
func TestSolutionsHash(t *testing.T) {
	r := setUp(t, ecc.BN254, named(t, "commits"))
	p, err := groth16.NewProver(r.pk, groth16.WithDevice("cpu"), groth16.WithVerifyingKey(r.vk))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, err := p.Solve(t.Context(), r.ccs, r.right, backend.WithProverHashToFieldFunction(slow{sha256.New()}))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := p.ProveSolved(t.Context(), s); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// ends is a reader at which a context ends.
type ends context.CancelFunc

func (e ends) Read(b []byte) (int, error) {
	e()
	return len(b), nil
}

// A proof that ends early leaves nobody behind who reads the key.
func TestNobodyStays(t *testing.T) {
	r := setUp(t, ecc.BN254, named(t, "closed"))
	stacks := make([]byte, 1<<20)
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		p, err := groth16.NewProver(r.pk, groth16.WithDevice("cpu"), groth16.WithRandom(ends(cancel)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Prove(ctx, r.ccs, r.right); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if all := string(stacks[:runtime.Stack(stacks, true)]); strings.Contains(all, "Key).blind(") {
			t.Fatal("a goroutine of the proof goes on")
		}
		p.Close()
	}
}

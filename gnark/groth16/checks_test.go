package groth16_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"math/big"
	randv2 "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	"github.com/consensys/gnark/backend"
	gnark "github.com/consensys/gnark/backend/groth16"
	gnark254 "github.com/consensys/gnark/backend/groth16/bn254"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bn254"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/std/lookup/logderivlookup"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// copied is a key whose lists can be changed without changing another's.
func copied(pk groth16.ProvingKey) *gnark254.ProvingKey {
	out := *pk.(*gnark254.ProvingKey)
	out.InfinityA, out.InfinityB = slices.Clone(out.InfinityA), slices.Clone(out.InfinityB)
	out.CommitmentKeys = slices.Clone(out.CommitmentKeys)
	return &out
}

// Keys that are well-formed but of another circuit, by one size each, and constraint systems
// whose commitments are to wires that are none.
func TestKeyOfAnother(t *testing.T) {
	r := setUp(t, ecc.BN254, named(t, "commits"))
	for name, c := range map[string]struct {
		change func(pk *gnark254.ProvingKey, ccs *cs.R1CS)
		want   string
	}{
		"a wire more": {func(pk *gnark254.ProvingKey, _ *cs.R1CS) {
			pk.InfinityA, pk.InfinityB = append(pk.InfinityA, true), append(pk.InfinityB, true)
			pk.NbInfinityA++
			pk.NbInfinityB++
		}, "wires, the constraint system has"},
		"twice the domain": {func(pk *gnark254.ProvingKey, _ *cs.R1CS) {
			n := pk.Domain.Cardinality
			pk.Domain = *fft.NewDomain(2 * n)
			pk.G1.Z = append(slices.Clone(pk.G1.Z), pk.G1.Z...)
			pk.G1.Z = append(pk.G1.Z, pk.G1.Z[0])
		}, "for a domain of"},
		"a commitment less": {func(pk *gnark254.ProvingKey, _ *cs.R1CS) { pk.CommitmentKeys = pk.CommitmentKeys[1:] }, "with 1 commitments, the constraint system has 2"},
		"a committed wire less": {func(pk *gnark254.ProvingKey, _ *cs.R1CS) {
			k := &pk.CommitmentKeys[0]
			k.Basis, k.BasisExpSigma = k.Basis[1:], k.BasisExpSigma[1:]
		}, "its commitment 0 is to"},
		"a point of K less": {func(pk *gnark254.ProvingKey, _ *cs.R1CS) { pk.G1.K = pk.G1.K[1:] }, "points in query K"},
		"a committed wire that is none": {func(_ *gnark254.ProvingKey, ccs *cs.R1CS) {
			info := slices.Clone(ccs.CommitmentInfo.(constraint.Groth16Commitments))
			info[1].PrivateCommitted = slices.Clone(info[1].PrivateCommitted)
			info[1].PrivateCommitted[0] = 1 << 30
			ccs.CommitmentInfo = info
		}, "a commitment to wire 1073741824 of"},
		"a commitment's wire that is none": {func(_ *gnark254.ProvingKey, ccs *cs.R1CS) {
			info := slices.Clone(ccs.CommitmentInfo.(constraint.Groth16Commitments))
			info[0].CommitmentIndex = -1
			ccs.CommitmentInfo = info
		}, "a commitment to wire -1 of"},
		"commitments of another kind": {func(_ *gnark254.ProvingKey, ccs *cs.R1CS) { ccs.CommitmentInfo = constraint.PlonkCommitments{} }, "commitments of type"},
	} {
		t.Run(name, func(t *testing.T) {
			pk, ccs := copied(r.pk), *r.ccs.(*cs.R1CS)
			c.change(pk, &ccs)
			p, err := groth16.NewProver(pk, groth16.WithDevice("cpu"))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if proof, err := p.Prove(t.Context(), &ccs, r.right); proof != nil || !errors.Is(err, groth16.ErrInput) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	for name, change := range map[string]func(pk *gnark254.ProvingKey){
		"NbInfinityA": func(pk *gnark254.ProvingKey) { pk.NbInfinityA++ },
		"NbInfinityB": func(pk *gnark254.ProvingKey) { pk.NbInfinityB-- },
		"a domain that is no power of two": func(pk *gnark254.ProvingKey) {
			pk.Domain.Cardinality--
			pk.G1.Z = pk.G1.Z[1:]
		},
	} {
		pk := copied(r.pk)
		change(pk)
		if _, err := groth16.NewProver(pk, groth16.WithDevice("cpu")); !errors.Is(err, groth16.ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A key is what it was only if each of its lists is where it was.
func TestKeyPointedElsewhere(t *testing.T) {
	r := setUp(t, ecc.BN254, named(t, "commits"))
	for name, change := range map[string]func(pk *gnark254.ProvingKey){
		"alpha":   func(pk *gnark254.ProvingKey) { pk.G1.Alpha.Neg(&pk.G1.Alpha) },
		"beta":    func(pk *gnark254.ProvingKey) { pk.G1.Beta.Neg(&pk.G1.Beta) },
		"delta":   func(pk *gnark254.ProvingKey) { pk.G1.Delta.Neg(&pk.G1.Delta) },
		"A":       func(pk *gnark254.ProvingKey) { pk.G1.A = slices.Clone(pk.G1.A) },
		"B":       func(pk *gnark254.ProvingKey) { pk.G1.B = slices.Clone(pk.G1.B) },
		"B in G2": func(pk *gnark254.ProvingKey) { pk.G2.B = slices.Clone(pk.G2.B) },
		"K":       func(pk *gnark254.ProvingKey) { pk.G1.K = slices.Clone(pk.G1.K) },
		"Z":       func(pk *gnark254.ProvingKey) { pk.G1.Z = slices.Clone(pk.G1.Z) },
		"fewer":   func(pk *gnark254.ProvingKey) { pk.G1.Z = pk.G1.Z[:1] },
		"basis":   func(pk *gnark254.ProvingKey) { c := &pk.CommitmentKeys[1]; c.Basis = slices.Clone(c.Basis) },
		"knowledge": func(pk *gnark254.ProvingKey) {
			c := &pk.CommitmentKeys[1]
			c.BasisExpSigma = slices.Clone(c.BasisExpSigma)
		},
		"commitment": func(pk *gnark254.ProvingKey) { pk.CommitmentKeys = pk.CommitmentKeys[:1] },
	} {
		pk := copied(r.pk)
		p, err := groth16.NewProver(pk, groth16.WithDevice("cpu"))
		if err != nil {
			t.Fatal(err)
		}
		change(pk)
		if _, err := p.Prove(t.Context(), r.ccs, r.right); !errors.Is(err, groth16.ErrInput) || !strings.Contains(err.Error(), "has changed") {
			t.Errorf("%s: %v", name, err)
		}
		p.Close()
	}
}

// A mapped key that was closed is an error to those who still use it.
func TestClosedKeyFile(t *testing.T) {
	r := setUp(t, ecc.BN254, named(t, "commits"))
	path := filepath.Join(t.TempDir(), "c.pk")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(groth16.WriteProvingKey(file, r.pk), file.Close()); err != nil {
		t.Fatal(err)
	}
	k, err := groth16.OpenProvingKey(t.Context(), ecc.BN254, path)
	if err != nil {
		t.Fatal(err)
	}
	if !k.Mapped() {
		t.Skip("keys are not mapped here")
	}
	p, err := groth16.NewProver(k.ProvingKey(), groth16.WithDevice("cpu"), groth16.WithVerifyingKey(r.vk))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s, err := p.Solve(t.Context(), r.ccs, r.right)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	_, one := p.Prove(t.Context(), r.ccs, r.right)
	_, two := p.ProveSolved(t.Context(), s)
	_, three := groth16.Prove(r.ccs, k.ProvingKey(), r.right)
	_, four := groth16.NewProver(k.ProvingKey())
	for i, err := range []error{one, two, three, four} {
		if !errors.Is(err, groth16.ErrInput) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}

// r and s are gnark's from any randomness, also where numbers are drawn that are not below
// the modulus, as one of four is.
func TestBlinding(t *testing.T) {
	for _, id := range curves {
		r := setUp(t, id, named(t, "closed"))
		for seed := range byte(16) {
			proof := func(prove func() (groth16.Proof, error)) (out []byte) {
				old := rand.Reader
				defer func() { rand.Reader = old }()
				rand.Reader = randv2.NewChaCha8([32]byte{seed})
				p, err := prove()
				if err != nil {
					t.Fatal(err)
				}
				return encode(t, p)
			}
			theirs := proof(func() (groth16.Proof, error) { return gnark.Prove(r.ccs, r.pk, r.right) })
			ours := proof(func() (groth16.Proof, error) {
				p, err := groth16.NewProver(r.pk, groth16.WithDevice("cpu"))
				if err != nil {
					return nil, err
				}
				defer p.Close()
				return p.Prove(t.Context(), r.ccs, r.right)
			})
			if !bytes.Equal(ours, theirs) {
				t.Fatalf("%s: seed %d: the proof is not gnark's", id, seed)
			}
		}
	}
}

// Options for the solver reach it, and nothing is written behind them, where others of the
// caller's may be.
func TestSolverOptions(t *testing.T) {
	r := setUp(t, ecc.BN254, example{circuit: &moodily{}, right: &moodily{5, 25}})
	p, err := groth16.NewProver(r.pk, groth16.WithDevice("cpu"), groth16.WithVerifyingKey(r.vk))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	calls := 0
	list := make([]solver.Option, 1, 4)
	list[0] = solver.OverrideHint(solver.GetHintID(moody), func(_ *big.Int, in, out []*big.Int) error {
		calls++
		out[0].Set(in[0])
		return nil
	})
	if _, err := p.Prove(t.Context(), r.ccs, r.right, backend.WithSolverOptions(list...)); err != nil {
		t.Error(err)
	}
	if calls != 1 {
		t.Errorf("the hint was called %d times", calls)
	}
	if list[:2][1] != nil {
		t.Error("written behind the caller's options")
	}
}

// hides commits to what a hint gave.
type hides struct {
	X frontend.Variable
	Y frontend.Variable `gnark:",public"`
}

func (c *hides) Define(api frontend.API) error {
	out, err := api.Compiler().NewHint(moody, 1, c.X)
	if err != nil {
		return err
	}
	v, err := api.(frontend.Committer).Commit(out[0])
	if err != nil {
		return err
	}
	api.AssertIsDifferent(v, c.Y)
	api.AssertIsEqual(out[0], c.X)
	return nil
}

// A context that is over is noticed before the solver starts, and one that ends while it is at
// work by the commitment, whose error is told and not the constraint that it is of.
func TestCancelledInSolver(t *testing.T) {
	r := setUp(t, ecc.BN254, example{circuit: &hides{}, right: &hides{5, 6}, commitments: 1})
	p, err := groth16.NewProver(r.pk, groth16.WithDevice("cpu"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, before := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		if before {
			cancel()
		}
		called := false
		hint := solver.OverrideHint(solver.GetHintID(moody), func(_ *big.Int, in, out []*big.Int) error {
			called = true
			cancel()
			out[0].Set(in[0])
			return nil
		})
		proof, err := p.Prove(ctx, r.ccs, r.right, backend.WithSolverOptions(hint))
		if want := map[bool]string{true: "context canceled", false: "commitment 0: context canceled"}[before]; proof != nil || !errors.Is(err, context.Canceled) || err.Error() != want {
			t.Errorf("cancelled before %v: %v, want %s", before, err, want)
		}
		if called == before {
			t.Errorf("cancelled before %v: the solver called a hint: %v", before, called)
		}
		cancel()
	}
}

// A batch that ends early returns after the solver has, which uses the key.
func TestBatchWaits(t *testing.T) {
	r := setUp(t, ecc.BN254, example{circuit: &moodily{}, right: &moodily{5, 25}})
	p, err := groth16.NewProver(r.pk, groth16.WithDevice("cpu"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var calls, left atomic.Int64
	hint := solver.OverrideHint(solver.GetHintID(moody), func(_ *big.Int, in, out []*big.Int) error {
		if calls.Add(1) == 3 {
			cancel()
			time.Sleep(100 * time.Millisecond)
		}
		out[0].Set(in[0])
		left.Add(1)
		return nil
	})
	proofs, err := p.ProveBatch(ctx, r.ccs, slices.Repeat([]witness.Witness{r.right}, 8), backend.WithSolverOptions(hint))
	if !errors.Is(err, context.Canceled) || len(proofs) > 2 {
		t.Errorf("%d proofs, %v", len(proofs), err)
	}
	if c, l := calls.Load(), left.Load(); c != 3 || l != c {
		t.Errorf("%d solutions were begun and %d ended", c, l)
	}
}

// The device that is chosen without a name is the GPU where there is one, but for small
// circuits.
func TestAutomatic(t *testing.T) {
	devicetest.Open(t, "cuda")
	r := setUp(t, ecc.BN254, named(t, "closed"))
	t.Setenv("ZKWARP_DEVICE", "")
	for threshold, resident := range map[string]bool{"": false, "0": true} {
		t.Setenv("ZKWARP_GPU_THRESHOLD", threshold)
		p, err := groth16.NewProver(r.pk, groth16.WithVerifyingKey(r.vk))
		if err != nil {
			t.Fatal(err)
		}
		if n := p.Bytes(); (n > 0) != resident {
			t.Errorf("threshold %q: %d bytes of the GPU taken", threshold, n)
		}
		if _, err := p.Prove(t.Context(), r.ccs, r.right); err != nil {
			t.Error(err)
		}
		p.Close()
	}
}

// alone is randomness that notices when two ask at the same time.
type alone struct {
	busy    atomic.Bool
	clashes atomic.Int64
	r       *randv2.ChaCha8
}

func (a *alone) Read(b []byte) (int, error) {
	if a.busy.Swap(true) {
		a.clashes.Add(1)
	}
	defer a.busy.Store(false)
	time.Sleep(100 * time.Microsecond)
	return a.r.Read(b)
}

// The caller's randomness need not be safe for concurrent use.
func TestRandomnessOneAtATime(t *testing.T) {
	r := setUp(t, ecc.BN254, named(t, "closed"))
	random := &alone{r: randv2.NewChaCha8([32]byte{2})}
	p, err := groth16.NewProver(r.pk, groth16.WithDevice("cpu"), groth16.WithRandom(random))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 4 {
				if _, err := p.Prove(t.Context(), r.ccs, r.right); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := random.clashes.Load(); n != 0 {
		t.Errorf("%d reads while another was under way", n)
	}
}

// tabled looks up in a table of secrets what a hint gave.
type tabled struct {
	T [3]frontend.Variable
	I frontend.Variable
	S frontend.Variable `gnark:",public"`
}

func (c *tabled) Define(api frontend.API) error {
	table := logderivlookup.New(api)
	for _, v := range c.T {
		table.Insert(v)
	}
	out, err := api.Compiler().NewHint(moody, 1, c.I)
	if err != nil {
		return err
	}
	api.AssertIsEqual(out[0], c.I)
	api.AssertIsEqual(c.S, table.Lookup(out[0])[0])
	return nil
}

// Circuits that gnark's solver keeps something in are solved one proof at a time, by all
// provers; others at the same time.
func TestTurns(t *testing.T) {
	for _, x := range []example{
		{name: "table", circuit: &tabled{}, right: &tabled{[3]frontend.Variable{7, 8, 9}, 2, 9}, commitments: 1},
		{name: "no table", circuit: &moodily{}, right: &moodily{5, 25}},
	} {
		r := setUp(t, ecc.BN254, x)
		want, patience := 2, 20*time.Second
		if x.commitments > 0 {
			want, patience = 1, 100*time.Millisecond
		}
		var mu sync.Mutex
		var busy, most int
		second := make(chan struct{})
		hint := solver.OverrideHint(solver.GetHintID(moody), func(_ *big.Int, in, out []*big.Int) error {
			mu.Lock()
			busy++
			if most = max(most, busy); busy == 2 {
				close(second)
			}
			mu.Unlock()
			select { // the other, if it can come
			case <-second:
			case <-time.After(patience):
			}
			mu.Lock()
			busy--
			mu.Unlock()
			out[0].Set(in[0])
			return nil
		})
		var wg sync.WaitGroup
		for range 2 {
			p, err := groth16.NewProver(r.pk, groth16.WithDevice("cpu"), groth16.WithVerifyingKey(r.vk))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			wg.Go(func() {
				if _, err := p.Prove(t.Context(), r.ccs, r.right, backend.WithSolverOptions(hint)); err != nil {
					t.Errorf("%s: %v", x.name, err)
				}
			})
		}
		wg.Wait()
		if most != want {
			t.Errorf("%s: %d were solved at the same time, want %d", x.name, most, want)
		}
	}
}

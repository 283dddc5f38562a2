package groth16_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend"
	gnark "github.com/consensys/gnark/backend/groth16"
	gnark254 "github.com/consensys/gnark/backend/groth16/bn254"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"
	"github.com/consensys/gnark/std/lookup/logderivlookup"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/groth16"
)

func named(t *testing.T, name string) example {
	t.Helper()
	for _, x := range examples() {
		if x.name == name {
			return x
		}
	}
	t.Fatalf("no example %q", name)
	return example{}
}

// What a program has after it changed its import: keys and proofs that went through
// files, and a verifier that rejects what is not the statement.
func TestDropIn(t *testing.T) {
	r := setUp(t, ecc.BN254, named(t, "commits"))
	var file bytes.Buffer
	if _, err := r.pk.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	pk := groth16.NewProvingKey(ecc.BN254)
	if _, err := pk.ReadFrom(&file); err != nil {
		t.Fatal(err)
	}
	defer groth16.Forget(pk)
	for range 2 { // the second finds the key
		proof, err := groth16.Prove(r.ccs, pk, r.right)
		if err != nil {
			t.Fatal(err)
		}
		file.Reset()
		if _, err := proof.WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		read := groth16.NewProof(ecc.BN254)
		if _, err := read.ReadFrom(&file); err != nil {
			t.Fatal(err)
		}
		if err := groth16.Verify(read, r.vk, r.public); err != nil {
			t.Fatal(err)
		}
		other, err := frontend.NewWitness(&commits{1, 41, 41}, ecc.BN254.ScalarField(), frontend.PublicOnly())
		if err != nil {
			t.Fatal(err)
		}
		if groth16.Verify(read, r.vk, other) == nil {
			t.Error("verifies another statement")
		}
		for name, tamper := range map[string]func(p *gnark254.Proof){
			"A":                  func(p *gnark254.Proof) { p.Ar.Neg(&p.Ar) },
			"B":                  func(p *gnark254.Proof) { p.Bs.Neg(&p.Bs) },
			"C":                  func(p *gnark254.Proof) { p.Krs.Neg(&p.Krs) },
			"commitment":         func(p *gnark254.Proof) { p.Commitments[1].Neg(&p.Commitments[1]) },
			"proof of knowledge": func(p *gnark254.Proof) { p.CommitmentPok.Neg(&p.CommitmentPok) },
		} {
			p := *read.(*gnark254.Proof)
			p.Commitments = append(p.Commitments[:0:0], p.Commitments...)
			tamper(&p)
			if groth16.Verify(&p, r.vk, r.public) == nil {
				t.Errorf("verifies with another %s", name)
			}
		}
	}
}

// Many proofs at a time with one key, and all verify.
func TestConcurrent(t *testing.T) {
	r := setUp(t, ecc.BN254, named(t, "commits"))
	p, err := groth16.NewProver(r.pk, groth16.WithDevice("cpu"), groth16.WithRandom(seeded()))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	proofs := make([]groth16.Proof, 16)
	for i := range proofs {
		wg.Go(func() {
			prove := p.Prove
			if i%2 == 1 {
				prove = func(_ context.Context, ccs constraint.ConstraintSystem, w witness.Witness, _ ...backend.ProverOption) (groth16.Proof, error) {
					return groth16.Prove(ccs, r.pk, w)
				}
			}
			var err error
			if proofs[i], err = prove(context.Background(), r.ccs, r.right); err != nil {
				t.Error(err)
			} else if err := gnark.Verify(proofs[i], r.vk, r.public); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	groth16.Forget(r.pk)
	p.Close()
	p.Close()
	if _, err := p.Prove(context.Background(), r.ccs, r.right); !errors.Is(err, groth16.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// secretTable looks up values in a table of secrets, which gnark's solver keeps in the
// constraint system.
type secretTable struct {
	T, I [40]frontend.Variable
	S    frontend.Variable `gnark:",public"`
}

func (c *secretTable) Define(api frontend.API) error {
	table := logderivlookup.New(api)
	for _, v := range c.T {
		table.Insert(v)
	}
	sum := frontend.Variable(0)
	for _, i := range c.I {
		sum = api.Add(sum, table.Lookup(i)[0])
	}
	api.AssertIsEqual(c.S, sum)
	return nil
}

// Proofs of different witnesses of such a circuit, at a time and by several provers.
func TestConcurrentTables(t *testing.T) {
	assign := func(k int) *secretTable {
		var c secretTable
		sum := 0
		for i := range c.T {
			c.T[i], c.I[i] = 1000*k+i, 39-i
			sum += 1000*k + i
		}
		c.S = sum
		return &c
	}
	r := setUp(t, ecc.BN254, example{circuit: &secretTable{}, right: assign(0), commitments: 1})
	var provers [2]*groth16.Prover
	for i := range provers {
		var err error
		if provers[i], err = groth16.NewProver(r.pk, groth16.WithDevice("cpu"), groth16.WithVerifyingKey(r.vk)); err != nil {
			t.Fatal(err)
		}
		defer provers[i].Close()
	}
	var wg sync.WaitGroup
	for k := range 24 {
		w, err := frontend.NewWitness(assign(k), ecc.BN254.ScalarField())
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			if _, err := provers[k%2].Prove(context.Background(), r.ccs, w); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// Prove uses a key as it is, not as it was.
func TestKeyReadAgain(t *testing.T) {
	first, second := setUp(t, ecc.BN254, named(t, "cubic")), setUp(t, ecc.BN254, named(t, "cubic"))
	third := setUp(t, ecc.BN254, named(t, "open"))
	var file bytes.Buffer
	pk := groth16.NewProvingKey(ecc.BN254)
	defer groth16.Forget(pk)
	for _, r := range []*ready{first, second, third, first} {
		file.Reset()
		if _, err := r.pk.WriteRawTo(&file); err != nil {
			t.Fatal(err)
		}
		if _, err := pk.ReadFrom(&file); err != nil {
			t.Fatal(err)
		}
		proof, err := groth16.Prove(r.ccs, pk, r.right)
		if err != nil {
			t.Fatal(err)
		}
		if err := groth16.Verify(proof, r.vk, r.public); err != nil {
			t.Error(err)
		}
	}
	p, err := groth16.NewProver(pk, groth16.WithDevice("cpu"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := second.pk.WriteRawTo(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := pk.ReadFrom(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Prove(context.Background(), second.ccs, second.right); !errors.Is(err, groth16.ErrInput) {
		t.Errorf("a Prover of a key that changed: %v", err)
	}
}

func TestBadInput(t *testing.T) {
	r, other := setUp(t, ecc.BN254, named(t, "commits")), setUp(t, ecc.BN254, named(t, "cubic"))
	foreign := setUp(t, ecc.BLS12_381, named(t, "commits"))
	sparse, err := frontend.Compile(ecc.BN254.ScalarField(), scs.NewBuilder, &cubic{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		ccs  constraint.ConstraintSystem
		pk   groth16.ProvingKey
		w    witness.Witness
		want string
	}{
		"no key":              {r.ccs, nil, r.right, "no proving key"},
		"nil key":             {r.ccs, (*gnark254.ProvingKey)(nil), r.right, "no proving key"},
		"empty key":           {r.ccs, groth16.NewProvingKey(ecc.BN254), r.right, "it is empty"},
		"no system":           {nil, r.pk, r.right, "the constraint system is nil"},
		"no witness":          {r.ccs, r.pk, nil, "invalid witness"},
		"key of another":      {other.ccs, r.pk, other.right, "of another circuit"},
		"key of a curve":      {r.ccs, foreign.pk, r.right, "over bls12_381"},
		"system of a curve":   {foreign.ccs, r.pk, foreign.right, "the constraint system is over bls12_381"},
		"witness of a curve":  {r.ccs, r.pk, foreign.right, "invalid witness"},
		"witness of another":  {r.ccs, r.pk, other.right, "invalid witness size, got 2, expected 3"},
		"public witness only": {r.ccs, r.pk, r.public, "invalid witness size, got 1, expected 3"},
		"not an R1CS":         {sparse, other.pk, other.right, "not an R1CS"},
	} {
		_, err := groth16.Prove(c.ccs, c.pk, c.w)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(c.want, "invalid witness") && !errors.Is(err, groth16.ErrInput) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		groth16.Forget(c.pk)
	}
	for name, cut := range map[string]func(pk *gnark254.ProvingKey){
		"A":          func(pk *gnark254.ProvingKey) { pk.G1.A = pk.G1.A[1:] },
		"B":          func(pk *gnark254.ProvingKey) { pk.G2.B = pk.G2.B[1:] },
		"Z":          func(pk *gnark254.ProvingKey) { pk.G1.Z = pk.G1.Z[1:] },
		"InfinityA":  func(pk *gnark254.ProvingKey) { pk.InfinityA = pk.InfinityA[1:] },
		"commitment": func(pk *gnark254.ProvingKey) { pk.CommitmentKeys[0].Basis = nil },
	} {
		pk := *r.pk.(*gnark254.ProvingKey)
		pk.CommitmentKeys = append(pk.CommitmentKeys[:0:0], pk.CommitmentKeys...)
		cut(&pk)
		if _, err := groth16.NewProver(&pk); !errors.Is(err, groth16.ErrInput) || !strings.Contains(err.Error(), name) {
			t.Errorf("a key with a point less in %s: %v", name, err)
		}
	}
	for name, o := range map[string]groth16.Option{
		"memory":        groth16.WithMemory(-1),
		"verifying key": groth16.WithVerifyingKey(nil),
		"curve":         groth16.WithVerifyingKey(foreign.vk),
		"random":        groth16.WithRandom(nil),
		"logger":        groth16.WithLogger(nil),
	} {
		if _, err := groth16.NewProver(r.pk, o); !errors.Is(err, groth16.ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := groth16.NewProver(r.pk, groth16.WithDevice("abacus")); !errors.Is(err, device.ErrUsage) {
		t.Errorf("a device that is none: %v", err)
	}
}

func TestContextAndRandom(t *testing.T) {
	r := setUp(t, ecc.BN254, named(t, "cubic"))
	p, err := groth16.NewProver(r.pk, groth16.WithDevice("cpu"), groth16.WithRandom(io.LimitReader(seeded(), 40)))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Prove(ctx, r.ccs, r.right); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := p.Prove(context.Background(), r.ccs, r.right); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("40 bytes of randomness: %v", err)
	}
}

// A verifying key of another setup is refused before there is a proof.
func TestOtherVerifyingKey(t *testing.T) {
	x := named(t, "cubic")
	for _, id := range curves {
		r, other := setUp(t, id, x), setUp(t, id, x)
		p, err := groth16.NewProver(r.pk, groth16.WithDevice("cpu"), groth16.WithVerifyingKey(other.vk))
		if p != nil || !errors.Is(err, groth16.ErrInput) || !strings.Contains(err.Error(), "another setup") {
			t.Errorf("%s: another setup's verifying key: %v", id, err)
		}
		if p, err = groth16.NewProver(r.pk, groth16.WithDevice("cpu"), groth16.WithVerifyingKey(r.vk)); err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		p.Close()
	}
}

// A device that computes something wrong, as its points are, is found out with and
// without a verifying key; the CPU makes the proof, and the fault is reported.
func TestFault(t *testing.T) {
	d := devicetest.Open(t, "simt")
	r := setUp(t, ecc.BN254, named(t, "cubic"))
	pk := r.pk.(*gnark254.ProvingKey)
	spoil := func() { pk.G1.B[0].Neg(&pk.G1.B[0]) } // there and back
	var log bytes.Buffer
	options := []groth16.Option{groth16.WithDevice(d.Name()), groth16.WithRandom(seeded()), groth16.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))}
	spoil()
	p, err := groth16.NewProver(pk, options...)
	spoil()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	proof, err := p.Prove(context.Background(), r.ccs, r.right)
	if err != nil {
		t.Fatal(err)
	}
	if err := groth16.Verify(proof, r.vk, r.public); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "wrong=true") || !strings.Contains(log.String(), d.Name()) {
		t.Errorf("the log says %q", log.String())
	}
	var want []byte
	blind(t, func() {
		proof, err := gnark.Prove(r.ccs, r.pk, r.right)
		if err != nil {
			t.Fatal(err)
		}
		want = encode(t, proof)
	})
	if !bytes.Equal(encode(t, proof), want) {
		t.Error("the proof of the CPU is from other randomness")
	}
	if p.Bytes() == 0 {
		t.Error("nothing is resident")
	}
}

// A key whose points do not fit is proved with all the same.
func TestLittleMemory(t *testing.T) {
	d := devicetest.Open(t, "simt")
	r := setUp(t, ecc.BN254, named(t, "cubic"))
	before := d.InUse()
	p, err := groth16.NewProver(r.pk, groth16.WithDevice(d.Name()), groth16.WithVerifyingKey(r.vk), groth16.WithMemory(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Prove(context.Background(), r.ccs, r.right); err != nil {
		t.Error(err)
	}
	p.Close()
	if n := d.InUse() - before; n != 0 {
		t.Errorf("%d bytes are left on the device", n)
	}
}

// A batch's proofs are those of its witnesses, one by one, up to the first that cannot be
// proved.
func TestBatch(t *testing.T) {
	r := setUp(t, ecc.BN254, named(t, "commits"))
	var witnesses []witness.Witness
	for i := range 6 {
		w, err := frontend.NewWitness(&commits{i + 2, 7, 7 * (i + 2)}, ecc.BN254.ScalarField())
		if err != nil {
			t.Fatal(err)
		}
		witnesses = append(witnesses, w)
	}
	p, err := groth16.NewProver(r.pk, groth16.WithDevice("cpu"), groth16.WithVerifyingKey(r.vk))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for name, o := range map[string][]backend.ProverOption{"": nil, "with a hash": {backend.WithProverHashToFieldFunction(sha256.New())}} {
		proofs, err := p.ProveBatch(context.Background(), r.ccs, witnesses, o...)
		if err != nil || len(proofs) != len(witnesses) {
			t.Fatalf("%s: %d proofs, error %v", name, len(proofs), err)
		}
		for i, proof := range proofs {
			public, err := witnesses[i].Public()
			if err != nil {
				t.Fatal(err)
			}
			var vo []backend.VerifierOption
			if o != nil {
				vo = append(vo, backend.WithVerifierHashToFieldFunction(sha256.New()))
			}
			if err := groth16.Verify(proof, r.vk, public, vo...); err != nil {
				t.Errorf("%s: proof %d: %v", name, i, err)
			}
		}
	}
	witnesses[3] = r.wrong
	proofs, err := p.ProveBatch(context.Background(), r.ccs, witnesses)
	if len(proofs) != 3 || err == nil || !strings.HasPrefix(err.Error(), "witness 3: constraint #") {
		t.Errorf("a wrong witness: %d proofs, error %v", len(proofs), err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if proofs, err := p.ProveBatch(ctx, r.ccs, witnesses); len(proofs) != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %d proofs, error %v", len(proofs), err)
	}
	if proofs, err := p.ProveBatch(context.Background(), r.ccs, nil); len(proofs) != 0 || err != nil {
		t.Errorf("no witness: %d proofs, error %v", len(proofs), err)
	}
}

// Whoever calls Prove or ProveBatch can recover from the panics of hints, and use the
// Prover again.
func TestPanicOfHint(t *testing.T) {
	field := ecc.BN254.ScalarField()
	ccs, err := frontend.Compile(field, r1cs.NewBuilder, &moodily{})
	if err != nil {
		t.Fatal(err)
	}
	pk, vk, err := groth16.Setup(ccs)
	if err != nil {
		t.Fatal(err)
	}
	p, err := groth16.NewProver(pk, groth16.WithDevice("cpu"), groth16.WithVerifyingKey(vk))
	if err != nil {
		t.Fatal(err)
	}
	var witnesses []witness.Witness
	for _, x := range []int{12, 13, 14, 17} {
		w, err := frontend.NewWitness(&moodily{x, x * x}, field)
		if err != nil {
			t.Fatal(err)
		}
		witnesses = append(witnesses, w)
	}
	for name, prove := range map[string]func() error{
		"one": func() error {
			_, err := p.Prove(t.Context(), ccs, witnesses[1])
			return err
		},
		"batch": func() error {
			_, err := p.ProveBatch(t.Context(), ccs, witnesses)
			return err
		},
	} {
		var recovered any
		func() {
			defer func() { recovered = recover() }()
			err = prove()
		}()
		if recovered != "13" {
			t.Errorf("%s: recovered from %v, error %v", name, recovered, err)
		}
	}
	if _, err := p.Prove(t.Context(), ccs, witnesses[2]); err != nil {
		t.Error(err)
	}
	// A hint that ends its goroutine, as t.FailNow does, ends the batch.
	if proofs, err := p.ProveBatch(t.Context(), ccs, witnesses[2:]); len(proofs) != 1 || err == nil || !strings.Contains(err.Error(), "witness 1: a hint ended its goroutine") {
		t.Errorf("%d proofs, %v", len(proofs), err)
	}
	p.Close() // waits for proofs
}

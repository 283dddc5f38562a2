package groth16_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	randv2 "math/rand/v2"
	"os"
	"reflect"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	gnark "github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/groth16"
)

// seeded is the same bytes each time.
func seeded() io.Reader { return randv2.NewChaCha8([32]byte{1}) }

// blind makes all randomness seeded's for one call: gnark's blinding and ours, and the
// masks of commitments, which a hint of gnark's makes.
func blind(t *testing.T, f func()) {
	t.Helper()
	old := rand.Reader
	defer func() { rand.Reader = old }()
	rand.Reader = seeded()
	f()
}

// ready is a compiled circuit with keys.
type ready struct {
	ccs           constraint.ConstraintSystem
	pk            groth16.ProvingKey
	vk            groth16.VerifyingKey
	right, public witness.Witness
	wrong         witness.Witness // nil if there is none
}

func setUp(t testing.TB, id ecc.ID, x example) *ready {
	t.Helper()
	field := id.ScalarField()
	var r ready
	var err error
	if r.ccs, err = frontend.Compile(field, r1cs.NewBuilder, x.circuit); err != nil {
		t.Fatal(err)
	}
	if n := len(r.ccs.GetCommitments().CommitmentIndexes()); n != x.commitments {
		t.Fatalf("%d commitments, want %d", n, x.commitments)
	}
	if r.pk, r.vk, err = groth16.Setup(r.ccs); err != nil {
		t.Fatal(err)
	}
	if r.right, err = frontend.NewWitness(x.right, field); err != nil {
		t.Fatal(err)
	}
	if r.public, err = r.right.Public(); err != nil {
		t.Fatal(err)
	}
	if x.wrong != nil {
		if r.wrong, err = frontend.NewWitness(x.wrong, field); err != nil {
			t.Fatal(err)
		}
	}
	return &r
}

func encode(t testing.TB, p groth16.Proof) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := p.WriteRawTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tampered is a proof with a point negated, for each point that it has; over any curve.
func tampered(t *testing.T, p groth16.Proof) map[string]groth16.Proof {
	t.Helper()
	out := map[string]groth16.Proof{}
	from := reflect.ValueOf(p).Elem()
	add := func(name string, point func(proof reflect.Value) reflect.Value) {
		to := reflect.New(from.Type())
		to.Elem().Set(from)
		if list := to.Elem().FieldByName("Commitments"); list.Len() > 0 {
			list.Set(reflect.AppendSlice(reflect.Zero(list.Type()), list))
		}
		at := point(to.Elem()).Addr()
		at.MethodByName("Neg").Call([]reflect.Value{at})
		out[name] = to.Interface().(groth16.Proof)
	}
	for _, name := range []string{"Ar", "Bs", "Krs"} {
		add(name, func(p reflect.Value) reflect.Value { return p.FieldByName(name) })
	}
	for i := range from.FieldByName("Commitments").Len() {
		add(fmt.Sprintf("commitment %d", i), func(p reflect.Value) reflect.Value { return p.FieldByName("Commitments").Index(i) })
	}
	return out
}

// Proofs from the same randomness are gnark's own on every device, to the byte; gnark
// verifies them, and rejects them with a point changed; and a wrong witness gets gnark's own
// error.
func TestProve(t *testing.T) {
	for _, id := range curves {
		for _, x := range examples() {
			if !x.all && id != ecc.BN254 {
				continue
			}
			t.Run(id.String()+"/"+x.name, func(t *testing.T) {
				if x.heavy && os.Getenv("ZKWARP_TEST_DEVICES") == "" {
					t.Skip("takes half a minute on two cores; ZKWARP_TEST_DEVICES=cpu asks for it")
				}
				r := setUp(t, id, x)
				var want []byte
				blind(t, func() {
					proof, err := gnark.Prove(r.ccs, r.pk, r.right)
					if err != nil {
						t.Fatal(err)
					}
					want = encode(t, proof)
				})
				for _, name := range []string{"cpu", "simt", "cuda"} {
					t.Run(name, func(t *testing.T) {
						if name == "simt" && (id != ecc.BN254 || !x.emulated) {
							t.Skip("takes seconds; emulated for some circuits")
						}
						d := devicetest.Open(t, name)
						var p *groth16.Prover
						var proof groth16.Proof
						blind(t, func() {
							var err error
							if p, err = groth16.NewProver(r.pk, groth16.WithDevice(d.Name()), groth16.WithVerifyingKey(r.vk)); err != nil {
								t.Fatal(err)
							}
							if proof, err = p.Prove(context.Background(), r.ccs, r.right); err != nil {
								t.Fatal(err)
							}
						})
						defer p.Close()
						if got := encode(t, proof); !bytes.Equal(got, want) {
							t.Error("the proof is not gnark's")
						}
						if err := gnark.Verify(proof, r.vk, r.public); err != nil {
							t.Error(err)
						}
						for name, bad := range tampered(t, proof) {
							if gnark.Verify(bad, r.vk, r.public) == nil {
								t.Errorf("verifies with %s negated", name)
							}
						}
						if r.wrong == nil {
							return
						}
						var theirs, ours error
						blind(t, func() { _, theirs = gnark.Prove(r.ccs, r.pk, r.wrong) })
						blind(t, func() { _, ours = p.Prove(context.Background(), r.ccs, r.wrong) })
						if theirs == nil || ours == nil || ours.Error() != theirs.Error() {
							t.Errorf("wrong witness: %v, gnark's error is %v", ours, theirs)
						}
					})
				}
			})
		}
	}
}

package circom_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/circom"
	"github.com/zkwarp/zkwarp/gnark/circom/internal/sample"
)

// circuits are the names of the files in testdata.
var circuits = []string{"multiplier_bn128", "multiplier_bls12381", "chain_bn128", "chain_bls12381", "permutation_bn128"}

func data(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// must is for openers.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// files are all files of a circuit.
type files struct {
	r1cs    *circom.R1CS
	witness *circom.Witness
	key     *circom.ZKey
	vk      circom.VerifyingKey
	public  circom.Public
	proof   circom.Proof // snarkjs's
}

func open(t testing.TB, name string) files {
	t.Helper()
	p := filepath.Join("testdata", name)
	return files{
		must[*circom.R1CS](t)(circom.OpenR1CS(p + ".r1cs")),
		must[*circom.Witness](t)(circom.OpenWitness(p + ".wtns")),
		must[*circom.ZKey](t)(circom.OpenZKey(p + ".zkey")),
		must[circom.VerifyingKey](t)(circom.OpenJSON[circom.VerifyingKey](p + ".vk.json")),
		must[circom.Public](t)(circom.OpenJSON[circom.Public](p + ".public.json")),
		must[circom.Proof](t)(circom.OpenJSON[circom.Proof](p + ".proof.json")),
	}
}

// seeded is a stream of bytes that is the same each time.
func seeded(seed byte) io.Reader { return rand.NewChaCha8([32]byte{seed}) }

// logger logs to w.
func logger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func TestFilesBelongTogether(t *testing.T) {
	for _, name := range circuits {
		t.Run(name, func(t *testing.T) {
			f := open(t, name)
			if err := f.r1cs.Check(f.witness); err != nil {
				t.Error(err)
			}
			if f.key.NumWires() != f.r1cs.Wires || f.key.NumPublic() != f.r1cs.NumPublic() || f.key.Curve() != f.r1cs.Curve {
				t.Errorf("key: %d wires, %d public, %s; circuit: %d, %d, %s", f.key.NumWires(), f.key.NumPublic(), f.key.Curve(),
					f.r1cs.Wires, f.r1cs.NumPublic(), f.r1cs.Curve)
			}
			if rows := f.r1cs.Constraints() + f.r1cs.NumPublic() + 1; f.key.DomainSize() < rows || f.key.DomainSize() >= 4*rows {
				t.Errorf("a domain of %d for %d rows", f.key.DomainSize(), rows)
			}
			if !reflect.DeepEqual(f.witness.Public(f.key.NumPublic()), f.public) {
				t.Error("snarkjs's public signals are not those of the witness")
			}
		})
	}
}

// The JSON that is written is snarkjs's, byte for byte, and the key's is that of the .zkey.
func TestJSONIsThatOfSnarkjs(t *testing.T) {
	for _, name := range circuits {
		t.Run(name, func(t *testing.T) {
			f := open(t, name)
			var proof, public, vk, ofKey bytes.Buffer
			for _, err := range []error{
				circom.WriteJSON(&proof, f.proof), circom.WriteJSON(&public, f.public),
				circom.WriteJSON(&vk, f.vk), circom.WriteJSON(&ofKey, *f.key.VerifyingKey()),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			for ext, got := range map[string]*bytes.Buffer{".proof.json": &proof, ".public.json": &public, ".vk.json": &vk} {
				if want := data(t, name+ext); !bytes.Equal(got.Bytes(), want) {
					t.Errorf("%s:\n%s\nsnarkjs has\n%s", ext, got, want)
				}
			}
			if !bytes.Equal(ofKey.Bytes(), vk.Bytes()) {
				t.Errorf("of the .zkey:\n%s\nsnarkjs has\n%s", &ofKey, &vk)
			}
		})
	}
}

func TestVerifyProofOfSnarkjs(t *testing.T) {
	for _, name := range circuits {
		t.Run(name, func(t *testing.T) {
			f := open(t, name)
			if err := circom.Verify(&f.vk, f.public, f.proof); err != nil {
				t.Fatal(err)
			}
			other := append(circom.Public(nil), f.public...)
			other[0][0] ^= 1
			if err := circom.Verify(&f.vk, other, f.proof); !errors.Is(err, circom.ErrProof) || !strings.Contains(err.Error(), "pairing equation") {
				t.Errorf("another public signal: %v", err)
			}
		})
	}
}

// On every device the proof is the same for the same random numbers, and valid; for others
// it is another one.
func TestProve(t *testing.T) {
	ctx := context.Background()
	for _, name := range circuits {
		t.Run(name, func(t *testing.T) {
			f := open(t, name)
			want, err := circom.Prove(ctx, f.key, f.witness, circom.Options{Device: "cpu", Rand: seeded(1)})
			if err != nil {
				t.Fatal(err)
			}
			if err := circom.Verify(&f.vk, f.public, want); err != nil {
				t.Error(err)
			}
			other, err := circom.Prove(ctx, f.key, f.witness, circom.Options{Device: "cpu", Rand: seeded(2)})
			if err != nil {
				t.Fatal(err)
			}
			if reflect.DeepEqual(other, want) {
				t.Error("the same proof for other random numbers")
			}
			for _, dev := range []string{"simt", "cuda"} {
				if dev == "simt" && !strings.HasPrefix(name, "chain") {
					continue // which takes its time
				}
				t.Run(dev, func(t *testing.T) {
					devicetest.Open(t, dev)
					// Without a look at the log the CPU's help would hide a device's mistakes.
					var log bytes.Buffer
					o := circom.Options{Device: dev, Rand: seeded(1), Log: logger(&log)}
					got, err := circom.Prove(ctx, f.key, f.witness, o)
					if err != nil {
						t.Fatal(err)
					}
					if log.Len() > 0 {
						t.Error(&log)
					}
					if !reflect.DeepEqual(got, want) {
						t.Errorf("the proof is another one than the CPU's")
					}
				})
			}
		})
	}
}

func TestProverIsShared(t *testing.T) {
	f := open(t, "chain_bn128")
	p, err := circom.NewProver(f.key, circom.Options{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	for range 4 {
		go func() {
			proof, err := p.Prove(context.Background(), f.witness)
			if err == nil {
				err = circom.Verify(&f.vk, f.public, proof)
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	p.Close()
	p.Close()
	if _, err := p.Prove(context.Background(), f.witness); !errors.Is(err, circom.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestWrongWitness(t *testing.T) {
	ctx := context.Background()
	f, other := open(t, "chain_bn128"), open(t, "chain_bls12381")
	changed := func(i int, v circom.Element) *circom.Witness {
		w := &circom.Witness{Curve: f.witness.Curve, Values: append([]circom.Element(nil), f.witness.Values...)}
		w.Values[i] = v
		return w
	}
	order := circom.Element{0x43e1f593f0000001, 0x2833e84879b97091, 0xb85045b68181585d, 0x30644e72e131a029}
	if order.Big().Cmp(ecc.BN254.ScalarField()) != 0 {
		t.Fatal("not the order")
	}
	for _, c := range []struct {
		name  string
		w     *circom.Witness
		class error
		says  string
	}{
		{"nil", nil, circom.ErrMismatch, "no witness"},
		{"curve", other.witness, circom.ErrMismatch, "bls12_381"},
		{"short", &circom.Witness{Curve: ecc.BN254, Values: f.witness.Values[1:]}, circom.ErrMismatch, "102 wires, the witness 101"},
		{"constant", changed(0, circom.Element{2}), circom.ErrUnsatisfied, "wire 0"},
		{"order", changed(5, order), circom.ErrMismatch, "wire 5"},
		{"value", changed(50, circom.Element{2}), circom.ErrUnsatisfied, ""},
		{"public", changed(1, circom.Element{2}), circom.ErrUnsatisfied, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := circom.Prove(ctx, f.key, c.w, circom.Options{Device: "cpu"})
			if !errors.Is(err, c.class) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Prove: %v", err)
			}
			if err := f.r1cs.Check(c.w); !errors.Is(err, c.class) {
				t.Errorf("Check: %v", err)
			}
		})
	}
	// Wire 50 is the end of constraint 47 and the beginning of 48.
	if err := f.r1cs.Check(changed(50, circom.Element{2})); err == nil || !strings.Contains(err.Error(), "constraint 47 of 100") {
		t.Errorf("Check: %v", err)
	}
}

func TestCancelledAndShortRandomness(t *testing.T) {
	f := open(t, "multiplier_bn128")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(nil)
	if _, err := circom.Prove(ctx, f.key, f.witness, circom.Options{Device: "cpu"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	_, err := circom.Prove(context.Background(), f.key, f.witness, circom.Options{Device: "cpu", Rand: bytes.NewReader(make([]byte, 95))})
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "random numbers") {
		t.Errorf("95 random bytes: %v", err)
	}
	if _, err := circom.Prove(context.Background(), f.key, f.witness, circom.Options{Device: "no such device"}); err == nil {
		t.Error("no error for a device that there is not")
	}
	if _, err := circom.Prove(context.Background(), nil, f.witness, circom.Options{}); !errors.Is(err, circom.ErrMismatch) {
		t.Errorf("no key: %v", err)
	}
}

// A proof or a key in which anything is changed is refused, and the error names what.
func TestTampered(t *testing.T) {
	for _, name := range []string{"multiplier_bn128", "chain_bls12381"} {
		f := open(t, name)
		again := func() (circom.VerifyingKey, circom.Proof) {
			return must[circom.VerifyingKey](t)(circom.OpenJSON[circom.VerifyingKey]("testdata/" + name + ".vk.json")),
				must[circom.Proof](t)(circom.OpenJSON[circom.Proof]("testdata/" + name + ".proof.json"))
		}
		zero := func() *big.Int { return new(big.Int) }
		for _, c := range []struct {
			name   string
			change func(*circom.VerifyingKey, *circom.Proof)
			class  error
			says   string
		}{
			{"A off the curve", func(_ *circom.VerifyingKey, p *circom.Proof) { p.A[0].Add(p.A[0], big.NewInt(1)) }, circom.ErrProof, "pi_a: it is not on the curve"},
			{"A negative", func(k *circom.VerifyingKey, p *circom.Proof) { p.A[1].Sub(k.Curve.BaseField(), p.A[1]) }, circom.ErrProof, "pairing equation"},
			{"A not reduced", func(k *circom.VerifyingKey, p *circom.Proof) { p.A[1].Add(k.Curve.BaseField(), p.A[1]) }, circom.ErrProof, "pi_a: a coordinate is not below"},
			{"A below zero", func(_ *circom.VerifyingKey, p *circom.Proof) { p.A[1].Neg(p.A[1]) }, circom.ErrProof, "pi_a: a coordinate is not below"},
			{"A is infinity", func(_ *circom.VerifyingKey, p *circom.Proof) { p.A = circom.G1{zero(), zero()} }, circom.ErrProof, "pi_a: it is infinity"},
			{"A is missing", func(_ *circom.VerifyingKey, p *circom.Proof) { p.A = nil }, circom.ErrProof, "pi_a: 0 coordinates"},
			{"A has no y", func(_ *circom.VerifyingKey, p *circom.Proof) { p.A[1] = nil }, circom.ErrProof, "pi_a: a coordinate is missing"},
			{"A and C exchanged", func(_ *circom.VerifyingKey, p *circom.Proof) { p.A, p.C = p.C, p.A }, circom.ErrProof, "pairing equation"},
			{"B off the curve", func(_ *circom.VerifyingKey, p *circom.Proof) { p.B[0][1].Xor(p.B[0][1], big.NewInt(1)) }, circom.ErrProof, "pi_b: it is not on the curve"},
			{"B is missing", func(_ *circom.VerifyingKey, p *circom.Proof) { p.B = circom.G2{} }, circom.ErrProof, "pi_b: "},
			{"B is gamma", func(k *circom.VerifyingKey, p *circom.Proof) { p.B = k.Gamma }, circom.ErrProof, "pairing equation"},
			{"C is A", func(_ *circom.VerifyingKey, p *circom.Proof) { p.C = p.A }, circom.ErrProof, "pairing equation"},
			{"C is infinity", func(_ *circom.VerifyingKey, p *circom.Proof) { p.C = circom.G1{zero(), zero()} }, circom.ErrProof, "pairing equation"},
			{"another curve", func(k *circom.VerifyingKey, p *circom.Proof) { p.Curve = ecc.BN254 + ecc.BLS12_381 - k.Curve }, circom.ErrMismatch, "the proof for"},
			{"alpha", func(k *circom.VerifyingKey, _ *circom.Proof) { k.Alpha = k.IC[0] }, circom.ErrProof, "pairing equation"},
			{"alpha off the curve", func(k *circom.VerifyingKey, _ *circom.Proof) { k.Alpha[0].SetInt64(1) }, circom.ErrKey, "vk_alpha_1"},
			{"delta is infinity", func(k *circom.VerifyingKey, _ *circom.Proof) {
				k.Delta = circom.G2{{zero(), zero()}, {zero(), zero()}}
			}, circom.ErrKey, "vk_delta_2: it is infinity"},
			{"IC is short", func(k *circom.VerifyingKey, _ *circom.Proof) { k.IC = k.IC[1:] }, circom.ErrMismatch, "public signals"},
			{"IC", func(k *circom.VerifyingKey, _ *circom.Proof) { k.IC[1] = k.IC[0] }, circom.ErrProof, "pairing equation"},
			{"IC off the curve", func(k *circom.VerifyingKey, _ *circom.Proof) { k.IC[1][1].SetInt64(7) }, circom.ErrKey, "IC[1]"},
			{"no curve", func(k *circom.VerifyingKey, _ *circom.Proof) { k.Curve = ecc.UNKNOWN }, circom.ErrKey, "not supported"},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				vk, proof := again()
				c.change(&vk, &proof)
				if err := circom.Verify(&vk, f.public, proof); !errors.Is(err, c.class) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v, want %q", err, c.says)
				}
			})
		}
		if err := circom.Verify(nil, f.public, f.proof); !errors.Is(err, circom.ErrKey) {
			t.Errorf("no key: %v", err)
		}
		order := new(big.Int).Set(f.vk.Curve.ScalarField())
		large := append(circom.Public(nil), f.public...)
		for i := range large[0] {
			large[0][i] = new(big.Int).Rsh(order, uint(64*i)).Uint64()
		}
		if err := circom.Verify(&f.vk, large, f.proof); !errors.Is(err, circom.ErrMismatch) || !strings.Contains(err.Error(), "public signal 0") {
			t.Errorf("a public signal that is the order: %v", err)
		}
	}
}

// The files of testdata are those of package sample, which other tests change.
func TestSamples(t *testing.T) {
	for _, c := range sample.All() {
		if err := c.Check(); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(c.R1CS(), data(t, c.Name+".r1cs")) || !bytes.Equal(c.WTNS(), data(t, c.Name+".wtns")) {
			t.Errorf("%s: testdata is of another circuit; run testdata/make.sh", c.Name)
		}
	}
}

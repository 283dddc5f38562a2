package synthetic

import (
	"crypto/rand"
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/secp256k1/ecdsa"
	cs "github.com/consensys/gnark/constraint/bn254"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/std/algebra/emulated/sw_emulated"
	"github.com/consensys/gnark/std/hash"
	"github.com/consensys/gnark/std/hash/sha2"
	"github.com/consensys/gnark/std/hash/sha3"
	"github.com/consensys/gnark/std/math/emulated"
	"github.com/consensys/gnark/std/math/uints"
	gadget "github.com/consensys/gnark/std/signature/ecdsa"
)

// hashing is a hash of 256 bytes.
type hashing struct {
	In   [256]uints.U8
	make func(frontend.API) (hash.BinaryFixedLengthHasher, error)
}

func (c *hashing) Define(api frontend.API) error {
	h, err := c.make(api)
	if err != nil {
		return err
	}
	h.Write(c.In[:])
	h.Sum()
	return nil
}

type (
	base    = emulated.Secp256k1Fp
	scalars = emulated.Secp256k1Fr
)

// signature is one over secp256k1.
type signature struct {
	Signature gadget.Signature[scalars]
	Message   emulated.Element[scalars]
	Key       gadget.PublicKey[base, scalars]
}

func (c *signature) Define(api frontend.API) error {
	c.Key.Verify(api, sw_emulated.GetSecp256k1Params(), &c.Message, &c.Signature)
	return nil
}

func signed(b *testing.B) *signature {
	key, err := ecdsa.GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	message := []byte("message")
	data, err := key.Sign(message, nil)
	if err != nil {
		b.Fatal(err)
	}
	var s ecdsa.Signature
	if _, err := s.SetBytes(data); err != nil {
		b.Fatal(err)
	}
	return &signature{
		Signature: gadget.Signature[scalars]{
			R: emulated.ValueOf[scalars](new(big.Int).SetBytes(s.R[:])),
			S: emulated.ValueOf[scalars](new(big.Int).SetBytes(s.S[:])),
		},
		Message: emulated.ValueOf[scalars](ecdsa.HashToInt(message)),
		Key:     gadget.PublicKey[base, scalars]{X: emulated.ValueOf[base](key.PublicKey.A.X), Y: emulated.ValueOf[base](key.PublicKey.A.Y)},
	}
}

// BenchmarkGadgets counts what docs/bench.md says of circuits of gnark's library, which the
// shares of sparse systems were chosen by.
func BenchmarkGadgets(b *testing.B) {
	var in hashing
	data := make([]byte, len(in.In))
	if _, err := rand.Read(data); err != nil {
		b.Fatal(err)
	}
	for i, v := range data {
		in.In[i] = uints.NewU8(v)
	}
	sha := func(api frontend.API) (hash.BinaryFixedLengthHasher, error) { return sha2.New(api) }
	keccak := func(api frontend.API) (hash.BinaryFixedLengthHasher, error) { return sha3.NewLegacyKeccak256(api) }
	for _, c := range []struct {
		name                string
		circuit, assignment frontend.Circuit
	}{
		{"sha-256", &hashing{make: sha}, &in},
		{"keccak-256", &hashing{make: keccak}, &in},
		{"ecdsa", &signature{}, signed(b)},
	} {
		b.Run(c.name, func(b *testing.B) {
			system, err := frontend.Compile(ecc.BN254.ScalarField(), r1cs.NewBuilder, c.circuit)
			if err != nil {
				b.Fatal(err)
			}
			w, err := frontend.NewWitness(c.assignment, ecc.BN254.ScalarField())
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				solved, err := system.Solve(w)
				if err != nil {
					b.Fatal(err)
				}
				count(b, system.(*cs.R1CS), solved.(*cs.R1CSSolution))
			}
		})
	}
}

func count(b *testing.B, system *cs.R1CS, solved *cs.R1CSSolution) {
	share := func(is func(i int) bool) float64 {
		n := 0
		for i := range solved.W {
			if is(i) {
				n++
			}
		}
		return 100 * float64(n) / float64(len(solved.W))
	}
	inA, inB, terms := make([]bool, len(solved.W)), make([]bool, len(solved.W)), 0
	for _, c := range system.GetR1Cs() {
		for _, t := range c.L {
			inA[t.WireID()] = true
		}
		for _, t := range c.R {
			inB[t.WireID()] = true
		}
		terms += len(c.L) + len(c.R) + len(c.O)
	}
	bit := func(i int) bool { return solved.W[i].IsZero() || solved.W[i].IsOne() }
	b.ReportMetric(float64(system.GetNbConstraints()), "constraints")
	b.ReportMetric(share(bit), "%bits")
	b.ReportMetric(share(func(i int) bool { return !bit(i) && solved.W[i].IsUint64() && solved.W[i].Uint64() < 1<<16 }), "%small")
	b.ReportMetric(share(func(i int) bool { return inA[i] }), "%in-A")
	b.ReportMetric(share(func(i int) bool { return inB[i] }), "%in-B")
	b.ReportMetric(float64(terms)/float64(system.GetNbConstraints()), "terms/constraint")
}

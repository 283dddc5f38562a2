package plonk_test

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	kzg254 "github.com/consensys/gnark-crypto/ecc/bn254/kzg"
	srs "github.com/consensys/gnark-crypto/kzg"
	gnark "github.com/consensys/gnark/backend/plonk"
	"github.com/consensys/gnark/constraint"
	cs254 "github.com/consensys/gnark/constraint/bn254"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"
	"github.com/consensys/gnark/test/unsafekzg"

	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/gnark/kzg"
	"github.com/zkwarp/zkwarp/gnark/plonk"
)

// circuit is a power of X, with a commitment or without.
type circuit struct {
	X      frontend.Variable
	Y      frontend.Variable `gnark:",public"`
	commit bool
}

func (c *circuit) Define(api frontend.API) error {
	if c.commit {
		v, err := api.(frontend.Committer).Commit(c.X)
		if err != nil {
			return err
		}
		api.AssertIsDifferent(v, c.X)
	}
	api.AssertIsEqual(c.Y, api.Add(api.Mul(c.X, c.X, c.X), c.X, 5))
	return nil
}

func setUp(t *testing.T, id ecc.ID, c frontend.Circuit) (constraint.ConstraintSystem, srs.SRS, srs.SRS) {
	t.Helper()
	ccs, err := frontend.Compile(id.ScalarField(), scs.NewBuilder, c)
	if err != nil {
		t.Fatal(err)
	}
	monomial, lagrange, err := unsafekzg.NewSRS(ccs)
	if err != nil {
		t.Fatal(err)
	}
	return ccs, monomial, lagrange
}

// Keys are gnark's, on every device, and make proofs.
func TestSetup(t *testing.T) {
	for _, id := range []ecc.ID{ecc.BN254, ecc.BLS12_377, ecc.BLS12_381, ecc.BW6_761} {
		for name, commit := range map[string]bool{"plain": false, "commits": true} {
			t.Run(id.String()+"/"+name, func(t *testing.T) {
				ccs, monomial, lagrange := setUp(t, id, &circuit{commit: commit})
				wantPK, wantVK, err := gnark.Setup(ccs, monomial, lagrange)
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range []string{"cpu", "simt", "cuda"} {
					t.Run(name, func(t *testing.T) {
						if name == "simt" && (id != ecc.BN254 || !commit) {
							t.Skip("takes seconds; emulated for one circuit")
						}
						pk, vk, err := plonk.SetupContext(t.Context(), ccs, monomial, lagrange, kzg.WithDevice(devicetest.Open(t, name).Name()))
						if err != nil {
							t.Fatal(err)
						}
						if !reflect.DeepEqual(vk, wantVK) || !reflect.DeepEqual(pk, wantPK) {
							t.Error("the keys are not gnark's")
						}
						var ours, theirs bytes.Buffer
						if _, err := pk.WriteTo(&ours); err != nil {
							t.Fatal(err)
						}
						if _, err := wantPK.WriteTo(&theirs); err != nil {
							t.Fatal(err)
						}
						if !bytes.Equal(ours.Bytes(), theirs.Bytes()) {
							t.Error("the keys' bytes are not gnark's")
						}
						prove(t, id, ccs, pk, vk)
					})
				}
			})
		}
	}
}

// prove proves with our names what changing the import leaves of a program, and has the
// proof refused for another statement.
func prove(t *testing.T, id ecc.ID, ccs constraint.ConstraintSystem, pk plonk.ProvingKey, vk plonk.VerifyingKey) {
	full, err := frontend.NewWitness(&circuit{X: 3, Y: 35}, id.ScalarField())
	if err != nil {
		t.Fatal(err)
	}
	other, err := frontend.NewWitness(&circuit{X: 3, Y: 36}, id.ScalarField(), frontend.PublicOnly())
	if err != nil {
		t.Fatal(err)
	}
	public, err := full.Public()
	if err != nil {
		t.Fatal(err)
	}
	proof, err := plonk.Prove(ccs, pk, full)
	if err != nil {
		t.Fatal(err)
	}
	if err := plonk.Verify(proof, vk, public); err != nil {
		t.Error(err)
	}
	if plonk.Verify(proof, vk, other) == nil {
		t.Error("verifies another statement")
	}
}

func TestBadInput(t *testing.T) {
	ccs, monomial, lagrange := setUp(t, ecc.BN254, &circuit{})
	_, monomial381, lagrange381 := setUp(t, ecc.BLS12_381, &circuit{})
	rank1, err := frontend.Compile(ecc.BN254.ScalarField(), r1cs.NewBuilder, &circuit{})
	if err != nil {
		t.Fatal(err)
	}
	cut := func(s srs.SRS, n int) srs.SRS {
		c := *s.(*kzg254.SRS)
		c.Pk.G1 = c.Pk.G1[:n]
		return &c
	}
	n, _ := plonk.SRSSize(ccs)
	for name, x := range map[string]struct {
		ccs                constraint.ConstraintSystem
		monomial, lagrange srs.SRS
		says               string
	}{
		"an R1CS":                {rank1, monomial, lagrange, "no SparseR1CS"},
		"nothing":                {nil, monomial, lagrange, "<nil>"},
		"no constraint system":   {(*cs254.SparseR1CS)(nil), monomial, lagrange, "no constraint system"},
		"another curve":          {ccs, monomial381, lagrange381, "*kzg.SRS"},
		"no string":              {ccs, nil, lagrange, "<nil>"},
		"a string that is nil":   {ccs, (*kzg254.SRS)(nil), lagrange, "*kzg.SRS"},
		"a short string":         {ccs, cut(monomial, n-1), lagrange, "in monomial form has 10 points, 11 are wanted"},
		"a long Lagrange string": {ccs, monomial, monomial, "8 are wanted"},
	} {
		pk, vk, err := plonk.Setup(x.ccs, x.monomial, x.lagrange)
		if !errors.Is(err, kzg.ErrInput) || !strings.Contains(err.Error(), x.says) || pk != nil || vk != nil {
			t.Errorf("%s: %v, want %q", name, err, x.says)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := plonk.SetupContext(ended, ccs, monomial, lagrange); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context's end: %v", err)
	}
}

package prover

import (
	"encoding/hex"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// TestWeakKey lowers the security of a key; Verify must refuse it although
// everything else is right.
func TestWeakKey(t *testing.T) {
	k := mlp(t)
	parts := zkml.KeyParts{Program: k.Program, Mode: zkml.PublicWeights, WeightsDigest: k.vk.WeightsDigest()}
	parts.Settings.Inference.Commitments = make([]*whir.M31Params, plan.FirstCommitted)
	for _, h := range []plan.Home{plan.Witness, plan.Multiplicities} {
		vars := k.vk.Inference().Plan.Stacks[h].Vars
		p, err := whir.ChooseM31(vars, whir.Options{Lambda: 95})
		if err != nil {
			t.Fatal(err)
		}
		parts.Settings.Inference.Commitments[h] = p
	}
	vk, err := zkml.NewVerifyingKey(parts)
	if err != nil {
		t.Fatal(err)
	}
	pk, err := NewProvingKey(vk, k.Weights)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Prove(cpu(t), pk, k.X, nil)
	if err != nil {
		t.Fatal(err)
	}
	rejected(t, zkml.Verify(vk, k.X, r.Y, r.Proof, &zkml.Options{Weights: k.Weights}), zkml.CheckSecurity)
	weights, err := k.Weights.Encode(k.Program)
	if err != nil {
		t.Fatal(err)
	}
	zkmltest.Judge(t, "../testdata", []zkmltest.ScriptCase{{Key: hex.EncodeToString(vk.Encode()), Proof: hex.EncodeToString(r.Proof),
		X: k.X, Y: r.Y, Weights: hex.EncodeToString(weights), Check: zkml.CheckSecurity, Sum: zkml.Security(vk).Sum}})
}

func TestTooMuchSecurity(t *testing.T) {
	k := mlp(t)
	if _, _, err := Setup(cpu(t), k.Program, k.Weights, &SetupOptions{Security: 110}); err == nil {
		t.Error("setup claims 110 bits over a field of 124")
	}
}

// TestWork proves under a key that asks for work before the lookup challenges.
func TestWork(t *testing.T) {
	k := mlp(t)
	s := k.vk.Settings()
	s.Inference.Work, s.Weights.Work = 6, 3
	vk, pk := rekey(t, k, s)
	if err := vk.Check(); err != nil {
		t.Fatal(err)
	}
	r, err := Prove(cpu(t), pk, k.X, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := zkml.Verify(vk, k.X, r.Y, r.Proof, nil); err != nil {
		t.Fatal(err)
	}
	// A key that differs in nothing but the work on its own proof.
	s.Weights.Work = 2
	other, _ := rekey(t, k, s)
	header := other.Encode()[12:44]
	rejected(t, zkml.Verify(other, k.X, r.Y, slices.Concat(r.Proof[:12], header, r.Proof[44:]), nil), zkml.CheckWork, zkml.CheckTree)
	failed := 0
	for d := range m31.Element(8) {
		r, err := Prove(cpu(t), pk, k.X, &Options{hooks: hooks{proof: func(_ *session, p *zkml.Proof) { p.Nonce[0] += d + 1 }}})
		if err != nil {
			t.Fatal(err)
		}
		err = zkml.Verify(vk, k.X, r.Y, r.Proof, nil)
		rejected(t, err, zkml.CheckWork, zkml.CheckTree)
		if zkml.FailedCheck(err) == zkml.CheckWork {
			failed++
		}
	}
	if failed < 6 { // each other nonce works with probability 1/64
		t.Errorf("only %d of 8 wrong nonces are rejected as such", failed)
	}
}

// rekey makes the keys of a case with other settings.
func rekey(t *testing.T, k *keyed, s zkml.Settings) (*zkml.VerifyingKey, *ProvingKey) {
	t.Helper()
	vk, err := zkml.NewVerifyingKey(zkml.KeyParts{Program: k.Program, Mode: k.vk.Mode(), WeightsDigest: k.vk.WeightsDigest(), Root: k.vk.Root(), Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	pk, err := NewProvingKey(vk, k.Weights)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := proveWeights(cpu(t), pk, vk.WeightsArgument(), new(SetupOptions))
	if err != nil {
		t.Fatal(err)
	}
	if pk.vk, err = vk.WithWeightsProof(proof); err != nil {
		t.Fatal(err)
	}
	return pk.vk, pk
}

// TestKeyParts puts parts together that do not fit.
func TestKeyParts(t *testing.T) {
	k := mlp(t)
	for name, change := range map[string]func(p *zkml.KeyParts){
		"unknown mode":                    func(p *zkml.KeyParts) { p.Mode = 2 },
		"negative work":                   func(p *zkml.KeyParts) { p.Settings.Inference.Work = -1 },
		"too much work":                   func(p *zkml.KeyParts) { p.Settings.Weights.Work = zkml.MaxWork + 1 },
		"no commitment":                   func(p *zkml.KeyParts) { p.Settings.Inference.Commitments[plan.Witness] = nil },
		"no commitment to multiplicities": func(p *zkml.KeyParts) { p.Settings.Weights.Commitments[plan.Multiplicities] = nil },
		"other size": func(p *zkml.KeyParts) {
			p.Settings.Inference.Commitments[plan.Witness] = p.Settings.Inference.Commitments[plan.Multiplicities]
		},
		"two commitments to the parameters": func(p *zkml.KeyParts) {
			p.Settings.Weights.Commitments[plan.Parameters] = p.Settings.Inference.Commitments[plan.Parameters]
		},
		"weights' settings in public mode": func(p *zkml.KeyParts) {
			p.Mode = zkml.PublicWeights
			p.Settings.Inference.Commitments[plan.Parameters] = nil
		},
		"parameters committed in public mode": func(p *zkml.KeyParts) {
			p.Mode = zkml.PublicWeights
			p.Settings.Weights = zkml.ArgumentSettings{}
		},
		"invalid program": func(p *zkml.KeyParts) {
			q := *p.Program
			q.Outputs = []graph.TensorID{graph.None}
			p.Program = &q
		},
	} {
		t.Run(name, func(t *testing.T) {
			parts := zkml.KeyParts{Program: k.Program, WeightsDigest: k.vk.WeightsDigest(), Root: k.vk.Root(), Settings: k.vk.Settings()}
			change(&parts)
			if _, err := zkml.NewVerifyingKey(parts); err == nil {
				t.Error("parts that do not fit make a key")
			}
		})
	}
}

package prover

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// TestForgedWeights commits to weights that the program does not allow, and
// goes on honestly.
func TestForgedWeights(t *testing.T) {
	k := residual(t)
	params := k.Program.Params()
	own := k.vk.WeightsArgument().Plan
	// A tensor checked by one table, one checked by limbs, and one with padding.
	find := func(ok func(i int) bool) int {
		i := slices.IndexFunc(params, func(id graph.TensorID) bool { return ok(slices.Index(params, id)) })
		if i < 0 {
			t.Fatal("the case has no such tensor")
		}
		return i
	}
	narrow := find(func(i int) bool { return own.Limbs[i] == nil })
	wide := find(func(i int) bool { return own.Limbs[i] != nil })
	padded := find(func(i int) bool { return own.Polys[i].Padded() })
	for name, c := range map[string]struct {
		tensor, entry int
		value         func(t *graph.Tensor) int64
		checks        []string
	}{
		"above a table":      {narrow, 0, func(t *graph.Tensor) int64 { return t.Hi + 1 }, []string{zkml.CheckNumerator}},
		"below a table":      {narrow, 0, func(t *graph.Tensor) int64 { return t.Lo - 1 }, []string{zkml.CheckNumerator}},
		"above limbs":        {wide, 1, func(t *graph.Tensor) int64 { return t.Hi + 1 }, []string{zkml.CheckRelation}},
		"below limbs":        {wide, 1, func(t *graph.Tensor) int64 { return t.Lo - 1 }, []string{zkml.CheckRelation}},
		"far away":           {wide, 1, func(*graph.Tensor) int64 { return 1 << 29 }, []string{zkml.CheckRelation}},
		"nonzero in padding": {padded, -1, func(*graph.Tensor) int64 { return 1 }, []string{zkml.CheckSumcheck}},
	} {
		t.Run(name, func(t *testing.T) {
			opts := quick
			opts.hooks.params = func(p *plan.Plan, stack []m31.Element) {
				id := params[c.tensor]
				q := &p.Polys[id]
				at := q.Offset + c.entry
				if c.entry < 0 {
					at = q.Offset + 1<<q.Vars - 1
				}
				stack[at] = m31.FromInt(c.value(k.Program.Tensor(id)))
			}
			vk, pk, err := Setup(cpu(t), k.Program, k.Weights, &opts)
			if err != nil {
				t.Fatal(err)
			}
			err = vk.Check()
			rejected(t, err, zkml.CheckKeyProof)
			var outer, inner *zkml.Rejection
			if !errors.As(err, &outer) || !errors.As(outer.Err, &inner) || !slices.Contains(c.checks, inner.Check) {
				t.Errorf("rejected by %v, want %q within", err, c.checks)
			}
			r, err := Prove(cpu(t), pk, k.X, nil)
			if err != nil {
				t.Fatal(err)
			}
			rejected(t, zkml.Verify(vk, k.X, r.Y, r.Proof, nil), zkml.CheckKeyProof)
		})
	}
	bad := &graph.Weights{Data: slices.Clone(k.Weights.Data)}
	id := params[narrow]
	bad.Data[id] = slices.Clone(bad.Data[id])
	bad.Data[id][0] = int32(k.Program.Tensor(id).Hi + 1)
	if _, _, err := Setup(cpu(t), k.Program, bad, &quick); err == nil {
		t.Error("setup takes weights out of bounds")
	}
}

// TestKeyEncoding encodes and decodes keys, and damages them.
func TestKeyEncoding(t *testing.T) {
	for _, make := range allCases {
		k := make(t)
		code := k.vk.Encode()
		vk, err := zkml.DecodeVerifyingKey(code)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(vk.Encode(), code) || vk.Digest() != k.vk.Digest() {
			t.Error("a verifying key changes by encoding")
		}
		private, err := k.pk.Encode()
		if err != nil {
			t.Fatal(err)
		}
		pk, err := DecodeProvingKey(private)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Prove(cpu(t), pk, k.X, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := zkml.Verify(vk, k.X, r.Y, r.Proof, nil); err != nil {
			t.Fatal(err)
		}
	}
	k := mlp(t)
	again, _, err := Setup(cpu(t), k.Program, k.Weights, &quick)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Encode(), k.vk.Encode()) {
		t.Error("two setups give two keys")
	}
	code := k.vk.Encode()
	proofAt := len(code) - len(k.vk.WeightsProof())
	for at := range code {
		if at > proofAt && at%53 != 0 {
			continue // a proof's words have their own test
		}
		bad := bytes.Clone(code)
		bad[at] ^= 1 << (at % 8)
		vk, err := zkml.DecodeVerifyingKey(bad)
		if at < proofAt && err == nil {
			t.Fatalf("a key with byte %d changed decodes", at)
		}
		if err == nil {
			rejected(t, vk.Check(), zkml.CheckKeyProof)
		} else if !errors.Is(err, zkml.ErrFormat) {
			t.Fatalf("byte %d: %v is no format error", at, err)
		}
	}
	private, err := k.pk.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(private); n += 1 + n/7 {
		if _, err := DecodeProvingKey(private[:n]); err == nil {
			t.Fatalf("a proving key of %d bytes instead of %d decodes", n, len(private))
		}
	}
	for _, extra := range [][]byte{append(bytes.Clone(code), 0), code[:len(code)-1], nil, private} {
		if _, err := zkml.DecodeVerifyingKey(extra); !errors.Is(err, zkml.ErrFormat) {
			t.Errorf("%d bytes decode as a verifying key: %v", len(extra), err)
		}
	}
	bad := bytes.Clone(private)
	bad[len(bad)-1] ^= 1 // a weight
	if _, err := DecodeProvingKey(bad); !errors.Is(err, zkml.ErrFormat) {
		t.Errorf("a proving key with a changed weight decodes: %v", err)
	}
}

// TestForeignKeys verifies under keys that the proof is not for.
func TestForeignKeys(t *testing.T) {
	k := mlp(t)
	r := k.prove(t, hooks{})
	other := zkmltest.MLP(2, 1, 3, 5)
	id := other.Program.Params()[0]
	other.Weights.Data[id][0] ^= 1 // one weight
	vk, pk, err := Setup(cpu(t), other.Program, other.Weights, &quick)
	if err != nil {
		t.Fatal(err)
	}
	rejected(t, zkml.Verify(vk, k.X, r.Y, r.Proof, nil), zkml.CheckKeyDigest)
	s, err := Prove(cpu(t), pk, k.X, nil)
	if err != nil {
		t.Fatal(err)
	}
	rejected(t, zkml.Verify(k.vk, k.X, s.Y, s.Proof, nil), zkml.CheckKeyDigest)
	// The other proof under this key's digest.
	forged := append(bytes.Clone(r.Proof[:44]), s.Proof[44:]...)
	rejected(t, zkml.Verify(k.vk, k.X, s.Y, forged, nil), zkml.CheckTree, zkml.CheckLeafDen, zkml.CheckWork)
	if _, err := NewProvingKey(k.vk, other.Weights); err == nil {
		t.Error("a proving key takes weights that are not its key's")
	}
	// Keys whose own proof is missing, or another key's.
	for _, proof := range [][]byte{nil, vk.WeightsProof(), append(bytes.Clone(k.vk.WeightsProof()), 0)} {
		bad, err := k.vk.WithWeightsProof(proof)
		if err != nil {
			t.Fatal(err)
		}
		rejected(t, zkml.Verify(bad, k.X, r.Y, r.Proof, nil), zkml.CheckKeyProof)
	}
}

// TestWeakKey lowers the security of a key; Verify must refuse it although
// everything else is right.
func TestWeakKey(t *testing.T) {
	k := mlp(t)
	parts := zkml.KeyParts{Program: k.Program, Mode: zkml.PublicWeights, WeightsDigest: k.vk.WeightsDigest()}
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
	if _, _, err := Setup(cpu(t), k.Program, k.Weights, &SetupOptions{Security: 110}); err == nil {
		t.Error("setup claims 110 bits over a field of 124")
	}
}

// TestNeedlessWork asks for work where no challenge follows that it could
// protect; nobody would check its nonce.
func TestNeedlessWork(t *testing.T) {
	c := zkmltest.Plain(4)
	vk, _, err := Setup(cpu(t), c.Program, c.Weights, &quick)
	if err != nil {
		t.Fatal(err)
	}
	parts := zkml.KeyParts{Program: c.Program, WeightsDigest: vk.WeightsDigest(), Root: vk.Root(), Settings: vk.Settings()}
	if _, err := zkml.NewVerifyingKey(parts); err != nil {
		t.Fatal(err)
	}
	parts.Settings.Inference.Work = 1
	if _, err := zkml.NewVerifyingKey(parts); err == nil {
		t.Error("a key asks for work before lookups that there are not")
	}
}

// TestPublicWeights proves in public-weights mode.
func TestPublicWeights(t *testing.T) {
	for _, c := range []*zkmltest.Case{zkmltest.MLP(2, 1, 3, 5), zkmltest.Chain(7), zkmltest.Plain(4)} {
		t.Run(c.Name, func(t *testing.T) {
			opts := quick
			opts.Mode = zkml.PublicWeights
			vk, pk, err := Setup(cpu(t), c.Program, c.Weights, &opts)
			if err != nil {
				t.Fatal(err)
			}
			if len(vk.WeightsProof()) != 0 {
				t.Error("a key for public weights has a proof of them")
			}
			vk, err = zkml.DecodeVerifyingKey(vk.Encode())
			if err != nil {
				t.Fatal(err)
			}
			r, err := Prove(cpu(t), pk, c.X, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := zkml.Verify(vk, c.X, r.Y, r.Proof, &zkml.Options{Weights: c.Weights}); err != nil {
				t.Fatal(err)
			}
			rejected(t, zkml.Verify(vk, c.X, r.Y, r.Proof, nil), zkml.CheckWeights)
			other := &graph.Weights{Data: slices.Clone(c.Weights.Data)}
			id := c.Program.Params()[0]
			other.Data[id] = slices.Clone(other.Data[id])
			other.Data[id][0] ^= 1
			rejected(t, zkml.Verify(vk, c.X, r.Y, r.Proof, &zkml.Options{Weights: other}), zkml.CheckWeights)
			r, err = Prove(cpu(t), pk, c.X, &Options{hooks: hooks{input: func(s *session) error {
				return edit(s.q, s.stacks[plan.Parameters], func(v []m31.Element) { v[0] = v[0].Add(1) })
			}}})
			if err != nil {
				t.Fatal(err)
			}
			rejected(t, zkml.Verify(vk, c.X, r.Y, r.Proof, &zkml.Options{Weights: c.Weights}), zkml.CheckOpenParams)
		})
	}
}

// TestExtremes proves at the ends of the input's range, where sums are
// greatest.
func TestExtremes(t *testing.T) {
	for _, make := range allCases {
		k := make(t)
		in := k.Program.Tensor(k.Program.Input)
		for _, v := range []int64{in.Lo, in.Hi, 0} {
			x := slices.Repeat([]int32{int32(v)}, in.Len())
			t.Run(fmt.Sprintf("%s/%d", k.Name, v), func(t *testing.T) {
				r, err := Prove(cpu(t), k.pk, x, nil)
				if err != nil {
					t.Fatal(err)
				}
				y, err := zkml.Mock(k.Program, k.Weights, x)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(y, r.Y) {
					t.Fatalf("proved %v, mock says %v", r.Y, y)
				}
				if err := zkml.Verify(k.vk, x, y, r.Proof, nil); err != nil {
					t.Fatal(err)
				}
			})
		}
		if _, err := Prove(cpu(t), k.pk, slices.Repeat([]int32{int32(in.Hi) + 1}, in.Len()), nil); err == nil {
			t.Error("an input out of range is proved")
		}
		if _, err := Prove(cpu(t), k.pk, k.X[1:], nil); err == nil {
			t.Error("an input that is too short is proved")
		}
	}
}

// TestBounds gives Verify values whose residues are right but which are not
// the tensors'.
func TestBounds(t *testing.T) {
	k := mlp(t)
	r := k.prove(t, hooks{})
	wrap := func(v []int32) []int32 {
		w := slices.Clone(v)
		if w[0] > 0 {
			w[0] -= m31.P
		} else {
			w[0] += m31.P
		}
		return w
	}
	rejected(t, zkml.Verify(k.vk, wrap(k.X), r.Y, r.Proof, nil), zkml.CheckInput)
	rejected(t, zkml.Verify(k.vk, k.X, wrap(r.Y), r.Proof, nil), zkml.CheckOutput)
	rejected(t, zkml.Verify(k.vk, k.X[1:], r.Y, r.Proof, nil), zkml.CheckInput)
	rejected(t, zkml.Verify(k.vk, k.X, append(slices.Clone(r.Y), 0), r.Proof, nil), zkml.CheckOutput)
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
			q.Output = graph.None
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

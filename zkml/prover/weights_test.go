package prover

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
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
	t.Run("nonzero in padding that the guard overlooks", func(t *testing.T) {
		opts := quick
		q := &own.Polys[padded]
		opts.hooks.params = func(p *plan.Plan, stack []m31.Element) { stack[p.Polys[params[padded]].Offset+1<<q.Vars-1] = 1 }
		opts.hooks.guard = func(in *plan.Instance, table []m31.Element) {
			if in.Name == q.Name {
				table[len(table)-1] = 0
			}
		}
		vk, _, err := Setup(cpu(t), k.Program, k.Weights, &opts)
		if err != nil {
			t.Fatal(err)
		}
		err = vk.Check()
		rejected(t, err, zkml.CheckKeyProof)
		if !strings.Contains(err.Error(), zkml.CheckPublicFactor) {
			t.Errorf("rejected by %v", err)
		}
	})
	bad := &graph.Weights{Data: slices.Clone(k.Weights.Data)}
	id := params[narrow]
	values := bad.Of(id).Ints()
	values[0] = int32(k.Program.Tensor(id).Hi + 1)
	bad.Data[id] = graph.NewValues(values)
	if _, _, err := Setup(cpu(t), k.Program, bad, &quick); err == nil {
		t.Error("setup takes weights out of bounds")
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
			values := other.Of(id).Ints()
			values[0] ^= 1
			other.Data[id] = graph.NewValues(values)
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

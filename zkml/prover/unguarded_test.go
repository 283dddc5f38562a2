package prover

import (
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// TestUnguardedSums has the padding of summed axes in the sums, where a table's
// value of 0 is not 0, and leaves the guards out of the public factors.
func TestUnguardedSums(t *testing.T) {
	k := every(t)
	for _, name := range []string{"mixed", "sum"} {
		op := maker[graph.Einsum](t, k, name)
		r := k.prove(t, hooks{statement: restated, witness: unguarded(k, op)})
		rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckSumcheck)
		guards := 0
		r = k.prove(t, hooks{statement: restated, witness: unguarded(k, op), instance: forgePublic(name, func(axes []plan.Axis) {
			for i := range axes {
				if axes[i].Extent < 1<<axes[i].Vars {
					guards++
				}
				axes[i].Extent = 1 << axes[i].Vars
			}
		})})
		if guards == 0 {
			t.Fatalf("%q has no guard", name)
		}
		rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckPublicFactor)
	}
}

// unguarded sums over padded extents and runs the rest of the program.
func unguarded(k *keyed, op graph.Einsum) func(*session) error {
	return func(s *session) error {
		p := k.Program
		padded := func(id graph.TensorID) []int {
			if id == graph.None {
				return nil
			}
			return graph.PaddedShape(p.Tensor(id).Shape)
		}
		extents := p.Extents(op)
		extent := func(l uint8) int { return graph.Pow2(extents[l]) }
		roles := op.Roles()
		outer := op.OL
		offsets := func(labels, axes []uint8, id graph.TensorID) []int {
			return graph.Offsets(labels, extent, axes, padded(id))
		}
		a, out := s.polys[op.A].Host(), s.polys[op.Out].Host()
		ao, as := offsets(outer, op.AL, op.A), offsets(roles.Sum, op.AL, op.A)
		for i := range out {
			var sum m31.Element
			for n := range as {
				v := a[ao[i]+as[n]]
				if op.B != graph.None {
					b := s.polys[op.B].Host()
					v = v.Mul(b[offsets(outer, op.BL, op.B)[i]+offsets(roles.Sum, op.BL, op.B)[n]])
				}
				sum = sum.Add(v)
			}
			out[i] = sum
		}
		at := slices.IndexFunc(p.Ops, func(o graph.Op) bool { return o.Outputs()[0] == op.Out })
		for i := at + 1; i < len(p.Ops); i++ {
			if err := s.operation(p, i, p.Ops[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

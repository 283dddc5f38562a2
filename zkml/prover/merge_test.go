package prover

import (
	"bytes"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/whir"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// mergeHook is what a prover does instead of the claim merging's batch.
type mergeHook func(s *session, claims device.Buffer[m31.QM31], out sumprover.Output) error

// storedWeights merges claims by definition: with tables of the stacks and of their
// weights, which edit may change, in the order in which turn leaves them.
func storedWeights(edit func(s *session, h plan.Home, table []m31.QM31), turn func(x, vars int) int) mergeHook {
	return func(s *session, claims device.Buffer[m31.QM31], out sumprover.Output) error {
		ext, err := s.ext.Read(s.q)
		if err != nil {
			return err
		}
		shapes := s.plan.MergeShapes()
		instances := make([]sumprover.Instance, len(shapes))
		for i, h := range s.layout.merge.homes {
			st := &s.plan.Stacks[h]
			weight := make([]m31.QM31, 1<<st.Vars)
			scale := m31.OneQM31()
			for _, id := range st.Evals {
				e := &s.plan.Evals[id]
				z := make([]m31.QM31, len(e.Point))
				for k, c := range e.Point {
					z[k] = ext[c]
				}
				part := weight[s.plan.Polys[e.Poly].Offset:]
				for y, v := range mle.ScaledEqTable(z, scale) {
					part[y] = part[y].Add(v)
				}
				scale = scale.Mul(ext[s.gamma])
			}
			if edit != nil {
				edit(s, h, weight)
			}
			words, err := s.stacks[h].Read(s.q)
			if err != nil {
				return err
			}
			turned, turnedWeight := make([]m31.Element, len(words)), make([]m31.QM31, len(words))
			for x := range words {
				y := turn(x, st.Vars)
				turned[y], turnedWeight[y] = words[x], weight[x]
			}
			f, err := device.Upload(s.q, turned)
			if err != nil {
				return err
			}
			defer f.Free()
			w, err := device.Upload(s.q, turnedWeight)
			if err != nil {
				return err
			}
			defer w.Free()
			instances[i] = sumprover.Instance{Shape: shapes[i], Tables: []sumprover.Table{sumprover.Base(f), sumprover.Ext(w)}}
		}
		return sumprover.Run(s.q, s.tr, instances, claims, out)
	}
}

// lowestFirst is the index that has the bits of x in reverse, highestFirst is x.
func lowestFirst(x, vars int) (y int) {
	for k := range vars {
		y |= x >> k & 1 << (vars - 1 - k)
	}
	return y
}

func highestFirst(x, _ int) int { return x }

// weight changes the weight of the claim merging.
func weight(edit func(s *session, h plan.Home, table []m31.QM31)) mergeHook {
	return storedWeights(edit, lowestFirst)
}

// TestMergeStored compares proofs with those of a prover that merges claims by
// definition.
func TestMergeStored(t *testing.T) {
	for _, make := range allCases {
		k := make(t)
		t.Run(k.Name, func(t *testing.T) {
			if !bytes.Equal(k.prove(t, hooks{}).Proof, k.prove(t, hooks{merge: weight(nil)}).Proof) {
				t.Error("another proof than with the weights stored")
			}
		})
	}
}

// TestMergeOrder binds the variables of stacks from the highest down, and opens
// commitments at the challenges as they come.
func TestMergeOrder(t *testing.T) {
	k := mlp(t)
	asDrawn := func(_ *session, _ plan.Home, c whir.M31Claim) whir.M31Claim {
		c.Point = slices.Clone(c.Point)
		slices.Reverse(c.Point)
		return c
	}
	r := k.prove(t, hooks{merge: storedWeights(nil, highestFirst), open: asDrawn})
	rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckMerge)
	for h, check := range map[plan.Home]string{plan.Parameters: zkml.CheckOpenParams, plan.Witness: zkml.CheckOpenWitness, plan.Multiplicities: zkml.CheckOpenMult} {
		r := k.prove(t, hooks{open: func(s *session, g plan.Home, c whir.M31Claim) whir.M31Claim {
			if g == h {
				v, err := s.stacks[g].Read(s.q)
				if err != nil {
					t.Fatal(err)
				}
				c = asDrawn(s, g, c)
				c.Value = mle.EvaluateBase(v, c.Point)
			}
			return c
		}})
		rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), check)
	}
}

// TestStackPoint has the challenges of a stack in reverse, and leaves them as they are.
func TestStackPoint(t *testing.T) {
	at := func(v ...m31.Element) (out []m31.QM31) {
		for _, x := range v {
			out = append(out, m31.Lift(x))
		}
		return out
	}
	r := &sumcheck.Result{Point: at(1, 2, 3, 4)}
	if got := plan.StackPoint(r, 3); !slices.Equal(got, at(4, 3, 2)) || !slices.Equal(r.Point, at(1, 2, 3, 4)) {
		t.Errorf("point %v of challenges %v", got, r.Point)
	}
}

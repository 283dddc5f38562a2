package prover

import (
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
)

// set returns a hook that changes entries of a tensor after the forward pass.
func set(id graph.TensorID, f func(s *session, v []m31.Element)) func(*session) error {
	return func(s *session) error {
		return edit(s.q, s.polys[id], func(v []m31.Element) { f(s, v) })
	}
}

// TestForgedWitness has provers that follow the protocol with a witness that is
// not the program's.
func TestForgedWitness(t *testing.T) {
	both := func(a, b func(*session) error) func(*session) error {
		return func(s *session) error {
			if err := a(s); err != nil {
				return err
			}
			return b(s)
		}
	}
	// quotient moves entry 0 of the first lookup to another row of the table:
	// y is that row's, r is what makes the identity hold in the field.
	quotient := func(k *keyed, move int64) func(*session) error {
		l := k.lookups()[0]
		table := &k.Program.Tables[l.Table]
		shift := m31.New(1 << l.Shift)
		return func(s *session) error {
			x, err := s.polys[l.X].Read(s.q)
			if err != nil {
				return err
			}
			q := (int64(signed(x[0])) + l.Half()) >> l.Shift
			first := int64(1) << (table.Bits - 1)
			row := min(max(q+move+first, 0), int64(table.Rows()-1))
			if row == q+first { // at the table's edge: go the other way
				row = q - move + first
			}
			q2 := row - first
			return both(
				set(l.Y, func(_ *session, v []m31.Element) { v[0] = m31.FromInt(int64(table.At(q2))) }),
				set(l.Rem, func(_ *session, v []m31.Element) {
					v[0] = x[0].Add(m31.FromInt(l.Half())).Sub(shift.Mul(m31.FromInt(q2)))
				}),
			)(s)
		}
	}
	for _, make := range []func(testing.TB) *keyed{mlp, residual, unpadded} {
		k := make(t)
		l := k.lookups()[0]
		cases := map[string]func(*session) error{
			"quotient + 1, remainder - 2^s": quotient(k, 1),
			"quotient - 1, remainder + 2^s": quotient(k, -1),
			"any quotient":                  quotient(k, 9),
			"output not the table's":        set(l.Y, func(_ *session, v []m31.Element) { v[0] = v[0].Add(1) }),
			"remainder alone": set(l.Rem, func(_ *session, v []m31.Element) {
				v[0] ^= 1
			}),
			// acc + p has the same residue, but another quotient and remainder.
			"accumulator + p": func(s *session) error {
				x, err := s.polys[l.X].Read(s.q)
				if err != nil {
					return err
				}
				acc := int64(signed(x[0])) + m31.P + l.Half()
				r := acc & (1<<l.Shift - 1)
				return both(
					set(l.Rem, func(_ *session, v []m31.Element) { v[0] = m31.Element(r) }),
					set(l.Y, func(_ *session, v []m31.Element) { v[0] = 0 }),
				)(s)
			},
			"padding of a column": set(l.Y, func(_ *session, v []m31.Element) { v[len(v)-1] = v[len(v)-1].Add(1) }),
			"padding of a remainder": set(l.Rem, func(_ *session, v []m31.Element) {
				v[len(v)-1] = v[len(v)-1].Add(1 << l.Shift)
			}),
		}
		for name, cheat := range cases {
			t.Run(k.Name+"/"+name, func(t *testing.T) {
				r := k.prove(t, hooks{witness: func(s *session) error {
					if err := cheat(s); err != nil {
						return err
					}
					return nil
				}})
				rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckNumerator)
			})
		}
	}
}

// TestForeignTable takes outputs from another table of the same program.
func TestForeignTable(t *testing.T) {
	k := residual(t)
	r := foreignTable(t, k)
	rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckNumerator)
}

// foreignTable is the proof of a prover who does so.
func foreignTable(t *testing.T, k *keyed) *Result {
	t.Helper()
	l := k.lookups()
	if l[0].Table == l[1].Table || l[0].X != l[1].X {
		t.Fatal("the case should look one accumulator up in two tables")
	}
	pl := k.vk.Inference().Plan
	mult := func(l graph.Lookup) int { // the multiplicities of a lookup's table
		i := slices.IndexFunc(pl.Leaves, func(b plan.Leaves) bool { return len(b.C) == 2 && b.C[1].Terms[0].Of == int(l.Y) })
		return pl.Tables[pl.Leaves[i].Table].Mult
	}
	return k.prove(t, hooks{
		program: func(p *graph.Program) *graph.Program {
			q := *p
			q.Tables = slices.Clone(p.Tables)
			q.Tables[l[0].Table] = p.Tables[l[1].Table]
			return &q
		},
		// The first table's lookups are counted as the second's, where the
		// pairs are: all that is wrong is whose pairs they are.
		counts: func(s *session) error {
			a, err := s.polys[mult(l[0])].Read(s.q)
			if err != nil {
				return err
			}
			if err := edit(s.q, s.polys[mult(l[1])], func(v []m31.Element) { m31.AddVec(v, v, a) }); err != nil {
				return err
			}
			return s.polys[mult(l[0])].Zero(s.q)
		},
	})
}

// TestMultiplicities changes the counts after they were made.
func TestMultiplicities(t *testing.T) {
	k := mlp(t)
	pl := k.vk.Inference().Plan
	for i := range pl.Tables {
		for _, d := range []m31.Element{1, m31.P - 1} {
			r := k.prove(t, hooks{counts: func(s *session) error {
				return edit(s.q, s.polys[pl.Tables[i].Mult], func(v []m31.Element) { v[len(v)/2] = v[len(v)/2].Add(d) })
			}})
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckNumerator)
		}
	}
}

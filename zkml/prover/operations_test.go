package prover

import (
	"errors"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// tensor is the tensor of a name.
func (k *keyed) tensor(t testing.TB, name string) graph.TensorID {
	t.Helper()
	i := slices.IndexFunc(k.Program.Tensors, func(x graph.Tensor) bool { return x.Name == name })
	if i < 0 {
		t.Fatalf("no tensor %q", name)
	}
	return graph.TensorID(i)
}

// maker is the operation that makes the tensor of a name.
func maker[T graph.Op](t testing.TB, k *keyed, name string) T {
	t.Helper()
	id := k.tensor(t, name)
	for _, op := range k.Program.Ops {
		if own, ok := op.(T); ok && op.Outputs()[0] == id {
			return own
		}
	}
	t.Fatalf("%q is made by another operation", name)
	panic("unreachable")
}

// bucket is what a prover says about one entry of a Threshold: y, and limbs that
// make lo and hi what they should be, whether or not they are in range.
type bucket struct{ y, lo, hi int64 }

// claim writes a bucket at an entry. The high limbs take what the low ones leave,
// so that only a range check can tell.
func claim(op graph.Threshold, at int, b bucket) func(s *session) error {
	return func(s *session) error {
		x, err := s.polys[op.X].Read(s.q)
		if err != nil {
			return err
		}
		d, e := x[at].Sub(m31.FromInt(b.lo)), m31.FromInt(b.hi-1).Sub(x[at])
		values := []m31.Element{m31.FromInt(b.y), d & 0xffff, d >> 16, e & 0xffff, e >> 16}
		for i, id := range op.Outputs() {
			if err := set(id, func(_ *session, v []m31.Element) { v[at] = values[i] })(s); err != nil {
				return err
			}
		}
		return nil
	}
}

// all runs hooks one after the other.
func all(hooks ...func(*session) error) func(*session) error {
	return func(s *session) error {
		for _, h := range hooks {
			if err := h(s); err != nil {
				return err
			}
		}
		return nil
	}
}

// add changes an entry of a tensor by d.
func add(id graph.TensorID, at int, d int64) func(*session) error {
	return set(id, func(_ *session, v []m31.Element) { v[at] = v[at].Add(m31.FromInt(d)) })
}

// TestForgedThresholds claims other buckets than the accumulator's. What the
// program says of a threshold is lookups, so the fractions do not add up.
func TestForgedThresholds(t *testing.T) {
	k := every(t)
	op := maker[graph.Threshold](t, k, "bins")
	table := &k.Program.Tables[op.Table]
	values, err := graph.RunPadded(k.Program, k.Weights, k.X)
	if err != nil {
		t.Fatal(err)
	}
	// Rows of the result have four entries, the last of which is padding.
	x, y := values[op.X], values[op.Y]
	of := func(channel, i int) bucket {
		th := table.Thresholds(channel)
		return bucket{table.YLo + int64(i), int64(th[i]), int64(th[i+1])}
	}
	at := slices.IndexFunc(y[:3], func(v int32) bool { return int64(v) > table.YLo && int64(v) < table.YHi })
	if at < 0 {
		t.Fatal("no entry has neighbours on both sides")
	}
	row := int(int64(y[at]) - table.YLo)
	// An entry that another channel would put into another bucket.
	other, foreign := -1, 0
	for i := range 11 {
		for c := range 3 {
			if got, _, _ := table.StepAt(c, int64(x[i])); i%4 < 3 && c != i%4 && got != y[i] {
				other, foreign = i, c
			}
		}
	}
	if other < 0 {
		t.Fatal("all channels agree")
	}
	got, lo, hi := table.StepAt(foreign, int64(x[other]))
	cases := map[string]func(*session) error{
		"next value":              claim(op, at, of(at, row+1)),
		"value before":            claim(op, at, of(at, row-1)),
		"value alone":             add(op.Y, at, 1),
		"bucket of no value":      claim(op, 1, of(1, 0)),
		"last bucket of no value": claim(op, 2, of(2, 4)),
		"another channel":         claim(op, other, bucket{int64(got), int64(lo), int64(hi)}),
		"value beyond the table":  claim(op, at, bucket{table.YHi + 1, int64(x[at]), int64(x[at]) + 1}),
		"bounds of its own":       claim(op, at, bucket{int64(y[at]), int64(x[at]), int64(x[at]) + 1}),
		"padding":                 claim(op, 3, bucket{table.YHi, table.Limit, table.Limit + 1}),
		"lower limb":              add(op.D[0], at, 1),
		"upper limb":              add(op.E[1], at, 1),
		"limbs that carry":        all(add(op.D[0], at, 1<<16), add(op.D[1], at, -1)),
		"limbs that borrow":       all(add(op.E[0], at, -1<<16), add(op.E[1], at, 1)),
		"limbs of d + p": set(op.D[0], func(s *session, v []m31.Element) {
			// d + p is d with low limb 0 and the high one d / 2^16 in the field.
			h := s.polys[op.D[1]].Host()
			h[at] = h[at].Add(v[at].Mul(m31.New(1 << 16).Inverse()))
			v[at] = 0
		}),
	}
	for name, cheat := range cases {
		t.Run(name, func(t *testing.T) {
			r := k.prove(t, hooks{witness: cheat})
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckNumerator)
		})
	}
}

// TestWidestThreshold is the forgery that is possible if accumulators may reach
// 2^29: a false value from a bucket that no accumulator is in. Programs with such
// accumulators are invalid; at the widest valid limit a limb is out of range.
func TestWidestThreshold(t *testing.T) {
	make := func(limit int64) (*graph.Program, *graph.Weights, error) {
		b := graph.NewBuilder("widest")
		x := b.Input("x", []int{4}, -limit, limit, 1)
		// A ReLU: -1 never occurs, 0 does up to 0, 1 from there on.
		table := b.StepsTable("relu", 1, -1, limit, []int32{int32(-limit), int32(-limit), 1, int32(limit + 1)})
		return b.Build(b.Threshold("y", x, -1, table, 1), graph.NoPost, nil)
	}
	if _, _, err := make(1 << 29); !errors.Is(err, graph.ErrInvalid) && err == nil {
		t.Fatal("accumulators may reach 2^29")
	}
	const limit = 1<<29 - 1
	p, w, err := make(limit)
	if err != nil {
		t.Fatal(err)
	}
	k := &keyed{Case: &zkmltest.Case{Name: p.Name, Program: p, Weights: w, X: []int32{limit - 1, -limit, 0, limit}}}
	if k.vk, k.pk, err = Setup(cpu(t), p, w, &quick); err != nil {
		t.Fatal(err)
	}
	r := k.prove(t, hooks{})
	if err := zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil); err != nil || !slices.Equal(r.Y, []int32{1, 0, 0, 1}) {
		t.Fatalf("%v: %v", r.Y, err)
	}
	op := maker[graph.Threshold](t, k, "y")
	empty := bucket{-1, -limit, -limit}
	r = k.prove(t, hooks{witness: claim(op, 0, empty), statement: func(_ *session, x, y []int32) ([]int32, []int32) {
		y[0] = -1
		return x, y
	}})
	rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckNumerator)
}

// TestForgedPairs takes the row of other operands.
func TestForgedPairs(t *testing.T) {
	k := every(t)
	op := maker[graph.Pair](t, k, "paired")
	table := &k.Program.Tables[op.Table]
	values, err := graph.RunPadded(k.Program, k.Weights, k.X)
	if err != nil {
		t.Fatal(err)
	}
	a, b, y := values[op.A], values[op.B], values[op.Y]
	swapped := slices.IndexFunc(y, func(int32) bool { return true })
	for i := range y {
		if int64(b[i]) < 4 && table.AtPair(int64(b[i]), int64(a[i])) != y[i] {
			swapped = i
		}
	}
	for name, cheat := range map[string]func(*session) error{
		"another value": add(op.Y, 0, 1),
		"swapped operands": set(op.Y, func(_ *session, v []m31.Element) {
			v[swapped] = m31.FromInt(int64(table.AtPair(int64(b[swapped]), int64(a[swapped]))))
		}),
		"padding": add(op.Y, len(y)-1, 1),
	} {
		t.Run(name, func(t *testing.T) {
			r := k.prove(t, hooks{witness: cheat})
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckNumerator)
		})
	}
}

// TestForeignTokens embeds other tokens than the statement's.
func TestForeignTokens(t *testing.T) {
	k := every(t)
	x := slices.Clone(k.X)
	x[0] = (x[0] + 1) % 5
	r := k.prove(t, hooks{statement: func(_ *session, _, y []int32) ([]int32, []int32) { return x, y }})
	rejected(t, zkml.Verify(k.vk, x, r.Y, r.Proof, nil), zkml.CheckPublicFactor)
	// With the public factor of the statement, the sum is another.
	r = k.prove(t, hooks{
		statement: func(_ *session, _, y []int32) ([]int32, []int32) { return x, y },
		instance: func(s *session, in *plan.Instance, public []m31.QM31, _ []sumprover.Table) {
			if in.Kind == plan.Embedding {
				inputs := make([][]m31.Element, len(s.polys))
				id := k.Program.Inputs[0]
				inputs[id] = slices.Clone(s.polys[id].Host())
				inputs[id][0] = m31.Element(x[0])
				copy(public, in.Public[0].Table(mle.EqTable(s.point(in.Public[0].At)), inputs))
			}
		},
	})
	rejected(t, zkml.Verify(k.vk, x, r.Y, r.Proof, nil), zkml.CheckSumcheck)
}

// point is a point of the plan, as far as it has been drawn.
func (s *session) point(p plan.Point) []m31.QM31 {
	out := make([]m31.QM31, len(p))
	for i, c := range p {
		out[i] = s.ext.Host()[c]
	}
	return out
}

// forgePublic replaces parts of a public factor by those of other axes.
func forgePublic(name string, change func(axes []plan.Axis)) publicHook {
	return func(s *session, in *plan.Instance, public []m31.QM31, _ []sumprover.Table) {
		if in.Name != name {
			return
		}
		axes := slices.Clone(in.Public)
		change(axes)
		table := []m31.QM31{m31.OneQM31()}
		for i := range axes {
			part := axes[i].Table(mle.EqTable(s.point(axes[i].At)), nil)
			next := make([]m31.QM31, 0, len(table)*len(part))
			for _, u := range table {
				for _, v := range part {
					next = append(next, u.Mul(v))
				}
			}
			table = next
		}
		copy(public, table)
	}
}

// replaced takes all tensors from a program with another operation in place of
// the one that makes a tensor.
func replaced[T graph.Op](t testing.TB, k *keyed, name string, change func(op *T)) func(*session) error {
	t.Helper()
	q := *k.Program
	q.Ops = slices.Clone(q.Ops)
	own := maker[T](t, k, name)
	for i, op := range q.Ops {
		if op.Outputs()[0] == own.Outputs()[0] {
			changed := own
			change(&changed)
			q.Ops[i] = changed
		}
	}
	values, err := graph.RunPadded(&q, k.Weights, k.X)
	if err != nil {
		t.Fatal(err)
	}
	return func(s *session) error {
		for i, v := range values {
			if kind := q.Tensors[i].Kind; kind != graph.Column && kind != graph.Virtual {
				continue
			}
			if err := s.polys[i].CopyFrom(s.q, plan.Embed(v)); err != nil {
				return err
			}
		}
		return nil
	}
}

// restated states the outputs that the witness has by now.
func restated(s *session, x, _ []int32) (x2, y []int32) {
	p := s.pk.vk.Program()
	for _, id := range p.Outputs {
		for _, v := range graph.Unpad(p.Tensor(id).Shape, s.polys[id].Host()) {
			y = append(y, signed(v))
		}
	}
	return x, y
}

// otherIndex has entries 1 and 2 of the windows' map swapped.
func otherIndex(index []int32) []int32 {
	index = slices.Clone(index)
	index[1], index[2] = index[2], index[1]
	return index
}

// TestForgedMaps rearranges by another map: by itself, and with the public
// factor that belongs to it.
func TestForgedMaps(t *testing.T) {
	k := every(t)
	witness := replaced(t, k, "windows", func(op *graph.Rearrange) {
		op.Maps = slices.Clone(op.Maps)
		op.Maps[0].Index = otherIndex(op.Maps[0].Index)
	})
	r := k.prove(t, hooks{statement: restated, witness: witness})
	rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckSumcheck)
	r = k.prove(t, hooks{statement: restated, witness: witness, instance: forgePublic("windows", func(axes []plan.Axis) {
		axes[0].Index = otherIndex(axes[0].Index)
	})})
	rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckPublicFactor)
	// A transposition that is not done is a relation.
	r = k.prove(t, hooks{witness: set(k.tensor(t, "turned"), func(_ *session, v []m31.Element) { v[0], v[1] = v[1].Add(1), v[0] })})
	rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckRelation)
}

// TestForgedEinsums multiplies other axes, and sums over padding.
func TestForgedEinsums(t *testing.T) {
	k := every(t)
	labels := func(name, formula string) func(*session) error {
		return replaced(t, k, name, func(op *graph.Einsum) {
			var err error
			if op.AL, op.BL, op.OL, err = graph.ParseEinsum(formula); err != nil {
				t.Fatal(err)
			}
		})
	}
	for name, witness := range map[string]func(*session) error{
		"heads and entries swapped": labels("scores", "ihd,jdh->hij"),
		"queries and keys swapped":  labels("scores", "ihd,jhd->hji"),
		"weights transposed":        labels("mixed", "hji,jhd->ihd"),
		"kernel's rows for columns": labels("conv", "ukc,cko->uo"),
		"a product of transposed":   labels("product", "uo,uo->uo"),
		"columns summed for rows":   labels("sum", "uo->o"),
	} {
		t.Run(name, func(t *testing.T) {
			r := k.prove(t, hooks{statement: restated, witness: witness})
			if slices.Equal(r.Y, k.Output()) {
				t.Fatal("the outputs are the program's")
			}
			rejected(t, zkml.Verify(k.vk, k.X, r.Y, r.Proof, nil), zkml.CheckSumcheck)
		})
	}
}

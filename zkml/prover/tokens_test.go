package prover

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/zkml"
	"github.com/zkwarp/zkwarp/zkml/graph"
	"github.com/zkwarp/zkwarp/zkml/internal/plan"
	"github.com/zkwarp/zkwarp/zkml/internal/zkmltest"
)

// embedded is an embedding of three committed tokens by a table of eleven rows,
// and nothing else.
var embedded = onceWith(SetupOptions{Commitment: quick.Commitment, Commits: zkml.Commits{Inputs: []int{0}}}, func() *zkmltest.Case {
	b := graph.NewBuilder("embedded")
	rows := make([]int32, 22)
	for i := range rows {
		rows[i] = int32(i*i%23 - 9)
	}
	rows[21] = -100 // so that sums of rows are within bounds
	p, w, err := b.Build(b.Embed("y", b.Input("ids", []int{3}, 0, 10, 1), b.Param("w", []int{11, 2}, rows, 1), 1), graph.NoPost, nil)
	if err != nil {
		panic(err)
	}
	return &zkmltest.Case{Name: p.Name, Program: p, Weights: w, X: []int32{6, 3, 10}}
})

// hot is what a prover says of the first of the tokens of embedded: the bits that
// it commits to, from the lowest on, and by parts of one-hot polynomials, first bit and number of bits, their entries.
type hot struct {
	bits  []int64
	parts map[[2]int][]int64
}

// lie has everything else follow from it: the parts that others are products of,
// the embedding's factor, its rows, and the output.
func (h hot) lie(t *testing.T, k *keyed) hooks {
	pl := k.vk.Inference().Plan
	top := map[string][]m31.Element{}
	var product func(s *session, o plan.OneHot) []m31.Element
	product = func(s *session, o plan.OneHot) []m31.Element {
		if e, ok := h.parts[[2]int{o.First, o.Bits}]; ok && !o.Real {
			out := make([]m31.Element, len(e))
			for i, v := range e {
				out[i] = m31.FromInt(v)
			}
			return out
		}
		if o.Bits == 1 {
			b := s.polys[h.bit(pl, o.First)].Host()[0]
			return []m31.Element{m31.New(1).Sub(b), b}
		}
		low := o.Bits / 2
		high := product(s, plan.OneHot{Tokens: o.Tokens, First: o.First + low, Bits: o.Bits - low})
		var out []m31.Element
		for _, a := range high {
			for _, b := range product(s, plan.OneHot{Tokens: o.Tokens, First: o.First, Bits: low}) {
				out = append(out, a.Mul(b))
			}
		}
		return out
	}
	row := make([]int32, 2)
	return hooks{
		witness: func(s *session) error {
			for i, v := range h.bits {
				s.polys[h.bit(pl, i)].Host()[0] = m31.FromInt(v)
			}
			for _, o := range pl.OneHots {
				e := product(s, o)
				if o.Real {
					top["real"] = e
					continue
				}
				copy(s.polys[o.Poly].Host(), e)
			}
			y, w := s.polys[k.tensor(t, "y")].Host(), s.polys[k.tensor(t, "w")].Host()
			for d := range row {
				y[d] = 0
				for z, e := range top["real"] {
					y[d] = y[d].Add(e.Mul(w[2*z+d]))
				}
				row[d] = signed(y[d])
			}
			return nil
		},
		statement: func(_ *session, x, y []int32) ([]int32, []int32) {
			copy(y, row)
			return x, y
		},
		instance: func(s *session, in *plan.Instance, public []m31.QM31, _ []sumprover.Table) {
			if in.Kind == plan.Embedding {
				eq := mle.EqTable(s.point(in.Public[0].At))
				tokens := s.polys[in.Public[0].Tokens].Host()
				public[tokens[0]] = public[tokens[0]].Sub(eq[0])
				for z, e := range top["real"] {
					public[z] = public[z].Add(eq[0].MulBase(e))
				}
			}
		},
	}
}

// bit is the polynomial of the tokens' bit of a number.
func (hot) bit(pl *plan.Plan, i int) int {
	r := pl.Committed[0].Ranges
	return r[len(r)-1].Limbs[i]
}

// TestForgedTokens has provers that embed other rows than those of the tokens
// that they have committed to: each is consistent everywhere but in one place.
// The first token is 6.
func TestForgedTokens(t *testing.T) {
	k := embedded(t)
	five := map[[2]int][]int64{{0, 1}: {0, 1}, {1, 1}: {1, 0}}
	for name, c := range map[string]struct {
		hot
		check, names string
	}{
		"nothing":                             {hot{}, "", ""},
		"another row":                         {hot{parts: five}, zkml.CheckRelation, "ids: bits"},
		"another row of all its bits":         {hot{bits: []int64{1, 0, 1, 0}}, zkml.CheckRelation, `"ids"`},
		"two rows":                            {hot{parts: map[[2]int][]int64{{0, 1}: {1, 1}}}, zkml.CheckRelation, "ids: bits 0 to 0"},
		"no row":                              {hot{parts: map[[2]int][]int64{{3, 1}: {0, 0}}}, zkml.CheckRelation, "ids: bits 3 to 3"},
		"a row times two":                     {hot{parts: map[[2]int][]int64{{2, 1}: {0, 2}}}, zkml.CheckRelation, "ids: bits 2 to 2"},
		"two rows, by the upper bits' part":   {hot{parts: map[[2]int][]int64{{2, 2}: {1, 1, 0, 0}}}, zkml.CheckSumcheck, ""},
		"no row, by the lower bits' part":     {hot{parts: map[[2]int][]int64{{0, 2}: {0, 0, 0, 0}}}, zkml.CheckSumcheck, ""},
		"bits that are none, of the same sum": {hot{bits: []int64{2, 0, 1, 0}}, zkml.CheckNumerator, ""},
		"bits that are none, of the same sum modulo p": {hot{bits: []int64{0, 3, 0, 0}}, zkml.CheckNumerator, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := k.proveSalted(t, c.lie(t, k))
			err := zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, nil)
			if c.check == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if rejected(t, err, c.check); !strings.Contains(err.Error(), c.names) {
				t.Errorf("%v, want %s named", err, c.names)
			}
		})
	}
}

// TestTokensBeyondRows commits to tokens that there are no rows for, and leaves
// out or adds positions.
func TestTokensBeyondRows(t *testing.T) {
	k := embedded(t)
	pl := k.vk.Inference().Plan
	ids := pl.Committed[0].Poly
	for _, v := range []int64{11, 15, 16, -1} {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			h := hooks{witness: changed(ids, func(e []m31.Element) { e[1] = m31.FromInt(v) })}
			h.evaluation = func(s *session, _ int, e m31.QM31) m31.QM31 { // once lookups are made: embeddings have rows again
				s.polys[ids].Host()[1] = 3
				return e
			}
			r := k.proveSalted(t, h)
			rejected(t, zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, nil), zkml.CheckNumerator)
		})
	}
	t.Run("padding has a row", func(t *testing.T) {
		r := k.proveSalted(t, hooks{instance: forgePublic("ids: among 2^4 rows", func(axes []plan.Axis) { axes[0].Extent = 4 })})
		rejected(t, zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, nil), zkml.CheckSumcheck, zkml.CheckPublicFactor)
	})
	t.Run("padding has a row, consistently", func(t *testing.T) {
		root := forgePublic("ids: among 2^4 rows", func(axes []plan.Axis) { axes[0].Extent = 4 })
		r := k.proveSalted(t, hooks{
			witness: func(s *session) error {
				y, w := s.polys[k.tensor(t, "y")].Host(), s.polys[k.tensor(t, "w")].Host()
				copy(y[6:], w[:2])
				return nil
			},
			instance: func(s *session, in *plan.Instance, public []m31.QM31, others []sumprover.Table) {
				if root(s, in, public, others); in.Kind == plan.Embedding {
					public[0] = public[0].Add(mle.EqTable(s.point(in.Public[0].At))[3])
				}
			},
		})
		rejected(t, zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, nil), zkml.CheckPublicFactor)
	})
}

// TestTokensByScript has the verifier in Python judge a proof about embeddings of
// every kind, and forgeries.
func TestTokensByScript(t *testing.T) {
	zkmltest.Python(t) // or skip
	var cases []zkmltest.ScriptCase
	judge := func(k *keyed, h hooks, check string) {
		t.Helper()
		r := k.proveSalted(t, h)
		err := zkml.VerifyStatement(k.vk, &r.Statement, r.Proof, nil)
		if zkml.FailedCheck(err) != check {
			t.Fatalf("%v, want a rejection by %q", err, check)
		}
		c := zkmltest.ScriptCase{Key: hex.EncodeToString(k.vk.Encode()), Proof: hex.EncodeToString(r.Proof), X: r.Statement.X, Y: r.Statement.Y,
			Check: check, Sum: zkml.Security(k.vk).Sum}
		for i := range r.Statement.Commitments {
			c.Commitments = append(c.Commitments, hex.EncodeToString(r.Statement.Commitments[i].Encode()))
		}
		cases = append(cases, c)
	}
	opts := quick
	opts.Commits.Inputs = []int{0, 1, 2, 3}
	all := onceWith(opts, func() *zkmltest.Case { return zkmltest.Tokens(2) })(t)
	judge(all, hooks{}, "")
	k := embedded(t)
	judge(k, hooks{}, "")
	judge(k, hot{bits: []int64{1, 0, 1, 0}}.lie(t, k), zkml.CheckRelation)
	judge(k, hot{bits: []int64{2, 0, 1, 0}}.lie(t, k), zkml.CheckNumerator)
	judge(k, hot{parts: map[[2]int][]int64{{0, 1}: {1, 1}}}.lie(t, k), zkml.CheckRelation)
	judge(k, hot{parts: map[[2]int][]int64{{2, 2}: {1, 1, 0, 0}}}.lie(t, k), zkml.CheckSumcheck)
	if slices.ContainsFunc(cases[2:], func(c zkmltest.ScriptCase) bool { return c.Check == "" }) {
		t.Error("a forgery without a check")
	}
	zkmltest.Judge(t, filepath.Join("..", "testdata"), cases)
}

// TestRandomTokens proves embeddings by tables of all sizes, one of a language
// model's among them, of tokens of all shapes.
func TestRandomTokens(t *testing.T) {
	sizes := []int{1, 2, 3, 4, 5, 16, 17, 100, 129}
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 37))
		b := graph.NewBuilder("random tokens")
		var x []int32
		var outputs []graph.TensorID
		opts := quick
		for i := range 1 + rng.IntN(3) {
			shape := []int{}
			for range rng.IntN(4) {
				shape = append(shape, 1+rng.IntN(5))
			}
			rows := []int{sizes[rng.IntN(len(sizes))], sizes[rng.IntN(len(sizes))]}
			if seed == 0 {
				rows[0], rows[1], opts.Mode = 151936, 151936, zkml.PublicWeights
			}
			most := min(rows[0], rows[1])
			for range graph.Elements(shape) {
				x = append(x, int32(most-1-rng.IntN(min(most, 1+rng.IntN(most)))))
			}
			ids := b.Input(fmt.Sprint("ids", i), shape, 0, int64(most-1), 1)
			for k, n := range rows {
				w := make([]int32, n*(k+1))
				for j := range w {
					w[j] = int32(rng.IntN(1<<16) - 1<<15) // sums of all rows would be beyond bounds
				}
				name := fmt.Sprint("y", i, k)
				outputs = append(outputs, b.Embed(name, ids, b.Param(name+".w", []int{n, k + 1}, w, 1), 1))
			}
			if i%2 == 0 {
				opts.Commits.Inputs = append(opts.Commits.Inputs, i)
			}
		}
		p, w, err := b.BuildAll(outputs, nil)
		if err != nil {
			t.Fatal(err)
		}
		vk, pk, err := Setup(cpu(t), p, w, &opts)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Prove(cpu(t), pk, x, nil)
		if err != nil {
			t.Fatal(err)
		}
		o := &zkml.Options{}
		if opts.Mode == zkml.PublicWeights {
			o.Weights = w
		}
		if err := zkml.VerifyStatement(vk, &r.Statement, r.Proof, o); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if want, err := graph.Output(p, w, x); err != nil || !slices.Equal(r.Y, want) {
			t.Errorf("seed %d: proved other outputs than the program's (%v)", seed, err)
		}
	}
}

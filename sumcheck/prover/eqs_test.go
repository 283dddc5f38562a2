package prover_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
	"github.com/zkwarp/zkwarp/transcript"
	tprover "github.com/zkwarp/zkwarp/transcript/prover"
)

// block is a summand of a sum of eqs with two tables of its own.
type block struct {
	at, vars, bits int
	low, high      []m31.QM31
}

func newBlock(rng *rand.Rand, at, vars, bits int) block {
	return block{at, vars, bits, sumchecktest.Random(rng, 1<<bits), sumchecktest.Random(rng, 1<<(vars-bits))}
}

// eqsCase is tables of words of 2^vars[i] entries, each weighed by the blocks that lie
// in it; they are counted from multiples of a tile on.
type eqsCase struct {
	vars   []int
	firsts []int
	words  [][]m31.Element
	blocks []block
}

func newEqsCase(rng *rand.Rand, vars ...int) *eqsCase {
	c := &eqsCase{vars: vars}
	next := 0
	for _, v := range vars {
		c.firsts = append(c.firsts, next)
		w := make([]m31.Element, 1<<v)
		for i := range w {
			w[i] = m31.Element(rng.Uint32N(m31.P))
		}
		c.words = append(c.words, w)
		// All of the table, a half, a quarter twice, a single entry, and gaps.
		c.blocks = append(c.blocks, newBlock(rng, next, v, 3), newBlock(rng, next+1<<(v-1), v-1, v-1), newBlock(rng, next+1<<(v-2), v-2, 0),
			newBlock(rng, next+1<<(v-2), v-2, 5), newBlock(rng, next+5, 0, 0))
		next += (1<<v + prover.EqsTile - 1) / prover.EqsTile * prover.EqsTile
	}
	return c
}

// stored is the weights of table i by definition.
func (c *eqsCase) stored(i int) []m31.QM31 {
	w := make([]m31.QM31, 1<<c.vars[i])
	for _, b := range c.blocks {
		for y := range 1 << b.vars {
			if x := b.at + y - c.firsts[i]; x >= 0 && x < len(w) {
				w[x] = w[x].Add(b.high[y>>b.bits].Mul(b.low[y&(1<<b.bits-1)]))
			}
		}
	}
	return w
}

// eqs is the same as the device has it; its First is that of the first table.
func (c *eqsCase) eqs(t *testing.T, q *device.Queue) prover.Eqs {
	t.Helper()
	var factors []m31.QM31
	var desc []uint64
	var e prover.Eqs
	for _, b := range c.blocks {
		words := prover.EqBlock(b.at, b.vars, b.bits, len(factors), len(factors)+len(b.low))
		desc = append(desc, words[:]...)
		factors = slices.Concat(factors, b.low, b.high)
	}
	last := len(c.vars) - 1
	var tiles []uint64
	for at := 0; at < c.firsts[last]+1<<c.vars[last]; at += prover.EqsTile {
		list, n := len(desc), 0
		for i, b := range c.blocks {
			if b.at < at+prover.EqsTile && b.at+1<<b.vars > at {
				desc = append(desc, uint64(i))
				n++
			}
		}
		tiles = append(tiles, uint64(list)<<32|uint64(n))
	}
	e.Tiles = len(desc)
	e.Factors, e.Desc = devicetest.Upload(t, q, factors), devicetest.Upload(t, q, append(desc, tiles...))
	return e
}

// TestEqs compares sums of eqs that are made where they are read with the same tables
// stored, beside an instance of another kind, within limits of every kind.
func TestEqs(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		if q.OnHost() {
			t.Skip("the CPU has no passes")
		}
		rng := rand.New(rand.NewPCG(21, 5))
		limits := append(every(), prover.Limits{Window: 3, Tail: 4096, Units: 3}, prover.Limits{Window: 2, Tail: 900, Units: 2})
		for i, vars := range [][]int{{prover.MinEqsVars}, {12, 9, prover.MinEqsVars}, {9, 11}} {
			c := newEqsCase(rng, vars...)
			eqs := c.eqs(t, q)
			var words []device.Buffer[m31.Element]
			var weights []device.Buffer[m31.QM31]
			var sums []m31.QM31
			for j := range vars {
				sums = append(sums, m31.DotBase(c.words[j], c.stored(j)))
				words, weights = append(words, devicetest.Upload(t, q, c.words[j])), append(weights, devicetest.Upload(t, q, c.stored(j)))
			}
			other := devicetest.Upload(t, q, c.words[0][:1<<7])
			if i == 2 {
				sums = append(sums, m31.Lift(m31.Dot(c.words[0][:1<<7], c.words[0][:1<<7])))
			}
			for k, l := range limits {
				if i == 1 && k%2 == 1 {
					continue
				}
				proveEqs := func(stored bool) (*sumcheck.Proof, *sumcheck.Result, transcript.State) {
					var ins []prover.Instance
					for j, v := range vars {
						in := prover.Instance{Shape: sumcheck.Product(v, 2), Tables: []prover.Table{prover.Base(words[j]), prover.Ext(weights[j])}}
						if !stored {
							e := eqs
							e.First = c.firsts[j]
							in.Tables[1] = prover.Table{Eqs: &e}
						}
						ins = append(ins, in)
					}
					if i == 2 {
						ins = append(ins, prover.Instance{Shape: sumcheck.Product(7, 2), Tables: []prover.Table{prover.Base(other), prover.Base(other)}})
					}
					tr, err := tprover.FromHost(q, newTranscript())
					if err != nil {
						t.Fatal(err)
					}
					defer tr.Free()
					proof, r, err := prover.ProveWithin(q, tr, ins, sums, l)
					if err != nil {
						t.Fatal(err)
					}
					after, err := tr.Host()
					if err != nil {
						t.Fatal(err)
					}
					return proof, r, after.State()
				}
				want, at, state := proveEqs(true)
				got, r, after := proveEqs(false)
				if !slices.Equal(got.Rounds, want.Rounds) || !slices.Equal(got.Evals, want.Evals) || !slices.Equal(r.Point, at.Point) || after != state {
					t.Fatalf("%v within %v: another proof than with the weights stored", vars, l)
				}
			}
		}
	})
}

// TestEqsShape refuses sums of eqs where no kernel makes them.
func TestEqsShape(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		c := newEqsCase(rand.New(rand.NewPCG(22, 5)), 9)
		eqs := c.eqs(t, q)
		words := devicetest.Upload(t, q, c.words[0])
		good := func() prover.Instance {
			e := eqs
			return prover.Instance{Shape: sumcheck.Product(9, 2), Tables: []prover.Table{prover.Base(words), {Eqs: &e}}}
		}
		for name, change := range map[string]func(in *prover.Instance){
			"first": func(in *prover.Instance) { slices.Reverse(in.Tables) },
			"twice": func(in *prover.Instance) { in.Tables[0] = in.Tables[1] },
			"small": func(in *prover.Instance) {
				in.Shape, in.Tables[0] = sumcheck.Product(7, 2), prover.Base(words.Slice(0, 1<<7))
			},
			"strided": func(in *prover.Instance) { in.Tables[1].Stride = 2 },
			"stored":  func(in *prover.Instance) { in.Tables[1].Base = words },
			"three": func(in *prover.Instance) {
				in.Shape, in.Tables = sumcheck.Product(9, 3), append(in.Tables, prover.Base(words))
			},
			"eq":          func(in *prover.Instance) { in.Eq, in.Point = true, device.View[m31.QM31](words).Slice(0, 9) },
			"not a tile":  func(in *prover.Instance) { in.Tables[1].Eqs.First = 3 },
			"no tile":     func(in *prover.Instance) { in.Tables[1].Eqs.First = prover.EqsTile },
			"no blocks":   func(in *prover.Instance) { in.Tables[1].Eqs.Blocks = -1 },
			"below tiles": func(in *prover.Instance) { in.Tables[1].Eqs.Tiles = -1 },
		} {
			t.Run(name, func(t *testing.T) {
				in := good()
				change(&in)
				tr, err := tprover.FromHost(q, newTranscript())
				if err != nil {
					t.Fatal(err)
				}
				defer tr.Free()
				if _, _, err := prover.Prove(q, tr, []prover.Instance{in}, make([]m31.QM31, 1)); !errors.Is(err, sumcheck.ErrShape) {
					t.Errorf("error %v, want ErrShape", err)
				}
			})
		}
	})
}

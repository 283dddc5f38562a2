package prover_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/sumcheck/prover"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
	"github.com/zkwarp/zkwarp/transcript"
	tprover "github.com/zkwarp/zkwarp/transcript/prover"
)

// stacksCase is stacks of words with claims, whose points are made of coords.
type stacksCase struct {
	stacks []prover.Stack
	words  [][]m31.Element
	coords []m31.QM31
	gamma  m31.QM31
}

// newStacksCase has stacks of falling blocks, some with claims at the same last
// coordinates, some with several, some with none, and zeros from some word on.
func newStacksCase(rng *rand.Rand, vars ...int) *stacksCase {
	c := &stacksCase{coords: sumchecktest.Random(rng, 90), gamma: sumchecktest.Random(rng, 1)[0]}
	point := func(n int) []int32 { // one of a few suffixes
		p := make([]int32, n)
		suffix := int32(rng.IntN(3)) * 30
		for i := range p {
			p[i] = suffix + int32(n-1-i)
			if i == 0 && rng.IntN(3) == 0 {
				p[i] = rng.Int32N(90)
			}
		}
		return p
	}
	for _, v := range vars {
		s := prover.Stack{Vars: v}
		size := max(0, v-1)
		for at := 0; at < 1<<v; {
			for size > 0 && (at+1<<size > 1<<v || rng.IntN(3) == 0) {
				size--
			}
			for k := range rng.IntN(4) {
				s.Claims = append(s.Claims, prover.StackClaim{At: at, Point: point(size), Power: len(s.Claims) + k%2})
			}
			at += 1 << size
			s.Used = at
			if size == 0 && rng.IntN(6) == 0 {
				break
			}
		}
		if len(s.Claims) == 0 {
			s.Claims = []prover.StackClaim{{Point: point(v)}}
		}
		w := make([]m31.Element, 1<<v)
		for i := range s.Used {
			w[i] = m31.Element(rng.Uint32N(m31.P))
		}
		c.stacks, c.words = append(c.stacks, s), append(c.words, w)
	}
	return c
}

// eq is a table by definition.
func (c *stacksCase) eq(point []int32, power int) []m31.QM31 {
	z := make([]m31.QM31, len(point))
	for i, k := range point {
		z[i] = c.coords[k]
	}
	return mle.ScaledEqTable(z, c.gamma.Exp(uint64(power)))
}

func reversedTable[T any](t []T, vars int) []T {
	out := make([]T, len(t))
	for x := range t {
		y := 0
		for k := range vars {
			y |= x >> k & 1 << (vars - 1 - k)
		}
		out[y] = t[x]
	}
	return out
}

// tables are the instances' tables in the order of reversed indices, and the sums.
func (c *stacksCase) tables() (words [][]m31.Element, weights [][]m31.QM31, sums []m31.QM31) {
	for i, s := range c.stacks {
		w := make([]m31.QM31, 1<<s.Vars)
		for _, claim := range s.Claims {
			part := w[claim.At:]
			for y, e := range c.eq(claim.Point, claim.Power) {
				part[y] = part[y].Add(e)
			}
		}
		sums = append(sums, m31.DotBase(c.words[i], w))
		words, weights = append(words, reversedTable(c.words[i], s.Vars)), append(weights, reversedTable(w, s.Vars))
	}
	return words, weights, sums
}

// TestStacks compares the proof of stacks, with rows of all sizes and within limits of
// every kind, with that of their tables in the order of reversed indices.
func TestStacks(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		rng := rand.New(rand.NewPCG(31, 5))
		limits := append(every(), prover.Limits{Window: 2, Tail: 900, Units: 2})
		for i, test := range []struct {
			vars []int
			high []int
		}{
			{[]int{0}, []int{-1}},
			{[]int{3, 5}, []int{-1}},
			{[]int{9}, []int{-1, 2, 4, 7}},
			{[]int{11, 3, 9}, []int{-1, 4, 6, 11}},
			{[]int{2, 13, 10, 0}, []int{-1, 3, 5, 8}},
			{[]int{14, 12}, []int{2, 9}},
			{[]int{15}, []int{-1, 5}},
			{[]int{16}, []int{3}},
		} {
			c := newStacksCase(rng, test.vars...)
			words, weights, sums := c.tables()
			var ins []prover.Instance
			var own []device.Buffer[m31.Element]
			for j, v := range test.vars {
				ins = append(ins, prover.Instance{Shape: sumcheck.Product(v, 2), Tables: []prover.Table{
					prover.Base(devicetest.Upload(t, q, words[j])), prover.Ext(devicetest.Upload(t, q, weights[j]))}})
				own = append(own, devicetest.Upload(t, q, c.words[j]))
			}
			prove := func(run func(tr *tprover.Transcript) (*sumcheck.Proof, *sumcheck.Result, error)) (*sumcheck.Proof, *sumcheck.Result, transcript.State) {
				t.Helper()
				tr, err := tprover.FromHost(q, newTranscript())
				if err != nil {
					t.Fatal(err)
				}
				defer tr.Free()
				proof, r, err := run(tr)
				if err != nil {
					t.Fatal(err)
				}
				after, err := tr.Host()
				if err != nil {
					t.Fatal(err)
				}
				return proof, r, after.State()
			}
			want, at, state := prove(func(tr *tprover.Transcript) (*sumcheck.Proof, *sumcheck.Result, error) {
				return prover.Prove(q, tr, ins, sums)
			})
			for k, high := range test.high {
				p, err := prover.StacksOf(c.stacks, high)
				if err != nil {
					t.Fatal(err)
				}
				lim := limits[(i+3*k)%len(limits)]
				t.Run(fmt.Sprintf("%v rows 2^%d within %v", test.vars, high, lim), func(t *testing.T) {
					factors := make([]m31.QM31, p.Factors)
					for _, table := range p.Tables {
						copy(factors[table.At:], c.eq(table.Point, table.Power))
					}
					got, r, after := prove(func(tr *tprover.Transcript) (*sumcheck.Proof, *sumcheck.Result, error) {
						return prover.ProveStacks(q, tr, p, devicetest.Upload(t, q, p.Desc), devicetest.Upload(t, q, factors), own, sums, lim)
					})
					if !slices.Equal(got.Rounds, want.Rounds) || !slices.Equal(r.Point, at.Point) {
						t.Fatalf("other rounds than with the tables stored")
					}
					if !slices.Equal(got.Evals, want.Evals) || after != state {
						t.Fatalf("other evaluations, or another transcript, than with the tables stored")
					}
				})
			}
		}
	})
}

// TestStacksVerify takes a proof of stacks to the verifier, and its point to where the
// words are evaluated.
func TestStacksVerify(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		c := newStacksCase(rand.New(rand.NewPCG(32, 5)), 12, 9)
		_, _, sums := c.tables()
		p, err := prover.StacksOf(c.stacks, 5)
		if err != nil {
			t.Fatal(err)
		}
		factors := make([]m31.QM31, p.Factors)
		for _, table := range p.Tables {
			copy(factors[table.At:], c.eq(table.Point, table.Power))
		}
		tr, err := tprover.FromHost(q, newTranscript())
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Free()
		words := []device.Buffer[m31.Element]{devicetest.Upload(t, q, c.words[0]), devicetest.Upload(t, q, c.words[1])}
		proof, _, err := prover.ProveStacks(q, tr, p, devicetest.Upload(t, q, p.Desc), devicetest.Upload(t, q, factors), words, sums, prover.Limits{Window: 3, Tail: 64, Units: 2})
		if err != nil {
			t.Fatal(err)
		}
		var claims []sumcheck.Claim
		for i, s := range p.Shapes() {
			claims = append(claims, sumcheck.Claim{Shape: s, Value: sums[i]})
		}
		res, err := sumcheck.Verify(newTranscript(), claims, proof)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range c.stacks {
			point := slices.Clone(res.PointOf(s.Vars))
			slices.Reverse(point)
			if mle.EvaluateBase(c.words[i], point) != res.Evals[i][0] {
				t.Errorf("stack %d: the words are claimed at another point than the reversed challenges", i)
			}
		}
	})
}

// TestStacksShape refuses stacks and buffers that make no sense.
func TestStacksShape(t *testing.T) {
	good := func() []prover.Stack {
		return []prover.Stack{{Vars: 10, Used: 1024, Claims: []prover.StackClaim{{At: 512, Point: make([]int32, 9)}}}}
	}
	for name, change := range map[string]func(s *[]prover.Stack){
		"none":       func(s *[]prover.Stack) { *s = nil },
		"no claims":  func(s *[]prover.Stack) { (*s)[0].Claims = nil },
		"unaligned":  func(s *[]prover.Stack) { (*s)[0].Claims[0].At = 256 },
		"beyond":     func(s *[]prover.Stack) { (*s)[0].Claims[0].At = 1024 },
		"before":     func(s *[]prover.Stack) { (*s)[0].Claims[0].At = -512 },
		"too large":  func(s *[]prover.Stack) { (*s)[0].Claims[0].Point = make([]int32, 11) },
		"power":      func(s *[]prover.Stack) { (*s)[0].Claims[0].Power = -1 },
		"used":       func(s *[]prover.Stack) { (*s)[0].Used = 1025 },
		"variables":  func(s *[]prover.Stack) { (*s)[0].Vars = -1 },
		"many words": func(s *[]prover.Stack) { (*s)[0].Vars = 41 },
	} {
		s := good()
		change(&s)
		if _, err := prover.NewStacks(s); !errors.Is(err, sumcheck.ErrShape) {
			t.Errorf("%s: error %v, want ErrShape", name, err)
		}
	}
	for _, high := range []int{9, 0} { // a row of two words; one of 2^10 whose stack has one
		if _, err := prover.StacksOf(good(), high); (err == nil) != (high == 0) {
			t.Errorf("rows for 2^%d: error %v", high, err)
		}
	}
	devicetest.Each(t, func(t *testing.T, q *device.Queue) {
		p, err := prover.NewStacks(good())
		if err != nil {
			t.Fatal(err)
		}
		words := []device.Buffer[m31.Element]{devicetest.Upload(t, q, make([]m31.Element, 1024))}
		for name, change := range map[string]func(desc *device.Buffer[uint64], factors *device.Buffer[m31.QM31], words *[]device.Buffer[m31.Element], values *int){
			"descriptors": func(desc *device.Buffer[uint64], _ *device.Buffer[m31.QM31], _ *[]device.Buffer[m31.Element], _ *int) {
				*desc = desc.Slice(0, desc.Len()-1)
			},
			"factors": func(_ *device.Buffer[uint64], factors *device.Buffer[m31.QM31], _ *[]device.Buffer[m31.Element], _ *int) {
				*factors = factors.Slice(0, factors.Len()-1)
			},
			"words": func(_ *device.Buffer[uint64], _ *device.Buffer[m31.QM31], words *[]device.Buffer[m31.Element], _ *int) {
				(*words)[0] = (*words)[0].Slice(0, 512)
			},
			"stacks": func(_ *device.Buffer[uint64], _ *device.Buffer[m31.QM31], words *[]device.Buffer[m31.Element], _ *int) {
				*words = nil
			},
			"values": func(_ *device.Buffer[uint64], _ *device.Buffer[m31.QM31], _ *[]device.Buffer[m31.Element], values *int) {
				*values = 2
			},
		} {
			if name == "descriptors" && q.OnHost() {
				continue // it reads none
			}
			desc, factors, w, values := devicetest.Upload(t, q, append(p.Desc, 0)).Slice(0, len(p.Desc)), devicetest.Upload(t, q, make([]m31.QM31, p.Factors)), slices.Clone(words), 1
			change(&desc, &factors, &w, &values)
			tr, err := tprover.FromHost(q, newTranscript())
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = prover.ProveStacks(q, tr, p, desc, factors, w, make([]m31.QM31, values), prover.Limits{Window: 3, Units: 1})
			tr.Free()
			if !errors.Is(err, sumcheck.ErrShape) {
				t.Errorf("%s: error %v, want ErrShape", name, err)
			}
		}
	})
}

package sumcheck_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
)

func one() m31.QM31 { return m31.OneQM31() }

// expect runs the verifier on a cheating prover's proof.
func expect(t *testing.T, what string, claims []sumcheck.Claim, proof *sumcheck.Proof, want error) {
	t.Helper()
	if _, err := sumcheck.Verify(newTranscript(), claims, proof); !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", what, err, want)
	}
}

func TestCheatFalseClaim(t *testing.T) {
	count := 0
	batches(11, func(name string, b *sumchecktest.Batch) {
		for j := range b.Claims {
			claims := slices.Clone(b.Claims)
			claims[j].Value = claims[j].Value.Add(one())
			proof := sumchecktest.Prove(newTranscript(), claims, b.Tables, sumchecktest.Cheat{})
			expect(t, name, claims, proof, sumcheck.ErrFinal)
			count++
		}
	})
	t.Log(count, "false claims rejected")
}

// A prover with a false claim that keeps it alive as long as it can: it corrects
// a round's polynomial so that it sums to the claim, at any round.
func TestCheatRoundPolynomial(t *testing.T) {
	count := 0
	batches(12, func(name string, b *sumchecktest.Batch) {
		shapes := sumcheck.Shapes(b.Claims)
		n, d := sumcheck.Rounds(shapes), sumcheck.Degree(shapes)
		for i := range n {
			for e := range d {
				cheat := sumchecktest.Cheat{Round: func(at int, message []m31.QM31) {
					if at == i {
						message[e] = message[e].Add(one())
					}
				}}
				proof := sumchecktest.Prove(newTranscript(), b.Claims, b.Tables, cheat)
				expect(t, name, b.Claims, proof, sumcheck.ErrFinal)
				count++
			}
		}
	})
	t.Log(count, "changed round polynomials rejected")
}

func TestCheatEvaluations(t *testing.T) {
	count := 0
	batches(13, func(name string, b *sumchecktest.Batch) {
		for k := range sumcheck.Evaluations(sumcheck.Shapes(b.Claims)) {
			cheat := sumchecktest.Cheat{Evals: func(evals []m31.QM31) { evals[k] = evals[k].Add(one()) }}
			proof := sumchecktest.Prove(newTranscript(), b.Claims, b.Tables, cheat)
			expect(t, name, b.Claims, proof, sumcheck.ErrFinal)
			count++
		}
	})
	t.Log(count, "changed evaluations rejected")
}

// Evaluations whose products agree pass, and are for the caller to refute: what
// Verify returns then differs from the factors' true values.
func TestCheatCompensatedEvaluations(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 14))
	b := sumchecktest.NewBatch(rng, []sumcheck.Shape{sumcheck.Product(4, 2)})
	cheat := sumchecktest.Cheat{Evals: func(e []m31.QM31) {
		e[0], e[1] = e[0].Double(), e[1].Mul(one().Double().Inverse())
	}}
	proof := sumchecktest.Prove(newTranscript(), b.Claims, b.Tables, cheat)
	r, err := sumcheck.Verify(newTranscript(), b.Claims, proof)
	if err != nil {
		t.Fatal(err)
	}
	for k, e := range r.Evals[0] {
		if mle.Evaluate(b.Tables[0][k], r.Point) == e {
			t.Errorf("factor %d has its true value", k)
		}
	}
}

// The prover sums with another eq point than the verifier's, for which its claim
// would be true.
func TestCheatEqPoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 15))
	batches(15, func(name string, b *sumchecktest.Batch) {
		for j, c := range b.Claims {
			if !c.Eq || c.Vars == 0 {
				continue
			}
			other := sumchecktest.Random(rng, c.Vars)
			claims := slices.Clone(b.Claims)
			swapped := c
			swapped.Point = other
			claims[j].Value = sumchecktest.Sum(swapped, b.Tables[j])
			cheat := sumchecktest.Cheat{EqPoint: func(i int, z []m31.QM31) []m31.QM31 {
				if i == j {
					return other
				}
				return z
			}}
			proof := sumchecktest.Prove(newTranscript(), claims, b.Tables, cheat)
			expect(t, name, claims, proof, sumcheck.ErrFinal)
			claims[j].Point = other // for which it is a proof
			expect(t, name+", own point", claims, proof, nil)
		}
	})
}

// Two false claims whose errors cancel if both have the same coefficient.
func TestCheatCancellingClaims(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 16))
	shapes := []sumcheck.Shape{sumcheck.Product(4, 2), sumcheck.Product(4, 2), sumcheck.Product(3, 2)}
	b := sumchecktest.NewBatch(rng, shapes)
	for _, pair := range [][2]int{{0, 1}, {1, 2}, {0, 2}} {
		claims := slices.Clone(b.Claims)
		i, j := pair[0], pair[1]
		error0 := one()
		for range 4 - claims[j].Vars { // the shorter claim counts 2^(n-n_j) times
			error0 = error0.Double()
		}
		claims[i].Value = claims[i].Value.Add(error0)
		claims[j].Value = claims[j].Value.Sub(one())
		proof := sumchecktest.Prove(newTranscript(), claims, b.Tables, sumchecktest.Cheat{})
		expect(t, "cancelling claims", claims, proof, sumcheck.ErrFinal)
	}
}

// A prover that picks its claims once it has seen gamma: it works against a
// verifier that does not absorb them, and not against this one.
func TestCheatLateClaims(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 17))
	b := sumchecktest.NewBatch(rng, []sumcheck.Shape{sumcheck.Product(4, 2), sumcheck.EqProduct(4, 1)})
	claims := slices.Clone(b.Claims)
	cheat := sumchecktest.Cheat{SkipClaims: true, AfterGamma: func(gamma m31.QM31, c []sumcheck.Claim) {
		c[0].Value = c[0].Value.Sub(gamma)
		c[1].Value = c[1].Value.Add(one())
	}}
	proof := sumchecktest.Prove(newTranscript(), claims, b.Tables, cheat)
	expect(t, "late claims", claims, proof, sumcheck.ErrFinal)
}

func TestCheatLengths(t *testing.T) {
	batches(18, func(name string, b *sumchecktest.Batch) {
		shapes := sumcheck.Shapes(b.Claims)
		good := sumchecktest.Prove(newTranscript(), b.Claims, b.Tables, sumchecktest.Cheat{})
		for what, change := range map[string]func(p *sumcheck.Proof){
			"a word of rounds more": func(p *sumcheck.Proof) { p.Rounds = append(p.Rounds, one()) },
			"a round dropped":       func(p *sumcheck.Proof) { p.Rounds = p.Rounds[:max(0, len(p.Rounds)-sumcheck.Degree(shapes))] },
			"a round word dropped":  func(p *sumcheck.Proof) { p.Rounds = p.Rounds[:max(0, len(p.Rounds)-1)] },
			"an evaluation more":    func(p *sumcheck.Proof) { p.Evals = append(p.Evals, m31.QM31{}) },
			"an evaluation less":    func(p *sumcheck.Proof) { p.Evals = p.Evals[1:] },
		} {
			p := &sumcheck.Proof{Rounds: slices.Clone(good.Rounds), Evals: slices.Clone(good.Evals)}
			change(p)
			if len(p.Rounds) == len(good.Rounds) && len(p.Evals) == len(good.Evals) {
				continue // nothing to drop
			}
			expect(t, name+": "+what, b.Claims, p, sumcheck.ErrLength)
		}
		expect(t, name+": no proof", b.Claims, nil, sumcheck.ErrLength)

		data, err := good.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range [][]byte{data[:len(data)-1], data[:len(data)-16], append(slices.Clone(data), 0), nil} {
			if _, err := sumcheck.DecodeProof(shapes, bad); !errors.Is(err, sumcheck.ErrLength) {
				t.Errorf("%s: %d bytes instead of %d: %v", name, len(bad), len(data), err)
			}
		}
	})
}

// Every word of every proof: changed, it is rejected; written as its value plus
// p, it does not decode, and does not verify where someone built it in memory.
func TestCheatEveryWord(t *testing.T) {
	count := 0
	batches(19, func(name string, b *sumchecktest.Batch) {
		if len(b.Claims) > 20 {
			return // the same code with more words
		}
		shapes := sumcheck.Shapes(b.Claims)
		good := sumchecktest.Prove(newTranscript(), b.Claims, b.Tables, sumchecktest.Cheat{})
		data, err := good.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		for w := range sumcheck.Words(shapes) {
			p, err := sumcheck.DecodeProof(shapes, data)
			if err != nil {
				t.Fatal(err)
			}
			list := m31.Words(p.Rounds)
			at := w
			if w >= len(list) {
				list, at = m31.Words(p.Evals), w-len(list)
			}
			old := list[at]
			list[at] = old.Add(1)
			expect(t, name, b.Claims, p, sumcheck.ErrFinal)
			list[at] = old + m31.P
			expect(t, name, b.Claims, p, sumcheck.ErrCanonical)
			bad, err := p.AppendBinary(nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sumcheck.DecodeProof(shapes, bad); !errors.Is(err, sumcheck.ErrCanonical) {
				t.Errorf("%s: word %d out of range: %v", name, w, err)
			}
			count++
		}
	})
	t.Log(count, "words changed, all noticed")
}

func TestCheatStatements(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 20))
	b := sumchecktest.NewBatch(rng, []sumcheck.Shape{sumcheck.EqProduct(3, 2)})
	good := sumchecktest.Prove(newTranscript(), b.Claims, b.Tables, sumchecktest.Cheat{})
	for what, change := range map[string]func(c *sumcheck.Claim){
		"short point":  func(c *sumcheck.Claim) { c.Point = c.Point[1:] },
		"long point":   func(c *sumcheck.Claim) { c.Point = append(slices.Clone(c.Point), one()) },
		"stray point":  func(c *sumcheck.Claim) { c.Eq = false },
		"coefficients": func(c *sumcheck.Claim) { c.Coeffs = make([]m31.QM31, 2) },
		"shape":        func(c *sumcheck.Claim) { c.Factors = 4 },
	} {
		c := b.Claims[0]
		change(&c)
		expect(t, what, []sumcheck.Claim{c}, good, sumcheck.ErrShape)
	}
	expect(t, "no claims", nil, good, sumcheck.ErrShape)

	e := sumcheck.MustCompile("eq*(s*a*b - c)", sumcheck.Scalars("s"))
	b = sumchecktest.NewBatch(rng, []sumcheck.Shape{e.Shape(3)})
	good = sumchecktest.Prove(newTranscript(), b.Claims, b.Tables, sumchecktest.Cheat{})
	for what, change := range map[string]func(c *sumcheck.Claim){
		"expression without its eq":      func(c *sumcheck.Claim) { c.Eq, c.Point = false, nil },
		"expression without a column":    func(c *sumcheck.Claim) { c.Factors-- },
		"expression with another column": func(c *sumcheck.Claim) { c.Factors++ },
		"expression with terms":          func(c *sumcheck.Claim) { c.Terms = [][]int{{0, 1, 2}} },
		"expression without its scalar":  func(c *sumcheck.Claim) { c.Coeffs = nil },
		"expression with two scalars":    func(c *sumcheck.Claim) { c.Coeffs = make([]m31.QM31, 2) },
		"zero expression":                func(c *sumcheck.Claim) { c.Expr = &sumcheck.Expr{} },
	} {
		c := b.Claims[0]
		change(&c)
		expect(t, what, []sumcheck.Claim{c}, good, sumcheck.ErrShape)
	}
	if _, err := sumcheck.DecodeProof([]sumcheck.Shape{{Vars: 60, Factors: 1}}, nil); !errors.Is(err, sumcheck.ErrShape) {
		t.Errorf("a shape that would allocate without bound: %v", err)
	}
}

func FuzzDecodeProof(f *testing.F) {
	shapes := []sumcheck.Shape{sumcheck.EqProduct(2, 2), sumcheck.Product(1, 3)}
	f.Add(make([]byte, 4*sumcheck.Words(shapes)))
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := sumcheck.DecodeProof(shapes, data)
		if err != nil {
			return
		}
		again, err := p.AppendBinary(nil)
		if err != nil || !slices.Equal(again, data) {
			t.Fatalf("decoded and encoded again: %d bytes became %d, %v", len(data), len(again), err)
		}
	})
}

// A proof for one expression is none for another of the same columns and degree,
// but for one that is the same polynomial in other words.
func TestCheatOtherExpr(t *testing.T) {
	var list []*sumcheck.Expr
	for _, text := range []string{"a*b + a", "a*b + b", "a*b - a", "2*a*b + a", "a*b + a^2", "a^2 + b", "a*b + a + 1", "b*a + a", "a*(b + 1)", "eq*(a*b + a)"} {
		e, err := sumcheck.Compile(text, sumcheck.Columns("a", "b"))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	same := map[int]bool{0: true, 7: true, 8: true}
	rng := rand.New(rand.NewPCG(61, 1))
	for _, vars := range []int{0, 1, 3} {
		for i, e := range list[:9] {
			b := sumchecktest.NewBatch(rng, []sumcheck.Shape{e.Shape(vars), list[0].Shape(2)})
			proof := sumchecktest.Prove(newTranscript(), b.Claims, b.Tables, sumchecktest.Cheat{})
			for k, other := range list[:9] {
				claims := slices.Clone(b.Claims)
				claims[0].Shape = other.Shape(vars)
				_, err := sumcheck.Verify(newTranscript(), claims, proof)
				if i == k || same[i] && same[k] {
					if err != nil {
						t.Errorf("%v as %v over %d variables: %v", e, other, vars, err)
					}
				} else if !errors.Is(err, sumcheck.ErrFinal) {
					t.Errorf("%v as %v over %d variables: %v", e, other, vars, err)
				}
			}
			claims := slices.Clone(b.Claims)
			claims[0].Shape, claims[0].Point = list[9].Shape(vars), sumchecktest.Random(rng, vars)
			if _, err := sumcheck.Verify(newTranscript(), claims, proof); err == nil && vars > 0 {
				t.Errorf("%v as %v over %d variables", e, list[9], vars)
			}
		}
	}
}

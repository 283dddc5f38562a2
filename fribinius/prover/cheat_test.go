package prover

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/fribinius"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/ntt/additive"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// The cheating provers follow the transcript: what they send goes into it, and all
// that comes after is computed from it as an honest prover would.

// rejected fails unless verification failed by that check in that layer.
func rejected(t *testing.T, err error, layer int, check fribinius.Check) {
	t.Helper()
	var e *fribinius.Error
	if !errors.As(err, &e) {
		t.Fatalf("want a rejection by %q, got %v", check, err)
	}
	if e.Check != check || e.Layer != layer {
		t.Fatalf("want a rejection by %q in layer %d, got: %v", check, layer, err)
	}
}

// refuse runs the prover and wants the public verifier to reject.
func (n *naive) refuse(t *testing.T, layer int, check fribinius.Check) {
	t.Helper()
	root, value, pf := n.prove(t, tower.New(tower.LabelFRIBinius))
	rejected(t, verify(n, root, value, pf), layer, check)
}

const noLayer = -1

// vars of most attacks: layers of 2^11 and 2^7 elements, and 2^3 in the end.
const cheatVars = 18

var delta = gf2.Element{Lo: 0x123456789abcdef1, Hi: 0xfedcba9876543211}

func TestFalseValue(t *testing.T) {
	n := instance(t, cheatVars, 2, 1)
	n.value = func(v gf2.Element) gf2.Element { return v.Add(delta) }
	n.refuse(t, noLayer, fribinius.CheckRingSwitch)
}

// The partial evaluations give a false value and are false themselves; everything else
// is honest.
func TestFalsePartial(t *testing.T) {
	for _, v := range []int{0, 1, 64, 127} {
		n := instance(t, cheatVars, 2, 1)
		n.partial = func(p []gf2.Element) { p[v] = p[v].Add(delta) }
		n.refuse(t, noLayer, fribinius.CheckFinalClaim)
	}
}

// The value is right, and the partial evaluations, false, give it.
func TestFalsePartialRightValue(t *testing.T) {
	n := instance(t, cheatVars, 2, 1)
	low := n.point[n.p.MessageVars():]
	n.partial = func(p []gf2.Element) {
		p[3] = p[3].Add(delta)
		p[5] = p[5].Add(delta.Mul(eqAt(low, 3)).Mul(eqAt(low, 5).Inverse()))
	}
	if root, value, pf := n.prove(t, tower.New(tower.LabelFRIBinius)); value != evaluateBits(n.bits, n.point) {
		t.Fatal("the value should be right")
	} else {
		rejected(t, verify(n, root, value, pf), noLayer, fribinius.CheckFinalClaim)
	}
}

// Bit v of claim u and bit u of partial evaluation v are the same: false partials that
// only differ in one bit.
func TestFalsePartialOneBit(t *testing.T) {
	n := instance(t, cheatVars, 2, 1)
	n.partial = func(p []gf2.Element) { p[77] = p[77].Add(gf2.Basis(101)) }
	n.refuse(t, noLayer, fribinius.CheckFinalClaim)
}

// A prover with a false value that chooses partial evaluations once it knows how they are
// combined: they give that value, and the sum-check's claim stays the true one. These are
// 256 linear equations of the 384 bits of three of them. Were they not absorbed before,
// all checks would pass.
func TestLatePartial(t *testing.T) {
	n := instance(t, cheatVars, 2, 1)
	low := n.point[n.p.MessageVars():]
	n.value = func(v gf2.Element) gf2.Element { return v.Add(delta) }
	// What a change of partial evaluations does to value and claim.
	type effect struct {
		value, claim gf2.Element
		change       [3]gf2.Element
	}
	n.late = func(batch, partial []gf2.Element) {
		pivots := map[int]effect{}
		reduce := func(e effect) (effect, int) {
			for bit := range 256 {
				if half := [2]gf2.Element{e.value, e.claim}[bit/128]; half.Bit(bit%128) == 0 {
					continue
				}
				p, ok := pivots[bit]
				if !ok {
					return e, bit
				}
				e.value, e.claim = e.value.Add(p.value), e.claim.Add(p.claim)
				for i := range e.change {
					e.change[i] = e.change[i].Add(p.change[i])
				}
			}
			return e, -1
		}
		for v := range 3 {
			for u := range 128 {
				e := effect{value: eqAt(low, v).Mul(gf2.Basis(u)), claim: gf2.Basis(v).Mul(eqAt(batch, u))}
				e.change[v] = gf2.Basis(u)
				if e, bit := reduce(e); bit >= 0 {
					pivots[bit] = e
				}
			}
		}
		e, bit := reduce(effect{value: delta})
		if bit >= 0 {
			t.Fatal("the cheat does not work")
		}
		for v, c := range e.change {
			partial[v] = partial[v].Add(c)
		}
	}
	n.refuse(t, noLayer, fribinius.CheckFinalClaim)
}

func TestFalseRound(t *testing.T) {
	for i := range cheatVars - fribinius.Packing {
		for name, change := range map[string]func(m *fribinius.Round){
			"value at 0":       func(m *fribinius.Round) { m.AtZero = m.AtZero.Add(delta) },
			"coefficient":      func(m *fribinius.Round) { m.Lead = m.Lead.Add(delta) },
			"both":             func(m *fribinius.Round) { m.AtZero, m.Lead = m.AtZero.Add(delta), m.Lead.Add(delta) },
			"exchanged":        func(m *fribinius.Round) { m.AtZero, m.Lead = m.Lead, m.AtZero },
			"the constant one": func(m *fribinius.Round) { m.AtZero, m.Lead = gf2.Element{}, gf2.Element{} },
		} {
			t.Run(fmt.Sprintf("%d: %s", i, name), func(t *testing.T) {
				n := instance(t, cheatVars, 1, 1)
				n.round = func(at int, m *fribinius.Round, _ gf2.Element) {
					if at == i {
						change(m)
					}
				}
				n.refuse(t, noLayer, fribinius.CheckFinalClaim)
			})
		}
	}
}

// lie changes a message so that the sum of its products with the weights is the claim.
func lie(message, weight []gf2.Element, claim gf2.Element) {
	var sum gf2.Element
	for y := range message {
		sum = sum.Add(weight[y].Mul(message[y]))
	}
	at := 0
	for weight[at].IsZero() {
		at++
	}
	message[at] = message[at].Add(sum.Add(claim).Mul(weight[at].Inverse()))
}

// The claim is false, and from one layer on the prover is honest about a message that
// fits it. The sum-check is satisfied to the end; only folding tells.
func TestMessageFitsFalseClaim(t *testing.T) {
	for layer := 1; layer <= 2; layer++ {
		n := instance(t, cheatVars, 2, 1)
		n.partial = func(p []gf2.Element) { p[9] = p[9].Add(delta) }
		n.message = func(at int, message, weight []gf2.Element, claim gf2.Element) {
			if at == layer {
				lie(message, weight, claim)
			}
		}
		check := fribinius.CheckFold
		if layer == len(n.p.Layers()) {
			check = fribinius.CheckFinalCodeword
		}
		n.refuse(t, layer, check)
	}
}

// A prover of a false claim that commits to its second layer once it knows what will be
// asked for: the word is the true one where the first layer's folds are compared with it,
// and elsewhere such that its leaves fold to a final message that fits the claim. It would
// pass if that root were not absorbed.
func TestLateRoot(t *testing.T) {
	n := instance(t, cheatVars, 2, 1)
	n.partial = func(p []gf2.Element) { p[9] = p[9].Add(delta) }
	n.message = func(at int, message, weight []gf2.Element, claim gf2.Element) {
		if at == 2 {
			lie(message, weight, claim)
		}
	}
	first, fold := n.p.Layers()[0].Fold, n.p.Layers()[1].Fold
	n.lateRoot = func(word []gf2.Element, queried []uint32, r, final []gf2.Element) {
		want := make([]gf2.Element, len(word)>>fold)
		if err := additive.Encode(want, final); err != nil {
			t.Fatal(err)
		}
		folded := func(leaf int) gf2.Element {
			v := slices.Clone(word[leaf<<fold : (leaf+1)<<fold])
			for _, x := range r[first : first+fold] {
				for k := range len(v) / 2 {
					v[k] = additive.Fold(v[2*k], v[2*k+1], additive.Twiddle(uint32(leaf*len(v)/2+k)), x)
				}
				v = v[:len(v)/2]
			}
			return v[0]
		}
		for leaf := range want {
			free := leaf << fold
			for slices.Contains(queried, uint32(free)) {
				free++
			}
			if free>>fold != leaf {
				t.Fatal("the cheat does not work: all symbols of a leaf are asked for")
			}
			// The fold is linear in that symbol.
			was := folded(leaf)
			word[free] = word[free].Add(gf2.One())
			slope := folded(leaf).Add(was)
			word[free] = word[free].Add(gf2.One()).Add(was.Add(want[leaf]).Mul(slope.Inverse()))
		}
	}
	n.refuse(t, noLayer, fribinius.CheckFinalClaim)
}

// As before, and the first word was committed to with the false message in mind: the
// word is the codeword of another polynomial than the partial evaluations are of.
func TestOtherPolynomial(t *testing.T) {
	n := instance(t, cheatVars, 2, 1)
	other := instance(t, cheatVars, 2, 2)
	root, value, pf := n.prove(t, tower.New(tower.LabelFRIBinius))
	rejected(t, fribinius.Verify(tower.New(tower.LabelFRIBinius), n.p, root, other.point, value, pf), noLayer, fribinius.CheckRingSwitch)
	otherRoot, _, _ := other.prove(t, tower.New(tower.LabelFRIBinius))
	rejected(t, verify(n, otherRoot, value, pf), noLayer, fribinius.CheckFinalClaim)
	if err := verify(n, root, value, pf); err != nil {
		t.Fatal(err)
	}
	// The honest prover's proof on top of another root, transcript and all.
	var otherWord []gf2.Element
	other.word = func(word []gf2.Element) { otherWord = slices.Clone(word) }
	other.prove(t, tower.New(tower.LabelFRIBinius))
	n.word = func(word []gf2.Element) { copy(word, otherWord) }
	n.refuse(t, 1, fribinius.CheckFold)
}

// A word that is no codeword: random, at about the radius, and just a little beyond.
func TestDistantWord(t *testing.T) {
	g := rand.New(rand.NewPCG(8, 8))
	for name, share := range map[string]float64{"random": 1, "half": 0.5, "the radius": 0.375, "a tenth": 0.1} {
		t.Run(name, func(t *testing.T) {
			n := instance(t, cheatVars, 2, 1)
			leaf := 1 << n.p.Layers()[0].Fold
			n.word = func(word []gf2.Element) {
				for at := 0; at < len(word); at += leaf {
					if g.Float64() < share {
						word[at+g.IntN(leaf)].Lo ^= g.Uint64() | 1
					}
				}
			}
			n.refuse(t, 1, fribinius.CheckFold)
		})
	}
}

// A word with one wrong symbol is as good as the codeword, whose polynomial it commits
// to: an honest opening passes unless that leaf is asked for, and no other value does.
func TestWordWithinTheRadius(t *testing.T) {
	passed, caught := 0, 0
	for at := 0; at < 1<<13 && (passed == 0 || caught == 0); at += 100 {
		n := instance(t, cheatVars, 2, 1)
		n.word = func(word []gf2.Element) { word[at] = word[at].Add(delta) }
		root, value, pf := n.prove(t, tower.New(tower.LabelFRIBinius))
		if value != evaluateBits(n.bits, n.point) {
			t.Fatal("the value should be right")
		}
		err := verify(n, root, value, pf)
		if slices.Contains(n.queried[0], at>>n.p.Layers()[0].Fold) {
			rejected(t, err, 1, fribinius.CheckFold)
			caught++
		} else if err != nil {
			t.Fatalf("symbol %d is wrong and not asked for: %v", at, err)
		} else {
			passed++
		}
		n.partial = func(p []gf2.Element) { p[0] = p[0].Add(delta) }
		n.queried = nil
		n.refuse(t, noLayer, fribinius.CheckFinalClaim)
	}
	if passed == 0 || caught == 0 {
		t.Errorf("%d words passed and %d did not", passed, caught)
	}
}

// One layer's word is wrong in many symbols, or is another codeword; those around it
// are honest.
func TestFalseLayer(t *testing.T) {
	for name, change := range map[string]func(word []gf2.Element){
		"half of the symbols": func(word []gf2.Element) {
			for i := range word {
				if i%2 == 0 {
					word[i] = word[i].Add(delta)
				}
			}
		},
		"another codeword": func(word []gf2.Element) {
			for i := range word {
				word[i] = word[i].Add(delta) // the constant is a codeword
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := instance(t, cheatVars, 2, 1)
			n.layer = func(_ int, word []gf2.Element) { change(word) }
			n.refuse(t, 1, fribinius.CheckFold)
		})
	}
	// The last of three layers.
	n := instance(t, 22, 1, 1)
	n.layer = func(layer int, word []gf2.Element) {
		if layer == 2 {
			for i := range word {
				word[i] = word[i].Add(delta)
			}
		}
	}
	n.refuse(t, 2, fribinius.CheckFold)
}

// The layer before last is wrong so that it folds to a false final message.
func TestLayerFoldsToFalseFinal(t *testing.T) {
	n := instance(t, cheatVars, 2, 1)
	n.final = func(final []gf2.Element) { final[5] = final[5].Add(delta) }
	n.refuse(t, noLayer, fribinius.CheckFinalClaim)

	// And with a sum-check that fits: every codeword symbol is wrong.
	n = instance(t, cheatVars, 2, 1)
	n.message = func(at int, message, weight []gf2.Element, claim gf2.Element) {
		if at == 2 {
			message[5] = message[5].Add(delta)
			message[6] = message[6].Add(delta.Mul(weight[5]).Mul(weight[6].Inverse()))
		}
	}
	n.refuse(t, 2, fribinius.CheckFinalCodeword)
}

// Bits that do not make the value cannot be moved there by another point.
func TestOtherPoint(t *testing.T) {
	n := instance(t, cheatVars, 2, 1)
	root, value, pf := n.prove(t, tower.New(tower.LabelFRIBinius))
	for i := range n.point {
		point := slices.Clone(n.point)
		point[i] = point[i].Add(gf2.One())
		check := fribinius.CheckFinalClaim
		if i >= n.p.MessageVars() {
			check = fribinius.CheckRingSwitch
		}
		rejected(t, fribinius.Verify(tower.New(tower.LabelFRIBinius), n.p, root, point, value, pf), noLayer, check)
	}
	rejected(t, fribinius.Verify(tower.New(tower.LabelFRIBinius), n.p, root, n.point[1:], value, pf), noLayer, fribinius.CheckStatement)
	rejected(t, fribinius.Verify(tower.New(tower.LabelFRIBinius), n.p, root, n.point, value, nil), noLayer, fribinius.CheckShape)
	rejected(t, fribinius.Verify(tower.New(tower.LabelTest), n.p, root, n.point, value, pf), noLayer, fribinius.CheckFinalClaim)
	other, err := fribinius.New(cheatVars, 3, 100)
	if err != nil {
		t.Fatal(err)
	}
	rejected(t, fribinius.Verify(tower.New(tower.LabelFRIBinius), other, root, n.point, value, pf), noLayer, fribinius.CheckShape)
}

// Openings that are honest but for one thing.
func TestFalseOpening(t *testing.T) {
	n := instance(t, cheatVars, 2, 1)
	root, value, honest := n.prove(t, tower.New(tower.LabelFRIBinius))
	for layer := range honest.Openings {
		for name, change := range map[string]func(o *fribinius.Opening){
			"a row":          func(o *fribinius.Opening) { o.Rows[len(o.Rows)-1] ^= 1 },
			"a sibling":      func(o *fribinius.Opening) { o.Siblings[0][7] ^= 1 << 31 },
			"no sibling":     func(o *fribinius.Opening) { o.Siblings = o.Siblings[1:] },
			"a row less":     func(o *fribinius.Opening) { o.Rows = o.Rows[n.p.Tree(layer).RowWords:] },
			"rows exchanged": func(o *fribinius.Opening) { o.Rows[0], o.Rows[1] = o.Rows[1], o.Rows[0] },
		} {
			pf := *honest
			pf.Openings = slices.Clone(honest.Openings)
			pf.Openings[layer] = fribinius.Opening{Rows: slices.Clone(honest.Openings[layer].Rows), Siblings: slices.Clone(honest.Openings[layer].Siblings)}
			if len(pf.Openings[layer].Siblings) == 0 && strings.Contains(name, "sibling") {
				continue // all leaves of a small tree are asked for
			}
			change(&pf.Openings[layer])
			t.Run(fmt.Sprintf("%d: %s", layer, name), func(t *testing.T) {
				rejected(t, verify(n, root, value, &pf), layer, fribinius.CheckOpening)
			})
		}
	}
}

// Lengths that the parameters do not give.
func TestShapes(t *testing.T) {
	n := instance(t, cheatVars, 2, 1)
	root, value, honest := n.prove(t, tower.New(tower.LabelFRIBinius))
	words := n.p.Tree(0).RowWords
	for name, change := range map[string]func(pf *fribinius.Proof){
		"a partial less":   func(pf *fribinius.Proof) { pf.Partial = pf.Partial[:127] },
		"a partial more":   func(pf *fribinius.Proof) { pf.Partial = append(slices.Clone(pf.Partial), delta) },
		"a round less":     func(pf *fribinius.Proof) { pf.Rounds = pf.Rounds[:10] },
		"a round more":     func(pf *fribinius.Proof) { pf.Rounds = append(slices.Clone(pf.Rounds), pf.Rounds[0]) },
		"no root":          func(pf *fribinius.Proof) { pf.Roots = nil },
		"a root more":      func(pf *fribinius.Proof) { pf.Roots = append(slices.Clone(pf.Roots), pf.Roots[0]) },
		"half the message": func(pf *fribinius.Proof) { pf.Final = pf.Final[:4] },
		"twice a message":  func(pf *fribinius.Proof) { pf.Final = append(slices.Clone(pf.Final), pf.Final...) },
		"an opening less":  func(pf *fribinius.Proof) { pf.Openings = pf.Openings[:1] },
		"an opening more":  func(pf *fribinius.Proof) { pf.Openings = append(slices.Clone(pf.Openings), pf.Openings[0]) },
		"no rows":          func(pf *fribinius.Proof) { pf.Openings[0].Rows = nil },
		"part of a row":    func(pf *fribinius.Proof) { pf.Openings[0].Rows = pf.Openings[0].Rows[1:] },
		"too many rows":    func(pf *fribinius.Proof) { pf.Openings[0].Rows = make([]merkle.Word, words*(n.p.Queries()+1)) },
		"many siblings": func(pf *fribinius.Proof) {
			pf.Openings[0].Siblings = make([]merkle.DigestOf[merkle.Word], len(pf.Openings[0].Rows)/words*n.p.LogLeaves(0)+1)
		},
	} {
		pf := *honest
		pf.Openings = slices.Clone(honest.Openings)
		change(&pf)
		t.Run(name, func(t *testing.T) {
			rejected(t, verify(n, root, value, &pf), noLayer, fribinius.CheckShape)
			if _, err := n.p.AppendProof(nil, &pf); !errors.Is(err, fribinius.ErrEncoding) {
				t.Errorf("encoded: %v", err)
			}
		})
	}
}

// No bit of a proof can be changed, no byte left out or added.
func TestEveryWord(t *testing.T) {
	for _, vars := range []int{7, 12} {
		n := instance(t, vars, 3, 1)
		root, value, pf := n.prove(t, tower.New(tower.LabelFRIBinius))
		data, err := n.p.AppendProof(nil, pf)
		if err != nil {
			t.Fatal(err)
		}
		accept := func(data []byte) error {
			pf, err := n.p.DecodeProof(data)
			if err != nil {
				return err
			}
			return verify(n, root, value, pf)
		}
		if err := accept(data); err != nil {
			t.Fatal(err)
		}
		step := 1
		if vars > 7 {
			step = 13
		}
		for at := 0; at < len(data); at += 4 * step {
			changed := slices.Clone(data)
			w := binary.LittleEndian.Uint32(changed[at:])
			binary.LittleEndian.PutUint32(changed[at:], w^1<<(at/4%32))
			if accept(changed) == nil {
				t.Fatalf("n = %d: word %d of %d may be changed", vars, at/4, len(data)/4)
			}
		}
		for _, n := range []int{0, 1, 4, 28, len(data) / 2, len(data) - 4, len(data) - 1} {
			if accept(data[:n]) == nil {
				t.Errorf("n = %d: accepted %d bytes of %d", vars, n, len(data))
			}
		}
		if accept(append(slices.Clone(data), 0, 0, 0, 0)) == nil {
			t.Errorf("n = %d: accepted four bytes more", vars)
		}
	}
}

// What the statement says is in the transcript.
func TestStatementIsBound(t *testing.T) {
	n := instance(t, 12, 2, 1)
	other, err := fribinius.New(12, 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	longer, err := fribinius.New(12, 2, 110)
	if err != nil {
		t.Fatal(err)
	}
	state := func(p *fribinius.Params, root fribinius.Root, point []gf2.Element, value gf2.Element) tower.State {
		tr := tower.New(tower.LabelFRIBinius)
		p.AbsorbStatement(tr, root, point, value)
		return tr.State()
	}
	seen := map[tower.State]string{state(n.p, fribinius.Root{}, n.point, delta): "itself"}
	add := func(name string, s tower.State) {
		t.Helper()
		if was, ok := seen[s]; ok {
			t.Errorf("%s makes the transcript of %s", name, was)
		}
		seen[s] = name
	}
	add("another rate", state(other, fribinius.Root{}, n.point, delta))
	add("another number of queries", state(longer, fribinius.Root{}, n.point, delta))
	add("another value", state(n.p, fribinius.Root{}, n.point, delta.Add(gf2.One())))
	for i := range 8 {
		root := fribinius.Root{}
		root[i] = 1
		add(fmt.Sprintf("another word %d of the root", i), state(n.p, root, n.point, delta))
	}
	for i := range n.point {
		point := slices.Clone(n.point)
		point[i] = point[i].Add(gf2.One())
		add(fmt.Sprintf("another coordinate %d", i), state(n.p, fribinius.Root{}, point, delta))
	}
}

package binary_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/sumcheck/binary/binarytest"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// expect runs the verifier on a cheating prover's proof.
func expect(t *testing.T, what string, c binary.Claim, proof *binary.Proof, want error) {
	t.Helper()
	if _, err := binary.Verify(newTranscript(), c, proof); !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", what, err, want)
	}
}

// A prover that goes through the protocol honestly, with a value that is not the sum.
func TestCheatFalseValue(t *testing.T) {
	shapes(t, 200, func(t *testing.T, in *binarytest.Instance) {
		for _, wrong := range []gf2.Element{in.Claim.Value.Add(gf2.One()), in.Claim.Value.Add(gf2.Basis(127)), {}} {
			false1 := *in
			if false1.Claim.Value = wrong; wrong == in.Claim.Value {
				continue // zero is the sum
			}
			expect(t, "a false value", false1.Claim, binarytest.Prove(newTranscript(), &false1, binarytest.Cheat{}), binary.ErrFinal)
		}
	})
}

// A prover that hides a false value from the verifier's first checks: it absorbs the
// true one.
func TestCheatValueAfterwards(t *testing.T) {
	shapes(t, 210, func(t *testing.T, in *binarytest.Instance) {
		proof := binarytest.Prove(newTranscript(), in, binarytest.Cheat{})
		c := in.Claim
		c.Value = c.Value.Add(gf2.Basis(5))
		expect(t, "a value changed", c, proof, binary.ErrFinal)
	})
}

// A prover that chooses its value once it has seen the first challenge: it solves for
// the value that the last check wants. That works against a verifier that does not absorb
// the value, and not against this one.
func TestCheatLateValue(t *testing.T) {
	for d := binary.MinDegree; d <= binary.MaxDegree; d++ {
		in := binarytest.NewInstance(uint64(d), binary.Shape{Vars: 1, Degree: d, Kind: binary.AllExt})
		absorb := func(value bool) func(tr *tower.Transcript) {
			return func(tr *tower.Transcript) {
				// The statement as Verify absorbs it, with and without the value.
				tr.AbsorbWords([]uint32{0x4353425a, 1, uint32(in.Claim.Kind), 1, uint32(d)})
				if value {
					tr.Absorb([]gf2.Element{in.Claim.Value})
				}
			}
		}
		// The words above are those that a proof is made with.
		expect(t, "an honest proof", in.Claim, binarytest.Prove(newTranscript(), in, binarytest.Cheat{Statement: absorb(true)}), nil)

		var point []gf2.Element
		cheat := binarytest.Cheat{Statement: absorb(false),
			// The message of other polynomials.
			Round: func(_ int, message []gf2.Element) { message[0] = message[0].Add(gf2.Basis(9)) },
			Evals: func(p, _ []gf2.Element) { point = p }}
		proof := binarytest.Prove(newTranscript(), in, cheat)
		c := in.Claim
		product := gf2.One()
		for _, e := range proof.Evals {
			product = product.Mul(e)
		}
		// The last round's value is linear in the claim's: two values fix it.
		value := func(v gf2.Element) gf2.Element {
			m := proof.Rounds[0]
			at := append([]gf2.Element{m[0], v.Add(m[0])}, m[1:]...)
			return binary.Interpolate(at, point[0])
		}
		zero := value(gf2.Element{})
		slope := value(gf2.One()).Add(zero)
		c.Value = product.Add(zero).Mul(slope.Inverse())
		if value(c.Value) != product {
			t.Fatal("the cheat does not work")
		}
		expect(t, "a value chosen late", c, proof, binary.ErrFinal)
	}
}

// Any round message may be anything, since the value at 1 follows from the claim; the
// prover goes on with whatever it has sent.
func TestCheatRoundMessage(t *testing.T) {
	shapes(t, 220, func(t *testing.T, in *binarytest.Instance) {
		for i := range in.Claim.Vars {
			for k := range in.Claim.Points() {
				proof := binarytest.Prove(newTranscript(), in, binarytest.Cheat{Round: func(at int, message []gf2.Element) {
					if at == i {
						message[k] = message[k].Add(gf2.Basis(64))
					}
				}})
				expect(t, fmt.Sprintf("round %d, element %d", i, k), in.Claim, proof, binary.ErrFinal)
			}
		}
	})
}

// A prover with a false value that sends a round polynomial with the right sum, the true
// one and a multiple of something that is zero at the challenge it hopes for.
func TestCheatGuessedChallenge(t *testing.T) {
	shapes(t, 230, func(t *testing.T, in *binarytest.Instance) {
		false1 := *in
		offset := gf2.Basis(77)
		false1.Claim.Value = in.Claim.Value.Add(offset)
		guess := gf2.Element{Lo: 3, Hi: 1}
		proof := binarytest.Prove(newTranscript(), &false1, binarytest.Cheat{Round: func(at int, message []gf2.Element) {
			if at > 0 {
				return
			}
			// The error offset (Y + guess) has the sum offset guess + offset (1 + guess) = offset.
			for k := range message {
				y := gf2.Element{Lo: uint64(k)}
				if k > 0 {
					y.Lo++
				}
				message[k] = message[k].Add(offset.Mul(y.Add(guess)))
			}
		}})
		expect(t, "a guessed challenge", false1.Claim, proof, binary.ErrFinal)
		// Were that the challenge, it would do.
		at := append([]gf2.Element{proof.Rounds[0][0], false1.Claim.Value.Add(proof.Rounds[0][0])}, proof.Rounds[0][1:]...)
		honest := binarytest.Prove(newTranscript(), in, binarytest.Cheat{}).Rounds[0]
		true1 := append([]gf2.Element{honest[0], in.Claim.Value.Add(honest[0])}, honest[1:]...)
		if binary.Interpolate(at, guess) != binary.Interpolate(true1, guess) {
			t.Error("the cheat does not work where the challenge is as guessed")
		}
	})
}

// A prover that absorbs other messages than it sends, and so knows other challenges.
func TestCheatAbsorbed(t *testing.T) {
	shapes(t, 240, func(t *testing.T, in *binarytest.Instance) {
		for i := range in.Claim.Vars {
			proof := binarytest.Prove(newTranscript(), in, binarytest.Cheat{Absorb: func(at int, message []gf2.Element) []gf2.Element {
				if at != i {
					return message
				}
				other := slices.Clone(message)
				other[len(other)-1] = other[len(other)-1].Add(gf2.One())
				return other
			}})
			expect(t, fmt.Sprintf("absorbed otherwise in round %d", i), in.Claim, proof, binary.ErrFinal)
		}
	})
}

// A prover that goes on with a challenge of its own.
func TestCheatChallenge(t *testing.T) {
	shapes(t, 250, func(t *testing.T, in *binarytest.Instance) {
		for i := range in.Claim.Vars {
			proof := binarytest.Prove(newTranscript(), in, binarytest.Cheat{Challenge: func(at int, r gf2.Element) gf2.Element {
				if at == i {
					return r.Add(gf2.Basis(1))
				}
				return r
			}})
			expect(t, fmt.Sprintf("own challenge in round %d", i), in.Claim, proof, binary.ErrFinal)
		}
	})
}

// Final evaluations that are not those of the polynomials: with another product they are
// rejected. With the same product Verify cannot tell; it hands them out as they are, for
// the caller's check of the evaluations, which they do not pass.
func TestCheatEvaluations(t *testing.T) {
	shapes(t, 260, func(t *testing.T, in *binarytest.Instance) {
		for k := range in.Claim.Evals() {
			proof := binarytest.Prove(newTranscript(), in, binarytest.Cheat{Evals: func(_, evals []gf2.Element) {
				evals[k] = evals[k].Add(gf2.Basis(100))
			}})
			expect(t, fmt.Sprintf("evaluation %d", k), in.Claim, proof, binary.ErrFinal)
		}
		if in.Claim.Evals() < 2 {
			return
		}
		factor := gf2.Element{Lo: 5, Hi: 7}
		proof := binarytest.Prove(newTranscript(), in, binarytest.Cheat{Evals: func(_, evals []gf2.Element) {
			evals[0] = evals[0].Mul(factor)
			evals[1] = evals[1].Mul(factor.Inverse())
		}})
		r, err := binary.Verify(newTranscript(), in.Claim, proof)
		if err != nil {
			t.Fatalf("evaluations with the right product: %v", err)
		}
		if want := in.EvalAt(r.Point); r.Evals[0] == want[0] || r.Evals[1] == want[1] {
			t.Error("the result's evaluations are not those of the proof")
		}
	})
}

// The evaluations are absorbed: what is drawn after the proof depends on them.
func TestCheatEvaluationsAbsorbed(t *testing.T) {
	in := binarytest.NewInstance(270, binary.Shape{Vars: 3, Degree: 2, Kind: binary.AllExt})
	after := func(cheat binarytest.Cheat) gf2.Element {
		proof := binarytest.Prove(newTranscript(), in, cheat)
		tr := newTranscript()
		if _, err := binary.Verify(tr, in.Claim, proof); err != nil {
			t.Fatal(err)
		}
		return tr.Challenge()
	}
	factor := gf2.Element{Lo: 11}
	if after(binarytest.Cheat{}) == after(binarytest.Cheat{Evals: func(_, evals []gf2.Element) {
		evals[0], evals[1] = evals[0].Mul(factor), evals[1].Mul(factor.Inverse())
	}}) {
		t.Error("a challenge after the proof does not depend on the evaluations")
	}
}

// A proof with eq(z, .) for another z.
func TestCheatOtherPoint(t *testing.T) {
	shapes(t, 280, func(t *testing.T, in *binarytest.Instance) {
		if in.Claim.Kind != binary.EqBits {
			return
		}
		proof := binarytest.Prove(newTranscript(), in, binarytest.Cheat{})
		for i := range in.Claim.Z {
			c := in.Claim
			c.Z = slices.Clone(c.Z)
			c.Z[i] = c.Z[i].Add(gf2.Basis(2))
			expect(t, "z changed", c, proof, binary.ErrFinal)
			// The prover's own polynomial is eq(z, .) too, and absorbs what the verifier does.
			proof := binarytest.Prove(newTranscript(), in, binarytest.Cheat{Statement: func(tr *tower.Transcript) { c.Absorb(tr) }})
			expect(t, "z changed before the proof", c, proof, binary.ErrFinal)
		}
	})
}

// A prover that chooses z once it has seen the challenges. Against a verifier that did
// not absorb z it would solve for a z that makes the last check true.
func TestCheatLatePoint(t *testing.T) {
	for d := binary.MinDegree; d <= binary.MaxDegree; d++ {
		in := binarytest.NewInstance(uint64(290+d), binary.Shape{Vars: 3, Degree: d, Kind: binary.EqBits})
		false1 := *in
		false1.Claim.Value = in.Claim.Value.Add(gf2.One())
		var point []gf2.Element
		proof := binarytest.Prove(newTranscript(), &false1, binarytest.Cheat{
			Statement: func(tr *tower.Transcript) {
				tr.AbsorbWords([]uint32{0x4353425a, 1, uint32(binary.EqBits), 3, uint32(d)})
				tr.Absorb([]gf2.Element{false1.Claim.Value})
			},
			Evals: func(p, _ []gf2.Element) { point = p },
		})
		running := false1.Claim.Value
		for i, m := range proof.Rounds {
			running = binary.Interpolate(append([]gf2.Element{m[0], running.Add(m[0])}, m[1:]...), point[i])
		}
		// z with eq(z, point) times the bits' evaluations = running.
		c := false1.Claim
		c.Z = slices.Clone(c.Z)
		rest := binary.EqEval(c.Z[1:], point[1:])
		for _, e := range proof.Evals {
			rest = rest.Mul(e)
		}
		c.Z[0] = gf2.One().Add(point[0]).Add(running.Mul(rest.Inverse()))
		if binary.EqEval(c.Z[:1], point[:1]).Mul(rest) != running {
			t.Fatal("the cheat does not work")
		}
		expect(t, "z chosen late", c, proof, binary.ErrFinal)
	}
}

// Proofs for one kind, degree or number of variables are none for another one, though
// their lengths be the same.
func TestCheatOtherShape(t *testing.T) {
	in := binarytest.NewInstance(300, binary.Shape{Vars: 4, Degree: 3, Kind: binary.ExtBits})
	proof := binarytest.Prove(newTranscript(), in, binarytest.Cheat{})
	other := in.Claim
	other.Kind = binary.AllExt
	expect(t, "all over the field instead of bits", other, proof, binary.ErrFinal)
	other.Kind, other.Z = binary.EqBits, in.Ext[0][:4]
	expect(t, "eq instead of a table", other, proof, binary.ErrLength)
	for _, s := range []binary.Shape{{4, 2, binary.ExtBits}, {4, 4, binary.ExtBits}, {3, 3, binary.ExtBits}, {5, 3, binary.ExtBits}} {
		other := in.Claim
		other.Shape = s
		expect(t, s.String(), other, proof, binary.ErrLength)
	}
	// One degree more, and one variable less: as many elements, arranged otherwise.
	data, err := in.Claim.AppendProof(nil, proof)
	if err != nil {
		t.Fatal(err)
	}
	if s := (binary.Shape{Vars: 3, Degree: 4, Kind: binary.EqBits}); s.ProofBytes() != in.Claim.ProofBytes() {
		t.Errorf("%v has %d bytes, want %d for the test to mean something", s, s.ProofBytes(), in.Claim.ProofBytes())
	} else if _, err := binary.DecodeProof(s, data); !errors.Is(err, binary.ErrFormat) {
		t.Errorf("decoded as %v: %v", s, err)
	}
	if _, err := binary.DecodeProof(binary.Shape{Vars: 4, Degree: 3, Kind: binary.AllExt}, data); !errors.Is(err, binary.ErrFormat) {
		t.Errorf("decoded as another kind: %v", err)
	}
}

func clone(p *binary.Proof) *binary.Proof {
	c := &binary.Proof{Evals: slices.Clone(p.Evals)}
	for _, m := range p.Rounds {
		c.Rounds = append(c.Rounds, slices.Clone(m))
	}
	return c
}

func TestCheatLengths(t *testing.T) {
	shapes(t, 310, func(t *testing.T, in *binarytest.Instance) {
		good := binarytest.Prove(newTranscript(), in, binarytest.Cheat{})
		for what, change := range map[string]func(p *binary.Proof){
			"a round more":             func(p *binary.Proof) { p.Rounds = append(p.Rounds, p.Rounds[0]) },
			"a round less":             func(p *binary.Proof) { p.Rounds = p.Rounds[1:] },
			"an element of a round":    func(p *binary.Proof) { p.Rounds[0] = append(p.Rounds[0], gf2.One()) },
			"a round without one":      func(p *binary.Proof) { p.Rounds[len(p.Rounds)-1] = p.Rounds[0][1:] },
			"a round of nothing":       func(p *binary.Proof) { p.Rounds[0] = nil },
			"an evaluation more":       func(p *binary.Proof) { p.Evals = append(p.Evals, gf2.One()) },
			"an evaluation less":       func(p *binary.Proof) { p.Evals = p.Evals[1:] },
			"no evaluations":           func(p *binary.Proof) { p.Evals = nil },
			"a round among the others": func(p *binary.Proof) { p.Rounds = slices.Insert(p.Rounds, 0, p.Rounds[0]) },
		} {
			p := clone(good)
			change(p)
			_, err := binary.Verify(newTranscript(), in.Claim, p)
			var l *binary.LengthError
			if !errors.Is(err, binary.ErrLength) || !errors.As(err, &l) || l.Want == l.Got {
				t.Errorf("%s: %v", what, err)
			}
			if _, err := in.Claim.AppendProof(nil, p); !errors.Is(err, binary.ErrLength) {
				t.Errorf("%s: encoded: %v", what, err)
			}
		}
		expect(t, "no proof", in.Claim, nil, binary.ErrLength)
		data, err := in.Claim.AppendProof([]byte("xy"), good)
		if err != nil || string(data[:2]) != "xy" {
			t.Fatal(err)
		}
		data = data[2:]
		for _, bad := range [][]byte{data[:len(data)-1], data[:len(data)-16], append(slices.Clone(data), 0), nil, data[:40]} {
			if _, err := binary.DecodeProof(in.Claim.Shape, bad); !errors.Is(err, binary.ErrLength) {
				t.Errorf("%d bytes instead of %d: %v", len(bad), len(data), err)
			}
		}
	})
}

// Every bit of the header and every byte of the elements counts.
func TestCheatEveryByte(t *testing.T) {
	in := binarytest.NewInstance(320, binary.Shape{Vars: 3, Degree: 2, Kind: binary.EqBits})
	good, err := in.Claim.AppendProof(nil, binarytest.Prove(newTranscript(), in, binarytest.Cheat{}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 1 << (i % 8)
		p, err := binary.DecodeProof(in.Claim.Shape, bad)
		if i < 40 {
			if !errors.Is(err, binary.ErrFormat) {
				t.Errorf("byte %d of the header: %v", i, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		expect(t, fmt.Sprintf("byte %d", i), in.Claim, p, binary.ErrFinal)
	}
}

func TestCheatStatements(t *testing.T) {
	in := binarytest.NewInstance(330, binary.Shape{Vars: 3, Degree: 2, Kind: binary.EqBits})
	good := binarytest.Prove(newTranscript(), in, binarytest.Cheat{})
	for what, change := range map[string]func(c *binary.Claim){
		"z too short":       func(c *binary.Claim) { c.Z = c.Z[1:] },
		"z too long":        func(c *binary.Claim) { c.Z = append(slices.Clone(c.Z), gf2.One()) },
		"no z":              func(c *binary.Claim) { c.Z = nil },
		"a stray z":         func(c *binary.Claim) { c.Kind = binary.ExtBits },
		"no variables":      func(c *binary.Claim) { c.Vars = 0 },
		"too many":          func(c *binary.Claim) { c.Vars = 41 },
		"degree 1":          func(c *binary.Claim) { c.Degree = 1 },
		"degree 6":          func(c *binary.Claim) { c.Degree = 6 },
		"an unknown kind":   func(c *binary.Claim) { c.Kind = 3 },
		"a negative number": func(c *binary.Claim) { c.Vars = -3 },
	} {
		c := in.Claim
		change(&c)
		expect(t, what, c, good, binary.ErrShape)
	}
	if _, err := binary.DecodeProof(binary.Shape{Vars: 1 << 40, Degree: 2}, nil); !errors.Is(err, binary.ErrShape) {
		t.Errorf("a shape that would allocate without bound: %v", err)
	}
}

// A proof is bound to what its transcript has absorbed before it.
func TestCheatOtherTranscript(t *testing.T) {
	in := binarytest.NewInstance(340, binary.Shape{Vars: 4, Degree: 3, Kind: binary.ExtBits})
	commitment := func(w uint32) *tower.Transcript {
		tr := newTranscript()
		tr.AbsorbWords([]uint32{w})
		return tr
	}
	proof := binarytest.Prove(commitment(1), in, binarytest.Cheat{})
	if _, err := binary.Verify(commitment(1), in.Claim, proof); err != nil {
		t.Fatal(err)
	}
	if _, err := binary.Verify(commitment(2), in.Claim, proof); !errors.Is(err, binary.ErrFinal) {
		t.Errorf("after another commitment: %v", err)
	}
}

func FuzzDecodeProof(f *testing.F) {
	s := binary.Shape{Vars: 2, Degree: 3, Kind: binary.ExtBits}
	in := binarytest.NewInstance(1, s)
	good, err := s.AppendProof(nil, binarytest.Prove(newTranscript(), in, binarytest.Cheat{}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := binary.DecodeProof(s, data)
		if err != nil {
			return
		}
		again, err := s.AppendProof(nil, p)
		if err != nil || !slices.Equal(again, data) {
			t.Fatalf("decoded and encoded again: %d bytes became %d, %v", len(data), len(again), err)
		}
		if _, err := binary.Verify(newTranscript(), in.Claim, p); err == nil && !slices.Equal(data, good) {
			t.Fatal("another proof verifies")
		}
	})
}

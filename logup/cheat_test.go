package logup_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/logup"
	"github.com/zkwarp/zkwarp/logup/loguptest"
	"github.com/zkwarp/zkwarp/mle"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
)

func one() m31.QM31 { return m31.OneQM31() }

// expect runs the verifier and compares the error's class, and its layer unless
// that is negative.
func expect(t *testing.T, what string, n int, proof *logup.Proof, want error, layer int) {
	t.Helper()
	_, err := logup.Verify(newTranscript(), n, proof)
	if !errors.Is(err, want) || layer >= 0 && !strings.Contains(err.Error(), fmt.Sprintf("layer %d:", layer)) {
		t.Errorf("%s: got %v, want %v at layer %d", what, err, want, layer)
	}
}

func TestCheatRoot(t *testing.T) {
	for n := range 5 {
		num, den := leaves(21, n)

		// Fractions that do not sum to zero, honestly proved.
		wrong := slices.Clone(num)
		wrong[0] = wrong[0].Add(one())
		expect(t, "sum not zero", n, loguptest.Prove(newTranscript(), wrong, den, loguptest.Cheat{}), logup.ErrNumerator, -1)

		// The same with a root that says zero.
		forged := loguptest.Prove(newTranscript(), wrong, den, loguptest.Cheat{Root: func(p, q *m31.QM31) { *p = m31.QM31{} }})
		if n > 0 {
			expect(t, "sum said to be zero", n, forged, sumcheck.ErrFinal, 0)
		} else if c, err := logup.Verify(newTranscript(), n, forged); err != nil || c.P == wrong[0] {
			t.Errorf("a forged leaf: %v, %v", c, err) // refuted by the caller's check of the leaf
		}

		// Another denominator.
		forged = loguptest.Prove(newTranscript(), num, den, loguptest.Cheat{Root: func(p, q *m31.QM31) { *q = q.Add(one()) }})
		if n > 0 {
			expect(t, "other denominator", n, forged, sumcheck.ErrFinal, 0)
		}

		// A pole: with one zero denominator (and another numerator zero, so that
		// P is zero too) everything adds up but for Q.
		poles, zeros := slices.Clone(den), slices.Clone(num)
		poles[0] = m31.QM31{}
		zeros[0] = m31.QM31{}
		if n > 0 {
			poles[1], zeros[1] = m31.QM31{}, one()
		}
		expect(t, "pole", n, loguptest.Prove(newTranscript(), zeros, poles, loguptest.Cheat{}), logup.ErrDenominator, -1)
		forged = loguptest.Prove(newTranscript(), zeros, poles, loguptest.Cheat{Root: func(p, q *m31.QM31) { *q = one() }})
		if n > 0 {
			expect(t, "pole denied", n, forged, sumcheck.ErrFinal, 0)
		}
	}
}

// A tree that is false from some layer on: everything above is consistent with
// a changed node, and the layer that derives it from true children fails.
func TestCheatTree(t *testing.T) {
	const n = 5
	num, den := leaves(22, n)
	for k := range n {
		for part := range 2 {
			if k == 0 && part == 0 {
				continue // a root that lies is TestCheatRoot's
			}
			cheat := loguptest.Cheat{Tree: func(tree [][2][]m31.QM31) {
				node := &tree[k][part][(1<<k)-1]
				*node = node.Add(one())
				for up := k - 1; up >= 0; up-- { // the layers above, from the changed one
					p, q := tree[up+1][0], tree[up+1][1]
					for x := range 1 << up {
						tree[up][0][x] = p[2*x].Mul(q[2*x+1]).Add(p[2*x+1].Mul(q[2*x]))
						tree[up][1][x] = q[2*x].Mul(q[2*x+1])
					}
				}
			}, Root: func(p, q *m31.QM31) { *p = m31.QM31{} }}
			proof := loguptest.Prove(newTranscript(), num, den, cheat)
			// The sum is not zero any more: with the root that says so, or with a
			// wrong denominator, the first layer is where it breaks.
			expect(t, fmt.Sprintf("node of layer %d, part %d", k, part), n, proof, sumcheck.ErrFinal, 0)
		}
	}
	// Two changes that keep the root: p changes by 1 at two nodes with opposite
	// effect on the sum, so only the layer below notices.
	for k := 1; k < n; k++ {
		cheat := loguptest.Cheat{Tree: func(tree [][2][]m31.QM31) {
			p, q := tree[k][0], tree[k][1]
			p[0] = p[0].Add(q[0])
			p[1] = p[1].Sub(q[1])
			for up := k - 1; up >= 0; up-- {
				p, q := tree[up+1][0], tree[up+1][1]
				for x := range 1 << up {
					tree[up][0][x] = p[2*x].Mul(q[2*x+1]).Add(p[2*x+1].Mul(q[2*x]))
				}
			}
		}}
		expect(t, fmt.Sprint("balanced nodes of layer ", k), n, loguptest.Prove(newTranscript(), num, den, cheat), sumcheck.ErrFinal, k)
	}
}

// Every message of every layer, changed consistently with all that follows.
func TestCheatMessages(t *testing.T) {
	const n = 4
	num, den := leaves(23, n)
	count := 0
	for k := range n {
		at := func(c sumchecktest.Cheat) loguptest.Cheat {
			return loguptest.Cheat{Layer: func(i int) sumchecktest.Cheat {
				if i == k {
					return c
				}
				return sumchecktest.Cheat{}
			}}
		}
		for i := range 3 * k {
			cheat := at(sumchecktest.Cheat{Round: func(round int, message []m31.QM31) {
				if round == i/3 {
					message[i%3] = message[i%3].Add(one())
				}
			}})
			expect(t, "round polynomial", n, loguptest.Prove(newTranscript(), num, den, cheat), sumcheck.ErrFinal, k)
			count++
		}
		for i := range 4 {
			cheat := at(sumchecktest.Cheat{Evals: func(e []m31.QM31) { e[i] = e[i].Add(one()) }})
			expect(t, "evaluation", n, loguptest.Prove(newTranscript(), num, den, cheat), sumcheck.ErrFinal, k)
			count++
		}
		// Evaluations that satisfy the layer's equation and are not the tree's:
		// p0' = p0 + d q0, p1' = p1 - d q1 leaves p0 q1 + p1 q0 as it was.
		cheat := at(sumchecktest.Cheat{Evals: func(e []m31.QM31) {
			e[0], e[1] = e[0].Add(e[2]), e[1].Sub(e[3])
		}})
		proof := loguptest.Prove(newTranscript(), num, den, cheat)
		if k < n-1 {
			expect(t, "consistent evaluations", n, proof, sumcheck.ErrFinal, k+1)
		} else if c, err := logup.Verify(newTranscript(), n, proof); err != nil || mle.Evaluate(num, c.Point) == c.P {
			t.Errorf("at the leaves the caller must refute them: %v", err)
		}
		count++
	}
	t.Log(count, "changed messages rejected")
}

func TestCheatLengths(t *testing.T) {
	const n = 4
	num, den := leaves(24, n)
	fresh := func() *logup.Proof { return loguptest.Prove(newTranscript(), num, den, loguptest.Cheat{}) }
	for what, c := range map[string]struct {
		change func(p *logup.Proof)
		want   error
	}{
		"last layer dropped":  {func(p *logup.Proof) { p.Layers = p.Layers[:n-1] }, logup.ErrLength},
		"first layer dropped": {func(p *logup.Proof) { p.Layers = p.Layers[1:] }, logup.ErrLength},
		"layer repeated":      {func(p *logup.Proof) { p.Layers = append(p.Layers, p.Layers[n-1]) }, logup.ErrLength},
		"no layers":           {func(p *logup.Proof) { p.Layers = nil }, logup.ErrLength},
		"layers swapped":      {func(p *logup.Proof) { p.Layers[1], p.Layers[2] = p.Layers[2], p.Layers[1] }, sumcheck.ErrLength},
		"layer missing":       {func(p *logup.Proof) { p.Layers[2] = nil }, sumcheck.ErrLength},
		"evaluation more":     {func(p *logup.Proof) { p.Layers[2].Evals = append(p.Layers[2].Evals, one()) }, sumcheck.ErrLength},
		"round less":          {func(p *logup.Proof) { p.Layers[2].Rounds = p.Layers[2].Rounds[3:] }, sumcheck.ErrLength},
		"P out of range":      {func(p *logup.Proof) { p.P.A.Re += m31.P }, logup.ErrCanonical},
		"Q out of range":      {func(p *logup.Proof) { p.Q.B.Im += m31.P }, logup.ErrCanonical},
	} {
		p := fresh()
		c.change(p)
		expect(t, what, n, p, c.want, -1)
	}
	expect(t, "no proof", n, nil, logup.ErrLength, -1)
	expect(t, "depth", -1, fresh(), logup.ErrDepth, -1)
	expect(t, "depth", logup.MaxVars+1, fresh(), logup.ErrDepth, -1)
	expect(t, "shallower key", n-1, fresh(), logup.ErrLength, -1)
	expect(t, "deeper key", n+1, fresh(), logup.ErrLength, -1)

	data, err := fresh().AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, data[:len(data)-1], data[:len(data)-16], append(slices.Clone(data), 0)} {
		if _, err := logup.DecodeProof(n, bad); !errors.Is(err, logup.ErrLength) {
			t.Errorf("%d bytes instead of %d: %v", len(bad), len(data), err)
		}
	}
	for _, depth := range []int{-1, logup.MaxVars + 1} {
		if _, err := logup.DecodeProof(depth, data); !errors.Is(err, logup.ErrDepth) {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
}

// Every word of an encoded proof: changed, it is rejected; not canonical, it
// does not decode.
func TestCheatEveryWord(t *testing.T) {
	const n = 3
	num, den := leaves(25, n)
	data, err := loguptest.Prove(newTranscript(), num, den, loguptest.Cheat{}).AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	for w := range logup.Words(n) {
		bad := slices.Clone(data)
		bad[4*w] ^= 1 // also of P-1 this makes a canonical word, P-2
		p, err := logup.DecodeProof(n, bad)
		if err != nil {
			t.Fatalf("word %d: %v", w, err)
		}
		if _, err := logup.Verify(newTranscript(), n, p); err == nil {
			t.Errorf("word %d changed: accepted", w)
		}
		bad[4*w+3] |= 0x80
		if _, err := logup.DecodeProof(n, bad); !errors.Is(err, sumcheck.ErrCanonical) {
			t.Errorf("word %d out of range: %v", w, err)
		}
	}
	t.Log(logup.Words(n), "words changed, all noticed")
}

func FuzzDecodeProof(f *testing.F) {
	f.Add(uint8(2), make([]byte, 4*logup.Words(2)))
	f.Add(uint8(0), []byte{1})
	f.Fuzz(func(t *testing.T, depth uint8, data []byte) {
		p, err := logup.DecodeProof(int(depth), data)
		if err != nil {
			return
		}
		again, err := p.AppendBinary(nil)
		if err != nil || !slices.Equal(again, data) {
			t.Fatalf("decoded and encoded again: %d bytes became %d, %v", len(data), len(again), err)
		}
		_, _ = logup.Verify(newTranscript(), int(depth), p) // must not panic
	})
}

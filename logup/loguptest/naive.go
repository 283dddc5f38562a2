// Package loguptest has the reference prover for tests: the definition of the
// protocol over package sumchecktest, open to manipulation.
package loguptest

import (
	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/logup"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
	"github.com/zkwarp/zkwarp/transcript"
)

// Cheat changes what a prover sends or believes; later messages are made
// consistent with it. Nil fields do nothing.
type Cheat struct {
	// Root may change the root that is sent; the prover goes on with the changed
	// one as its claim.
	Root func(p, q *m31.QM31)
	// Layer returns the manipulation of layer k's sum-check.
	Layer func(k int) sumchecktest.Cheat
	// Tree may change the tree before anything is sent. tree[k] holds the 2^k
	// numerators and denominators of layer k.
	Tree func(tree [][2][]m31.QM31)
}

// Tree adds the fractions num/den up: layer k has 2^k nodes.
func Tree(num, den []m31.QM31) [][2][]m31.QM31 {
	n := 0
	for 1<<n < len(num) {
		n++
	}
	tree := make([][2][]m31.QM31, n+1)
	tree[n] = [2][]m31.QM31{num, den}
	for k := n - 1; k >= 0; k-- {
		p, q := tree[k+1][0], tree[k+1][1]
		for x := range 1 << k {
			tree[k][0] = append(tree[k][0], p[2*x].Mul(q[2*x+1]).Add(p[2*x+1].Mul(q[2*x])))
			tree[k][1] = append(tree[k][1], q[2*x].Mul(q[2*x+1]))
		}
	}
	return tree
}

// Prove follows the protocol for leaves num/den.
func Prove(tr *transcript.Transcript, num, den []m31.QM31, cheat Cheat) *logup.Proof {
	tree := Tree(num, den)
	if cheat.Tree != nil {
		cheat.Tree(tree)
	}
	p, q := tree[0][0][0], tree[0][1][0]
	if cheat.Root != nil {
		cheat.Root(&p, &q)
	}
	proof := &logup.Proof{P: p, Q: q}
	tr.AbsorbExt([]m31.QM31{p, q})
	var point []m31.QM31
	for k := range len(tree) - 1 {
		lambda := tr.Challenge()
		c := sumcheck.Claim{
			Shape:  logup.LayerShape(k),
			Value:  p.Add(lambda.Mul(q)),
			Point:  point,
			Coeffs: []m31.QM31{m31.OneQM31(), m31.OneQM31(), lambda},
		}
		tables := make([][]m31.QM31, 4)
		for i := range tables {
			for x := range 1 << k {
				tables[i] = append(tables[i], tree[k+1][i/2][2*x+i%2])
			}
		}
		var how sumchecktest.Cheat
		if cheat.Layer != nil {
			how = cheat.Layer(k)
		}
		// The point that the layer ends at is the challenges of its rounds, which
		// a verifier's run over a copy of the transcript finds.
		before := tr.Clone()
		layer := sumchecktest.Prove(tr, []sumcheck.Claim{c}, [][][]m31.QM31{tables}, how)
		proof.Layers = append(proof.Layers, layer)
		point = replay(before, c, layer)
		tau := tr.Challenge()
		e := layer.Evals
		p = e[0].Add(tau.Mul(e[1].Sub(e[0])))
		q = e[2].Add(tau.Mul(e[3].Sub(e[2])))
		point = append(point, tau)
	}
	return proof
}

// replay draws the challenges of a layer's rounds.
func replay(tr *transcript.Transcript, c sumcheck.Claim, layer *sumcheck.Proof) []m31.QM31 {
	tr.AbsorbExt([]m31.QM31{c.Value})
	tr.Challenge()
	d := c.Degree()
	var point []m31.QM31
	for i := range c.Vars {
		tr.AbsorbExt(layer.Rounds[i*d : (i+1)*d])
		point = append(point, tr.Challenge())
	}
	return point
}

// ZeroSum makes the fractions sum to zero by choosing the last numerator.
func ZeroSum(num, den []m31.QM31) {
	last := len(num) - 1
	var sum m31.QM31
	for i := range last {
		sum = sum.Add(num[i].Mul(den[i].Inverse()))
	}
	num[last] = sum.Neg().Mul(den[last])
}

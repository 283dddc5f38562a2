package bitproof

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/fribinius"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// Start is the transcript of a proof once the statement and the root are in it.
func (p *Params) Start(root fribinius.Root) *tower.Transcript {
	tr := tower.New(tower.LabelBinary)
	tr.AbsorbBytes(p.digest[:])
	tr.AbsorbWords(root[:])
	return tr
}

// Verify checks that whoever made the proof knows columns with the proof's root that
// obey the statement, up to the error in Report. Errors are Rejections.
func (p *Params) Verify(pf *Proof) error {
	if err := p.checkProof(pf); err != nil {
		return err
	}
	s := &p.statement
	tr := p.Start(pf.Root)
	z := tr.Challenges(s.GateVars() + s.Vars)
	zg, zx := z[:s.GateVars()], z[s.GateVars():]
	tr.Absorb(pf.AtZ)
	for i, c := range s.Zeros {
		if v := c.At(pf.AtZ); v != (gf2.Element{}) {
			return reject(CheckZeros, "%s does not hold", s.Gate(len(s.Ands)+i))
		}
	}
	if !p.hasAnds() {
		rho := tr.Challenges(s.ColumnVars())
		return p.open(tr, pf, rho, zx, inner(EqTable(rho), pf.AtZ))
	}

	claim := binary.Claim{Shape: p.gateShape(), Value: s.OutAt(zg, pf.AtZ), Z: z}
	r, err := binary.Verify(tr, claim, pf.Gates)
	if err != nil {
		return &Rejection{CheckGates, err}
	}
	rg, rx := r.Point[:s.GateVars()], r.Point[s.GateVars():]
	tr.Absorb(pf.AtGates)
	left, right := s.factorsAt(rg, pf.AtGates)
	if r.Evals[0] != left || r.Evals[1] != right {
		return reject(CheckFactors, "the columns' values give other factors than the sum-check ended with")
	}

	rho := tr.Challenges(s.ColumnVars())
	gamma := tr.Challenge()
	eq := EqTable(rho)
	value := inner(eq, pf.AtZ).Add(gamma.Mul(inner(eq, pf.AtGates)))
	r, err = binary.Verify(tr, binary.Claim{Shape: p.joinShape(), Value: value}, pf.Join)
	if err != nil {
		return &Rejection{CheckJoin, err}
	}
	weight := binary.EqEval(zx, r.Point).Add(gamma.Mul(binary.EqEval(rx, r.Point)))
	if r.Evals[0] != weight {
		return reject(CheckWeight, "the sum-check ended with another weight than that of its points")
	}
	return p.open(tr, pf, rho, r.Point, r.Evals[1])
}

// open checks that the committed table has the value at (rho, point).
func (p *Params) open(tr *tower.Transcript, pf *Proof, rho, point []gf2.Element, value gf2.Element) error {
	at := append(append([]gf2.Element(nil), rho...), point...)
	if err := fribinius.Verify(tr, p.commit, pf.Root, at, value, pf.Opening); err != nil {
		return &Rejection{CheckOpening, err}
	}
	return nil
}

// At is c at a point where the columns have these values.
func (c Combination) At(values []gf2.Element) gf2.Element {
	var sum gf2.Element
	if c.One {
		sum = gf2.One()
	}
	for j, v := range values {
		if c.Columns>>j&1 == 1 {
			sum = sum.Add(v)
		}
	}
	return sum
}

// OutAt is the value of the outputs of all AND gates at (point, x), a point of the
// gates' variables and one of the rows' at which the columns have these values.
func (s *Statement) OutAt(point, values []gf2.Element) gf2.Element {
	var sum gf2.Element
	for i, w := range EqTable(point)[:len(s.Ands)] {
		sum = sum.Add(w.Mul(s.Ands[i].Out.At(values)))
	}
	return sum
}

// factorsAt is OutAt for both factors.
func (s *Statement) factorsAt(point, values []gf2.Element) (left, right gf2.Element) {
	for i, w := range EqTable(point)[:len(s.Ands)] {
		left = left.Add(w.Mul(s.Ands[i].Left.At(values)))
		right = right.Add(w.Mul(s.Ands[i].Right.At(values)))
	}
	return left, right
}

// EqTable is eq(point, x) for all x, the first coordinate being that of the top bit
// of x's index.
func EqTable(point []gf2.Element) []gf2.Element {
	out := make([]gf2.Element, 1<<len(point))
	out[0] = gf2.One()
	for i, n := len(point)-1, 1; i >= 0; i, n = i-1, 2*n {
		zero, one := out[:n], out[n:2*n]
		gf2.ScaleVec(one, zero, point[i])
		gf2.AddVec(zero, zero, one)
	}
	return out
}

// inner is the sum of products of values and the first entries of table.
func inner(table, values []gf2.Element) (sum gf2.Element) {
	for i, v := range values {
		sum = sum.Add(table[i].Mul(v))
	}
	return sum
}

// Describe is one line about a proof's parts.
func (p *Params) Describe() string {
	s := &p.statement
	return fmt.Sprintf("%d columns of 2^%d bits, %d AND and %d XOR gates", len(s.Names), s.Vars, len(s.Ands), len(s.Zeros))
}

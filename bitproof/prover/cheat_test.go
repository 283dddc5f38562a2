package prover

import (
	"errors"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/bitproof"
	"github.com/zkwarp/zkwarp/device"
	"github.com/zkwarp/zkwarp/device/devicetest"
	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/fribinius"
	friprover "github.com/zkwarp/zkwarp/fribinius/prover"
	"github.com/zkwarp/zkwarp/sumcheck/binary"
	sumprover "github.com/zkwarp/zkwarp/sumcheck/binary/prover"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// cheat is what a dishonest prover does at each of its messages. It follows the
// transcript: what it sends is what its challenges depend on.
type cheat struct {
	commit  [][]uint32                         // columns to commit to, if others
	atZ     func(b *cheating, v []gf2.Element) // the columns' values at the zero-check's point
	gates   func(b *cheating)                  // the factors that it sums over
	ends    func([]gf2.Element)                // the zero-check's evaluations
	atGates func(b *cheating, values []gf2.Element)
	weight  func(b *cheating, weight, joined []gf2.Element)
	joins   func([]gf2.Element)
	proof   func(*bitproof.Proof)
	stray   func(table []uint32) // the table that is committed to, after the columns

	// Values chosen once rho is known, eq being its weights: what is chosen then was not
	// absorbed. Each leaves out the absorbing of its values.
	lateZ, lateGates func(b *cheating, v, eq []gf2.Element)
}

// cheating is what such a prover knows when it decides.
type cheating struct {
	s      *bitproof.Statement
	pf     *bitproof.Proof
	z, r   []gf2.Element // of the rows
	rg     []gf2.Element // of the gates
	claims gf2.Element   // what the running sum-check has to come to

	left, right []gf2.Element // the factors of all gates in all rows
	zg          []gf2.Element
}

// forge makes a proof about columns that need not obey the statement. Both sum-checks are
// naive ones, over whole tables.
func forge(t *testing.T, p *bitproof.Params, columns [][]uint32, c cheat) *bitproof.Proof {
	t.Helper()
	q := devicetest.Queue(t, devicetest.Open(t, "cpu"))
	up := func(columns [][]uint32) device.Buffer[uint32] {
		u, err := Upload(q, p, columns)
		if err != nil {
			t.Fatal(err)
		}
		return u.table
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	table, committed := up(columns), up(columns)
	if c.commit != nil {
		committed = up(c.commit)
	}
	if c.stray != nil {
		c.stray(committed.Host())
	}
	commitment, root, err := friprover.Commit(t.Context(), q, p.Commitment(), committed)
	must(err)
	s := p.Statement()
	pf := &bitproof.Proof{Root: root}
	b := &cheating{s: s, pf: pf}
	tr := p.Start(root)
	z := tr.Challenges(s.GateVars() + s.Vars)
	b.z = z[s.GateVars():]
	pf.AtZ, err = sumprover.EvaluateBits(q, table, len(s.Names), b.z)
	must(err)
	shape, ands := p.GateShape()
	b.zg, b.left, b.right = z[:s.GateVars()], make([]gf2.Element, 1<<shape.Vars), make([]gf2.Element, 1<<shape.Vars)
	for g, and := range s.Ands {
		for x := range 1 << s.Vars {
			column := func(j int) uint32 { return columns[j][x/32] >> (x % 32) & 1 }
			b.left[g<<s.Vars|x].Lo = uint64(and.Left.Word(column) & 1)
			b.right[g<<s.Vars|x].Lo = uint64(and.Right.Word(column) & 1)
		}
	}
	if c.atZ != nil {
		c.atZ(b, pf.AtZ)
	}
	if c.lateZ == nil {
		tr.Absorb(pf.AtZ)
	}
	open := func(point []gf2.Element) *bitproof.Proof {
		pf.Opening, _, err = commitment.Open(t.Context(), tr, point)
		must(err)
		if c.proof != nil {
			c.proof(pf)
		}
		return pf
	}
	if !ands {
		rho := tr.Challenges(s.ColumnVars())
		if c.lateZ != nil {
			c.lateZ(b, pf.AtZ, bitproof.EqTable(rho))
		}
		return open(append(rho, b.z...))
	}

	b.claims = s.OutAt(b.zg, pf.AtZ)
	if c.gates != nil {
		c.gates(b)
	}
	var point []gf2.Element
	pf.Gates, point = naive(tr, binary.Claim{Shape: shape, Value: b.claims, Z: z}, [][]gf2.Element{bitproof.EqTable(z), b.left, b.right}, func(evals []gf2.Element) []gf2.Element {
		if c.ends != nil {
			c.ends(evals[1:])
		}
		return evals[1:]
	})
	b.rg, b.r = point[:s.GateVars()], point[s.GateVars():]
	pf.AtGates, err = sumprover.EvaluateBits(q, table, len(s.Names), b.r)
	must(err)
	if c.atGates != nil {
		c.atGates(b, pf.AtGates)
	}
	if c.lateGates == nil {
		tr.Absorb(pf.AtGates)
	}

	rho := tr.Challenges(s.ColumnVars())
	gamma := tr.Challenge()
	if c.lateGates != nil {
		c.lateGates(b, pf.AtGates, bitproof.EqTable(rho))
	}
	weight, err := device.Alloc[gf2.Element](q, 1<<s.Vars)
	must(err)
	joined, err := device.Alloc[gf2.Element](q, 1<<s.Vars)
	must(err)
	eq := bitproof.EqTable(rho)
	must(join(q, s, weight, joined, table, eq, b.z, b.r, gamma))
	b.claims = gf2.Element{}
	for j, w := range eq[:len(s.Names)] {
		b.claims = b.claims.Add(w.Mul(pf.AtZ[j].Add(gamma.Mul(pf.AtGates[j]))))
	}
	if c.weight != nil {
		c.weight(b, weight.Host(), joined.Host())
	}
	shape, _ = p.JoinShape()
	pf.Join, point = naive(tr, binary.Claim{Shape: shape, Value: b.claims}, [][]gf2.Element{weight.Host(), joined.Host()}, func(evals []gf2.Element) []gf2.Element {
		if c.joins != nil {
			c.joins(evals)
		}
		return evals
	})
	return open(append(rho, point...))
}

// naive is the sum-check of a product of tables, whatever its claim is.
func naive(tr *tower.Transcript, c binary.Claim, tables [][]gf2.Element, ends func([]gf2.Element) []gf2.Element) (*binary.Proof, []gf2.Element) {
	c.Absorb(tr)
	pf := &binary.Proof{}
	var point []gf2.Element
	work := make([][]gf2.Element, len(tables))
	for j, t := range tables {
		work[j] = slices.Clone(t)
	}
	for range c.Vars {
		half := len(work[0]) / 2
		message := make([]gf2.Element, c.Degree)
		for i := range message {
			at := gf2.Element{Lo: uint64(i)}
			if i > 0 {
				at.Lo++ // 0, 2, 3, ..
			}
			for x := range half {
				product := gf2.One()
				for _, t := range work {
					product = product.Mul(t[x].Add(at.Mul(t[x].Add(t[half+x]))))
				}
				message[i] = message[i].Add(product)
			}
		}
		pf.Rounds = append(pf.Rounds, message)
		tr.Absorb(message)
		r := tr.Challenge()
		point = append(point, r)
		for j, t := range work {
			for x := range half {
				t[x] = t[x].Add(r.Mul(t[x].Add(t[half+x])))
			}
			work[j] = t[:half]
		}
	}
	for _, t := range work {
		pf.Evals = append(pf.Evals, t[0])
	}
	pf.Evals = ends(pf.Evals)
	tr.Absorb(pf.Evals)
	return pf, point
}

// expect is that the verifier rejects a proof by the check, "" for accepts.
func expect(t *testing.T, what string, p *bitproof.Params, pf *bitproof.Proof, check string) {
	t.Helper()
	err := p.Verify(pf)
	var r *bitproof.Rejection
	switch {
	case check == "" && err != nil:
		t.Errorf("%s: %v", what, err)
	case check != "" && (!errors.As(err, &r) || r.Check != check || !errors.Is(err, bitproof.ErrRejected)):
		t.Errorf("%s: got %v, want a rejection by %s", what, err, check)
	}
}

// other is an element that random values differ by.
var other = gf2.Element{Lo: 0x123456789abcdef, Hi: 0xfedcba987654321}

func TestCheats(t *testing.T) {
	p := parse(t, "mixed") // two AND gates, then d ^ e = 1 twice, over a b c d e
	s := p.Statement()
	good := witness(t, s, 5)
	flip := func(column, x int) [][]uint32 {
		out := slices.Clone(good)
		out[column] = slices.Clone(out[column])
		out[column][x/32] ^= 1 << (x % 32)
		return out
	}
	expect(t, "an honest proof", p, forge(t, p, good, cheat{}), "")
	expect(t, "an honest prover's proof", p, honest(t, p, good), "")

	brokenAnd, brokenXor := flip(2, 40), flip(3, 41) // c is in AND gates alone
	expect(t, "an AND gate broken in one row", p, forge(t, p, brokenAnd, cheat{}), bitproof.CheckGates)
	expect(t, "an XOR gate broken in one row", p, forge(t, p, brokenXor, cheat{}), bitproof.CheckZeros)
	expect(t, "an XOR gate broken, with another value at z", p,
		forge(t, p, flip(4, 3), cheat{atZ: func(b *cheating, v []gf2.Element) {
			v[4] = v[3].Add(gf2.One())
			settleC(b, v)
		}}), bitproof.CheckJoin)
	expect(t, "an AND gate broken, with values at z for which the sum is right", p,
		forge(t, p, brokenAnd, cheat{atZ: settleC}), bitproof.CheckJoin)
	expect(t, "a value at z that no gate needs", p, forge(t, p, good, cheat{atZ: func(_ *cheating, v []gf2.Element) { v[1] = v[1].Add(other) }}), bitproof.CheckJoin)
	expect(t, "factors that are no columns", p, forge(t, p, brokenAnd, cheat{gates: adjust}), bitproof.CheckFactors)
	expect(t, "right factors that are no columns", p, forge(t, p, brokenAnd, cheat{gates: func(b *cheating) {
		b.left, b.right = b.right, b.left
		adjust(b)
		b.left, b.right = b.right, b.left
	}}), bitproof.CheckFactors)
	expect(t, "factors whose product is right", p, forge(t, p, good, cheat{ends: scale}), bitproof.CheckFactors)
	expect(t, "a factor that is wrong", p, forge(t, p, good, cheat{ends: func(e []gf2.Element) { e[0] = e[0].Add(other) }}), bitproof.CheckGates)
	expect(t, "a value at the sum-check's point", p,
		forge(t, p, good, cheat{atGates: func(_ *cheating, v []gf2.Element) { v[0] = v[0].Add(other) }}), bitproof.CheckFactors)
	expect(t, "a value at the sum-check's point that no factor needs", p,
		forge(t, p, good, cheat{atGates: func(_ *cheating, v []gf2.Element) { v[4] = v[4].Add(other) }}), bitproof.CheckJoin)
	// One that makes up for a broken gate: factors as adjusted, and columns' values to match.
	expect(t, "factors that are no columns, and values to match", p, forge(t, p, brokenAnd, cheat{gates: adjust, atGates: match}), bitproof.CheckJoin)
	expect(t, "the same, with a table to match", p, forge(t, p, brokenAnd, cheat{gates: adjust, atGates: match, weight: adjustJoined}), bitproof.CheckOpening)
	expect(t, "the same, with a weight to match", p, forge(t, p, brokenAnd, cheat{gates: adjust, atGates: match, weight: adjustWeight}), bitproof.CheckWeight)
	expect(t, "a weight and a value whose product is right", p, forge(t, p, good, cheat{joins: scale}), bitproof.CheckWeight)
	expect(t, "a commitment to other columns", p, forge(t, p, good, cheat{commit: brokenAnd}), bitproof.CheckOpening)
	expect(t, "another root", p, forge(t, p, good, cheat{proof: func(pf *bitproof.Proof) { pf.Root[3] ^= 1 << 7 }}), bitproof.CheckGates)

	expect(t, "bits where there is no column", p, forge(t, p, good, cheat{stray: func(table []uint32) {
		table[len(s.Names)*s.ColumnWords()+1] ^= 1 << 9
	}}), bitproof.CheckOpening)
	// Values that give the factors, chosen once it is known how columns are combined: that
	// of e, which is in no factor, makes up for those of a and b. Were they not absorbed
	// before, all checks would pass.
	expect(t, "values at the sum-check's point chosen late", p, forge(t, p, brokenAnd, cheat{gates: adjust, lateGates: func(b *cheating, v, eq []gf2.Element) {
		makeUp(v, eq, 4, func() { match(b, v) })
	}}), bitproof.CheckJoin)

	p = parse(t, "wide")
	good = witness(t, p.Statement(), 7)
	expect(t, "the last of many XOR gates broken", p, forge(t, p, flip(62, 31), cheat{}), bitproof.CheckZeros)

	// Without AND gates there is the opening alone.
	p = parse(t, "xor")
	good = witness(t, p.Statement(), 6)
	expect(t, "an honest proof without ANDs", p, forge(t, p, good, cheat{}), "")
	broken := flip(2, 9)
	expect(t, "a broken XOR gate", p, forge(t, p, broken, cheat{}), bitproof.CheckZeros)
	expect(t, "a broken XOR gate and a value for which it holds", p,
		forge(t, p, broken, cheat{atZ: func(_ *cheating, v []gf2.Element) { v[2] = v[0].Add(v[1]).Add(gf2.One()) }}), bitproof.CheckOpening)
	expect(t, "values at z chosen late", p, forge(t, p, broken, cheat{lateZ: func(_ *cheating, v, eq []gf2.Element) {
		makeUp(v, eq, 3, func() { v[2] = v[0].Add(v[1]).Add(gf2.One()) })
	}}), bitproof.CheckOpening)
	expect(t, "a value of a column that no gate names", p, forge(t, p, good, cheat{atZ: func(_ *cheating, v []gf2.Element) { v[3] = v[3].Add(other) }}), bitproof.CheckOpening)
}

// makeUp changes values, and then the one of that column so that their combination stays.
func makeUp(v, eq []gf2.Element, column int, change func()) {
	was := sumOf(v, eq)
	change()
	v[column] = v[column].Add(sumOf(v, eq).Add(was).Mul(eq[column].Inverse()))
}

// A prover that commits once it knows z, to a column that is not zero but where it is asked
// for: 2^8 bits leave room for one, as z asks 128 linear equations of them. It would pass
// if the root were not absorbed before z is drawn.
func TestCheatLateRoot(t *testing.T) {
	p := parse(t, "one-xor")
	s := p.Statement()
	z := p.Start(fribinius.Root{}).Challenges(s.Vars)
	column := make([]uint32, s.ColumnWords())
	for x, one := range vanishing(bitproof.EqTable(z)) {
		if one {
			column[x/32] |= 1 << (x % 32)
		}
	}
	q := devicetest.Queue(t, devicetest.Open(t, "cpu"))
	up, err := Upload(q, p, [][]uint32{column})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := sumprover.EvaluateBits(q, up.table, 1, z); err != nil || v[0] != (gf2.Element{}) || slices.Max(column) == 0 {
		t.Fatalf("the cheat does not work: %x has the value %v, %v", column, v, err)
	}
	expect(t, "a root chosen late", p, forge(t, p, [][]uint32{column}, cheat{}), bitproof.CheckZeros)
}

// vanishing is a choice of more than 128 elements, not an empty one, whose sum is zero.
func vanishing(list []gf2.Element) []bool {
	type row struct {
		sum gf2.Element
		of  []bool
	}
	pivots := map[int]row{}
next:
	for i, e := range list {
		r := row{e, make([]bool, len(list))}
		r.of[i] = true
		for bit := range 128 {
			if r.sum.Bit(bit) == 0 {
				continue
			}
			p, ok := pivots[bit]
			if !ok {
				pivots[bit] = r
				continue next
			}
			r.sum = r.sum.Add(p.sum)
			for k, one := range p.of {
				r.of[k] = r.of[k] != one
			}
		}
		return r.of
	}
	return nil
}

// settleC finds a value of c at z for which the zero-check's claim is true: the results of
// the two gates are 1 + c and e + a + c.
func settleC(b *cheating, v []gf2.Element) {
	w := bitproof.EqTable(b.zg)
	v[2] = b.sum().Add(w[0]).Add(w[1].Mul(v[4].Add(v[0]))).Mul(w[0].Add(w[1]).Inverse())
}

// sum is what the zero-check comes to.
func (b *cheating) sum() (sum gf2.Element) {
	for x, w := range bitproof.EqTable(append(slices.Clone(b.zg), b.z...)) {
		sum = sum.Add(w.Mul(b.left[x]).Mul(b.right[x]))
	}
	return sum
}

// adjust changes one entry of a factor so that the zero-check's claim is true.
func adjust(b *cheating) {
	eq := bitproof.EqTable(append(slices.Clone(b.zg), b.z...))
	for x := range b.left {
		if b.right[x] != (gf2.Element{}) {
			b.left[x] = b.left[x].Add(b.claims.Add(b.sum()).Mul(eq[x].Mul(b.right[x]).Inverse()))
			return
		}
	}
}

// match finds values of columns that give both factors: of a and b, which occur in one of
// the two each in gates of the statement "mixed".
func match(b *cheating, v []gf2.Element) {
	// left = w0 (a + b) + w1 b, right = w0 (1 + b + d) + w1 a, w the weights of the gates.
	w := bitproof.EqTable(b.rg)
	left, right := b.pf.Gates.Evals[0], b.pf.Gates.Evals[1]
	// d stays: a = (right + w0 (1 + b + d)) / w1; then w0 a + (w0 + w1) b = left is linear in b.
	k := w[0].Mul(w[1].Inverse())
	// w0 (right + w0 (1 + d)) / w1 + (w0 w0 / w1 + w0 + w1) b = left
	c := k.Mul(right.Add(w[0].Mul(gf2.One().Add(v[3]))))
	v[1] = left.Add(c).Mul(k.Mul(w[0]).Add(w[0]).Add(w[1]).Inverse())
	v[0] = right.Add(w[0].Mul(gf2.One().Add(v[1]).Add(v[3]))).Mul(w[1].Inverse())
}

func sumOf(a, b []gf2.Element) (sum gf2.Element) {
	for x := range a {
		sum = sum.Add(a[x].Mul(b[x]))
	}
	return sum
}

func adjustJoined(b *cheating, weight, joined []gf2.Element) {
	joined[3] = joined[3].Add(b.claims.Add(sumOf(weight, joined)).Mul(weight[3].Inverse()))
}

func adjustWeight(b *cheating, weight, joined []gf2.Element) {
	weight[3] = weight[3].Add(b.claims.Add(sumOf(weight, joined)).Mul(joined[3].Inverse()))
}

// scale keeps the product of two values.
func scale(e []gf2.Element) { e[0], e[1] = e[0].Mul(other), e[1].Mul(other.Inverse()) }

func honest(t *testing.T, p *bitproof.Params, columns [][]uint32) *bitproof.Proof {
	t.Helper()
	pf, err := prove(t, devicetest.Queue(t, devicetest.Open(t, "cpu")), p, columns)
	if err != nil {
		t.Fatal(err)
	}
	return pf
}

// A proof about one statement is none about another, even if it is made to name it.
func TestCheatStatement(t *testing.T) {
	p := parse(t, "chi-5")
	data, err := p.AppendProof(nil, honest(t, p, witness(t, p.Statement(), 8)))
	if err != nil {
		t.Fatal(err)
	}
	s := *p.Statement()
	s.Ands = slices.Clone(s.Ands)
	s.Ands[2].Left.One = !s.Ands[2].Left.One
	q, err := bitproof.NewParams(&s)
	if err != nil {
		t.Fatal(err)
	}
	var r *bitproof.Rejection
	if _, err := q.DecodeProof(data); !errors.As(err, &r) || r.Check != bitproof.CheckStatement {
		t.Errorf("a proof about another statement: %v", err)
	}
	digest := q.Digest()
	copy(data[len(bitproof.Magic)+4:], digest[:])
	pf, err := q.DecodeProof(data)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "a proof made to name another statement", q, pf, bitproof.CheckGates)
}

// Every part of a file: changed in one bit it is rejected, and so is a file of another
// length, without a panic.
func TestTamper(t *testing.T) {
	for _, name := range []string{"chi-5", "xor"} {
		p := parse(t, name)
		data, err := p.AppendProof(nil, honest(t, p, witness(t, p.Statement(), 8)))
		if err != nil {
			t.Fatal(err)
		}
		try := func(data []byte) error {
			pf, err := p.DecodeProof(data)
			if err != nil {
				return err
			}
			return p.Verify(pf)
		}
		if err := try(data); err != nil {
			t.Fatal(err)
		}
		header := len(bitproof.Magic) + 4 + 32
		for at := 0; at < len(data); {
			bad := slices.Clone(data)
			bad[at] ^= 1 << (at % 8)
			if err := try(bad); !errors.Is(err, bitproof.ErrRejected) {
				t.Errorf("%s: byte %d of %d changed: %v", name, at, len(data), err)
			}
			if err := try(data[:at]); !errors.Is(err, bitproof.ErrRejected) {
				t.Errorf("%s: %d bytes of %d: %v", name, at, len(data), err)
			}
			if at++; at > header { // of which every byte is tried
				at += len(data) / 200
			}
		}
		if err := try(append(slices.Clone(data), 0)); !errors.Is(err, bitproof.ErrRejected) {
			t.Errorf("%s: a byte more: %v", name, err)
		}
	}
}

// Proofs that were built and not decoded, with parts missing or too long.
func TestCheatLengths(t *testing.T) {
	p := parse(t, "chi-5")
	good := honest(t, p, witness(t, p.Statement(), 8))
	for what, change := range map[string]func(*bitproof.Proof){
		"no values at z":     func(pf *bitproof.Proof) { pf.AtZ = nil },
		"a value more at z":  func(pf *bitproof.Proof) { pf.AtZ = append(slices.Clone(pf.AtZ), other) },
		"no zero-check":      func(pf *bitproof.Proof) { pf.Gates = nil },
		"a round less":       func(pf *bitproof.Proof) { pf.Gates = &binary.Proof{Rounds: pf.Gates.Rounds[1:], Evals: pf.Gates.Evals} },
		"an evaluation less": func(pf *bitproof.Proof) { pf.Gates = &binary.Proof{Rounds: pf.Gates.Rounds, Evals: pf.Gates.Evals[1:]} },
		"no message": func(pf *bitproof.Proof) {
			pf.Join = &binary.Proof{Rounds: make([][]gf2.Element, 5), Evals: pf.Join.Evals}
		},
		"no sum-check of points":    func(pf *bitproof.Proof) { pf.Join = nil },
		"a value less at the gates": func(pf *bitproof.Proof) { pf.AtGates = pf.AtGates[1:] },
		"a value more at the gates": func(pf *bitproof.Proof) { pf.AtGates = append(slices.Clone(pf.AtGates), other) },
		"a round more": func(pf *bitproof.Proof) {
			pf.Join = &binary.Proof{Rounds: append(slices.Clone(pf.Join.Rounds), pf.Join.Rounds[0]), Evals: pf.Join.Evals}
		},
		"an evaluation more": func(pf *bitproof.Proof) {
			pf.Join = &binary.Proof{Rounds: pf.Join.Rounds, Evals: append(slices.Clone(pf.Join.Evals), other)}
		},
		"no opening": func(pf *bitproof.Proof) { pf.Opening = nil },
	} {
		pf := *good
		change(&pf)
		expect(t, what, p, &pf, bitproof.CheckFormat)
		if _, err := p.AppendProof(nil, &pf); !errors.Is(err, bitproof.ErrRejected) {
			t.Errorf("%s: encoded: %v", what, err)
		}
	}
	expect(t, "no proof", p, nil, bitproof.CheckFormat)
	x := parse(t, "xor")
	pf := honest(t, x, witness(t, x.Statement(), 8))
	for what, change := range map[string]func(*bitproof.Proof){
		"a zero-check of no gates":  func(pf *bitproof.Proof) { pf.Gates = good.Gates },
		"values at the end of none": func(pf *bitproof.Proof) { pf.AtGates = good.AtGates },
		"a sum-check of one point":  func(pf *bitproof.Proof) { pf.Join = good.Join },
	} {
		pf := *pf
		change(&pf)
		expect(t, what, x, &pf, bitproof.CheckFormat)
	}
}

func FuzzDecode(f *testing.F) {
	s, err := bitproof.Parse(statements["square"])
	if err != nil {
		f.Fatal(err)
	}
	p, err := bitproof.NewParams(s)
	if err != nil {
		f.Fatal(err)
	}
	digest := p.Digest()
	f.Add(append(append([]byte(bitproof.Magic), 1, 0, 0, 0), digest[:]...))
	f.Fuzz(func(t *testing.T, data []byte) {
		pf, err := p.DecodeProof(data)
		if err != nil {
			if !errors.Is(err, bitproof.ErrRejected) {
				t.Fatal(err)
			}
			return
		}
		again, err := p.AppendProof(nil, pf)
		if err != nil || !slices.Equal(again, data) {
			t.Fatalf("%d bytes become %d: %v", len(data), len(again), err)
		}
		if err := p.Verify(pf); err != nil && !errors.Is(err, bitproof.ErrRejected) {
			t.Fatal(err)
		}
	})
}

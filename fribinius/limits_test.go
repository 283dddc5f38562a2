package fribinius

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/merkle"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

// zeroOpening is the proof for bits that are all zero. It needs no codeword: all leaves
// are zero, and so all nodes of a level are one digest. That makes proofs of all sizes, the
// largest ones too.
func zeroOpening(t *testing.T, p *Params, point []gf2.Element, value gf2.Element) (Root, *Proof) {
	t.Helper()
	levels := make([][]merkle.DigestOf[merkle.Word], len(p.layers))
	for i := range levels {
		d := hash.Row(make([]merkle.Word, p.Tree(i).RowWords))
		levels[i] = append(levels[i], d)
		for range p.LogLeaves(i) {
			d = hash.Node([]merkle.DigestOf[merkle.Word]{d, d})
			levels[i] = append(levels[i], d)
		}
	}
	root := func(i int) Root { return RootOf(levels[i][p.LogLeaves(i)]) }
	pf := &Proof{Partial: make([]gf2.Element, 1<<Packing), Rounds: make([]Round, p.MessageVars()), Final: make([]gf2.Element, 1<<p.final)}
	tr := tower.New(tower.LabelFRIBinius)
	p.AbsorbStatement(tr, root(0), point, value)
	tr.Absorb(pf.Partial)
	tr.Challenges(Packing)
	rounds := func(n int) {
		for range n {
			tr.Absorb(make([]gf2.Element, 2))
			tr.Challenge()
		}
	}
	for i, l := range p.layers {
		if i > 0 {
			r := root(i)
			pf.Roots = append(pf.Roots, r)
			tr.AbsorbWords(r[:])
		}
		rounds(l.Fold)
	}
	tr.Absorb(pf.Final)
	rounds(p.final)
	indices, err := tr.Indices(p.queries, p.LogLeaves(0))
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range p.layers {
		if i > 0 {
			for k := range indices {
				indices[k] >>= l.Fold
			}
		}
		known := slices.Compact(slices.Sorted(slices.Values(indices)))
		o := Opening{Rows: make([]merkle.Word, len(known)*p.Tree(i).RowWords)}
		for level := range p.LogLeaves(i) {
			for _, at := range known {
				if _, ok := slices.BinarySearch(known, at^1); !ok {
					o.Siblings = append(o.Siblings, levels[i][level])
				}
			}
			for k := range known {
				known[k] >>= 1
			}
			known = slices.Compact(known)
		}
		pf.Openings = append(pf.Openings, o)
	}
	return root(0), pf
}

// Every number of variables and every rate, to the largest: the polynomial that is zero
// has the value 0 at a point, and no other one, whatever else is changed with it.
func TestLimits(t *testing.T) {
	for vars := MinVars; vars <= MaxVars; vars++ {
		for rate := 1; rate <= MaxLogInvRate; rate++ {
			if vars == MaxVars && rate == MaxLogInvRate {
				continue // there are not 100 bits
			}
			p, err := New(vars, rate, MinBits)
			if err != nil {
				t.Fatal(err)
			}
			point := make([]gf2.Element, vars)
			for i := range point {
				point[i] = gf2.Element{Lo: uint64(i + 3), Hi: uint64(vars)}
			}
			verify := func(root Root, value gf2.Element, pf *Proof) error {
				return Verify(tower.New(tower.LabelFRIBinius), p, root, point, value, pf)
			}
			root, pf := zeroOpening(t, p, point, gf2.Element{})
			data, err := p.AppendProof(nil, pf)
			if err != nil {
				t.Fatal(err)
			}
			again, err := p.DecodeProof(data)
			if err != nil {
				t.Fatalf("%v: %v", p, err)
			}
			if err := verify(root, gf2.Element{}, again); err != nil {
				t.Errorf("%v: %v", p, err)
			}
			if back, err := p.AppendProof(nil, again); err != nil || !bytes.Equal(back, data) {
				t.Errorf("%v: another encoding: %v", p, err)
			}

			want := func(what string, err error, check Check) {
				t.Helper()
				var e *Error
				if !errors.As(err, &e) || e.Check != check {
					t.Errorf("%v: %s: got %v, want a rejection by %q", p, what, err, check)
				}
			}
			root, pf = zeroOpening(t, p, point, gf2.One())
			want("the value 1", verify(root, gf2.One(), pf), CheckRingSwitch)
			low := EqTable(point[p.MessageVars():])
			pf.Partial[5] = low[5].Inverse()
			want("the value 1 and partial evaluations for it", verify(root, gf2.One(), pf), CheckFinalClaim)
			_, pf = zeroOpening(t, p, point, gf2.Element{})
			pf.Openings[0].Rows[0] = 1
			want("a row", verify(root, gf2.Element{}, pf), CheckOpening)
		}
	}
}

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

func newTranscript() *tower.Transcript { return tower.New(tower.LabelSumcheck) }

// shapes calls f with a random claim of every kind and degree over a few numbers of
// variables.
func shapes(t *testing.T, seed uint64, f func(t *testing.T, in *binarytest.Instance)) {
	t.Helper()
	for kind := binary.ExtBits; kind <= binary.EqBits; kind++ {
		for d := binary.MinDegree; d <= binary.MaxDegree; d++ {
			for _, n := range []int{1, 2, 5} {
				s := binary.Shape{Vars: n, Degree: d, Kind: kind}
				seed++
				t.Run(fmt.Sprintf("%v-d%d-n%d", kind, d, n), func(t *testing.T) { f(t, binarytest.NewInstance(seed, s)) })
			}
		}
	}
}

// True claims verify, and are reduced to true evaluations.
func TestComplete(t *testing.T) {
	shapes(t, 100, func(t *testing.T, in *binarytest.Instance) {
		prover, verifier := newTranscript(), newTranscript()
		proof := binarytest.Prove(prover, in, binarytest.Cheat{})
		r, err := binary.Verify(verifier, in.Claim, proof)
		if err != nil {
			t.Fatal(err)
		}
		if *prover != *verifier {
			t.Error("prover and verifier end in different states")
		}
		if want := in.EvalAt(r.Point); !slices.Equal(r.Evals, want) {
			t.Errorf("evaluations %v, want %v", r.Evals, want)
		}
		want := gf2.One()
		if in.Claim.Kind == binary.EqBits {
			want = binary.EqEval(in.Claim.Z, r.Point)
		}
		for _, e := range r.Evals {
			want = want.Mul(e)
		}
		if r.Value != want {
			t.Errorf("product %v, want %v", r.Value, want)
		}
		data, err := in.Claim.AppendProof(nil, proof)
		if err != nil {
			t.Fatal(err)
		}
		again, err := binary.DecodeProof(in.Claim.Shape, data)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := binary.Verify(newTranscript(), in.Claim, again); err != nil || r.Value != want {
			t.Errorf("decoded: %v", err)
		}
	})
}

// The naive prover's messages against sums over the cube by definition.
func TestMessages(t *testing.T) {
	in := binarytest.NewInstance(7, binary.Shape{Vars: 4, Degree: 3, Kind: binary.ExtBits})
	tr := newTranscript()
	proof := binarytest.Prove(tr, in, binarytest.Cheat{})
	r, err := binary.Verify(newTranscript(), in.Claim, proof)
	if err != nil {
		t.Fatal(err)
	}
	for i, message := range proof.Rounds {
		for k, y := range []uint64{0, 2, 3} {
			var sum gf2.Element
			for x := range 1 << (3 - i) {
				point := append(slices.Clone(r.Point[:i]), gf2.Element{Lo: y})
				for b := 2 - i; b >= 0; b-- {
					point = append(point, gf2.Element{Lo: uint64(x>>b) & 1})
				}
				product := gf2.One()
				for _, e := range in.EvalAt(point) {
					product = product.Mul(e)
				}
				sum = sum.Add(product)
			}
			if message[k] != sum {
				t.Errorf("round %d: value at %d is %v, want %v", i, y, message[k], sum)
			}
		}
	}
}

// Lagrange's polynomials again, by products and inverses.
func TestCoefficients(t *testing.T) {
	element := func(n int) gf2.Element { return gf2.Element{Lo: uint64(n)} }
	for d := binary.MinDegree; d <= binary.MaxDegree; d++ {
		m := binary.Coefficients(d)
		for j := range d + 1 {
			numerator, denominator := []gf2.Element{gf2.One()}, gf2.One()
			for k := range d + 1 {
				if k == j {
					continue
				}
				next := make([]gf2.Element, len(numerator)+1)
				for i, c := range numerator { // times X + k
					next[i] = next[i].Add(c.Mul(element(k)))
					next[i+1] = next[i+1].Add(c)
				}
				numerator = next
				denominator = denominator.Mul(element(j).Add(element(k)))
			}
			for k, c := range numerator {
				if want := c.Mul(denominator.Inverse()); m[k][j] != want {
					t.Errorf("degree %d, coefficient %d of polynomial %d: %v, want %v", d, k, j, m[k][j], want)
				}
				limit := uint64(16)
				if d < 4 {
					limit = 4
				}
				if m[k][j].Hi != 0 || m[k][j].Lo >= limit {
					t.Errorf("degree %d: %v is not below %d", d, m[k][j], limit)
				}
			}
		}
	}
	if binary.Coefficients(1) != nil || binary.Coefficients(6) != nil {
		t.Error("coefficients of a degree out of range")
	}
}

func TestInterpolate(t *testing.T) {
	for d := binary.MinDegree; d <= binary.MaxDegree; d++ {
		in := binarytest.NewInstance(uint64(d), binary.Shape{Vars: 4, Degree: 2, Kind: binary.AllExt})
		coefficients, points := in.Ext[0][:d+1], in.Ext[1]
		at := func(y gf2.Element) (v gf2.Element) {
			power := gf2.One()
			for _, c := range coefficients {
				v = v.Add(c.Mul(power))
				power = power.Mul(y)
			}
			return v
		}
		values := make([]gf2.Element, d+1)
		for y := range values {
			values[y] = at(gf2.Element{Lo: uint64(y)})
		}
		for y, v := range values {
			if binary.Interpolate(values, gf2.Element{Lo: uint64(y)}) != v {
				t.Errorf("degree %d: wrong at %d", d, y)
			}
		}
		for _, r := range points {
			if got, want := binary.Interpolate(values, r), at(r); got != want {
				t.Errorf("degree %d: %v, want %v", d, got, want)
			}
		}
	}
	if v := binary.Interpolate(make([]gf2.Element, 7), gf2.One()); !v.IsZero() {
		t.Error("a degree out of range has a value")
	}
}

// eq is 1 at z and 0 at all other vertices, and linear in every coordinate.
func TestEqEval(t *testing.T) {
	bits := func(x int) []gf2.Element {
		p := make([]gf2.Element, 4)
		for i := range p {
			p[i].Lo = uint64(x>>i) & 1
		}
		return p
	}
	for z := range 16 {
		for x := range 16 {
			if got := binary.EqEval(bits(z), bits(x)); got.IsZero() == (x == z) {
				t.Errorf("eq(%d, %d) = %v", z, x, got)
			}
		}
	}
	r := binarytest.NewInstance(3, binary.Shape{Vars: 4, Degree: 2, Kind: binary.AllExt}).Ext[0]
	z, p := r[:4], r[4:8]
	for i := range p {
		low, high := slices.Clone(p), slices.Clone(p)
		low[i], high[i] = gf2.Element{}, gf2.One()
		l, h := binary.EqEval(z, low), binary.EqEval(z, high)
		if want := l.Add(p[i].Mul(l.Add(h))); binary.EqEval(z, p) != want {
			t.Errorf("not linear in coordinate %d", i)
		}
	}
}

func TestShapes(t *testing.T) {
	good := binary.Shape{Vars: 5, Degree: 3, Kind: binary.EqBits}
	if good.Points() != 3 || good.Evals() != 2 || good.Ext() != 0 || good.Bits() != 2 || good.Words() != 1 || good.ErrorNumerator() != 15 {
		t.Errorf("counts of %v", good)
	}
	good.Kind = binary.AllExt
	if good.Evals() != 3 || good.Ext() != 3 || good.Bits() != 0 {
		t.Errorf("counts of %v", good)
	}
	good.Kind, good.Vars = binary.ExtBits, 9
	if good.Evals() != 3 || good.Ext() != 1 || good.Bits() != 2 || good.Words() != 16 {
		t.Errorf("counts of %v", good)
	}
	for _, s := range []binary.Shape{{0, 2, 0}, {41, 2, 0}, {-1, 2, 0}, {3, 1, 0}, {3, 6, 0}, {3, 2, -1}, {3, 2, 3}} {
		err := s.Check()
		var r *binary.RangeError
		if !errors.Is(err, binary.ErrShape) || !errors.As(err, &r) || r.Got >= r.Min && r.Got <= r.Max {
			t.Errorf("%v: %v", s, err)
		}
		if _, err := s.AppendProof(nil, nil); !errors.Is(err, binary.ErrShape) {
			t.Errorf("%v encoded: %v", s, err)
		}
	}
	for k := binary.ExtBits; k <= binary.EqBits; k++ {
		if got, err := binary.ParseKind(k.String()); got != k || err != nil {
			t.Errorf("%v: %v, %v", k, got, err)
		}
	}
	if _, err := binary.ParseKind("bits"); !errors.Is(err, binary.ErrShape) {
		t.Errorf("an unknown kind: %v", err)
	}
	if got := binary.Kind(9).String(); got != "kind 9" {
		t.Error(got)
	}
}

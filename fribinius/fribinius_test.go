package fribinius

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field/gf2"
	"github.com/zkwarp/zkwarp/transcript/tower"
)

func random(g *rand.Rand, n int) []gf2.Element {
	v := make([]gf2.Element, n)
	for i := range v {
		v[i] = gf2.Element{Lo: g.Uint64(), Hi: g.Uint64()}
	}
	return v
}

// weight against its definition as a sum over the cube.
func TestWeight(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	for n := range 6 {
		z, r, batch := random(g, n), random(g, n), random(g, Packing)
		combine := EqTable(batch)
		table := make([]gf2.Element, 1<<n)
		for y, e := range EqTable(z) {
			for u := range 128 {
				table[y] = table[y].Add(combine[u].MulBit(e.Bit(u)))
			}
		}
		if got, want := weight(z, r, batch), evaluate(table, r); got != want {
			t.Errorf("%d variables: %v, want %v", n, got, want)
		}
	}
}

func TestAlgebra(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 4))
	z := random(g, 4)
	for x, e := range EqTable(z) {
		want := gf2.One()
		for i, c := range z {
			if x>>(3-i)&1 == 0 {
				c = c.Add(gf2.One())
			}
			want = want.Mul(c)
		}
		if e != want {
			t.Errorf("eq at %d: %v, want %v", x, e, want)
		}
	}
	v := random(g, 128)
	rows := Transpose(v)
	for i := range v {
		for u := range rows {
			if rows[u].Bit(i) != v[i].Bit(u) {
				t.Fatalf("bit %d of row %d", i, u)
			}
		}
	}
	// evaluate is the sum with eq, and Combine on seven coordinates, too.
	r := random(g, Packing)
	if got, want := evaluate(v, r), Combine(v, r); got != want {
		t.Errorf("evaluate: %v, Combine: %v", got, want)
	}
	// A round's polynomial through its values.
	m, claim := Round{v[0], v[1]}, v[2]
	if m.At(claim, gf2.Element{}) != m.AtZero || m.At(claim, gf2.One()) != claim.Add(m.AtZero) {
		t.Error("a round polynomial's values at 0 and 1 do not add up to the claim")
	}
	// And its coefficients, that of X being the claim plus Lead.
	a := v[3]
	if slope := m.At(claim, a).Add(m.AtZero); slope != a.Mul(claim.Add(m.Lead)).Add(a.Square().Mul(m.Lead)) {
		t.Error("the coefficients")
	}
}

// The report lists every error term, its sum is right and at least what was asked for,
// and one query less would not do.
func TestReport(t *testing.T) {
	for vars := MinVars; vars <= MaxVars; vars++ {
		for rate := 1; rate <= MaxLogInvRate; rate++ {
			p, err := New(vars, rate, MinBits)
			if vars == MaxVars && rate == MaxLogInvRate {
				var pe *ParamsError
				if !errors.As(err, &pe) || pe.Got != MinBits || pe.Max >= MinBits {
					t.Fatalf("2^%d bits at rate 2^-%d: %v", vars, rate, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			// By hand, from docs/fribinius.md.
			q := math.Exp2(-128)
			rho := math.Exp2(-float64(rate))
			sum := 7*q + 2*float64(vars-7)*q
			want := []string{"ring switching", "queries"}
			if vars > 7 {
				want = append(want, "sum-check")
			}
			at := vars - 7
			for i, l := range p.Layers() {
				if l.Vars != at || l.Fold > 4 {
					t.Fatalf("%v: layer %d is %+v", p, i, l)
				}
				at -= l.Fold
				sum += float64(l.Fold) * math.Exp2(float64(at+rate)) * q
				if l.Fold > 0 {
					want = append(want, fmt.Sprintf("layer %d: folding", i))
				}
			}
			if at != p.FinalVars() || at > 6 {
				t.Fatalf("%v: the final message has %d variables, the layers leave %d", p, p.FinalVars(), at)
			}
			algebra := sum
			sum += math.Pow((1+rho)/2, float64(p.Queries()))
			r := p.Report()
			if math.Abs(r.Sum+math.Log2(sum)) > 1e-6 {
				t.Errorf("%v: the sum of all errors is 2^%f", p, math.Log2(sum))
			}
			if r.Sum < MinBits || r.Min < r.Sum {
				t.Errorf("%v: minimum %f, sum %f", p, r.Min, r.Sum)
			}
			if less := algebra + math.Pow((1+rho)/2, float64(p.Queries()-1)); -math.Log2(less) >= MinBits {
				t.Errorf("%v: %d queries would do", p, p.Queries()-1)
			}
			if len(r.Lines) != len(want) {
				t.Errorf("%v: lines\n%v", p, r)
			}
			for _, name := range want {
				if !strings.Contains(r.String(), name) {
					t.Errorf("%v: no line %q", p, name)
				}
			}
		}
	}
}

func TestParamsRefused(t *testing.T) {
	for _, c := range []struct{ vars, rate, bits, min, max, got int }{
		{6, 1, 100, 7, 34, 6},
		{35, 1, 100, 7, 34, 35},
		{-1, 1, 100, 7, 34, -1},
		{20, 0, 100, 1, 3, 0},
		{20, 4, 100, 1, 3, 4},
		{20, 1, 99, 100, 115, 99},
		{20, 1, 116, 100, 115, 116},
		{7, 1, 126, 100, 125, 126},
		{34, 3, 100, 100, 99, 100},
		{20, 1, math.MaxInt, 100, 115, math.MaxInt},
	} {
		_, err := New(c.vars, c.rate, c.bits)
		var pe *ParamsError
		if !errors.As(err, &pe) {
			t.Errorf("%+v: %v", c, err)
		} else if pe.Min != c.min || pe.Max != c.max || pe.Got != c.got {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, bits := range []int{100, 110, 115} {
		if p, err := New(20, 1, bits); err != nil || p.Report().Sum < float64(bits) || p.Bits() != bits {
			t.Errorf("%d bits: %v, %v", bits, p, err)
		}
	}
}

// Where no level can be reached the error says so, and not a range without numbers.
func TestParamsErrorOfNoLevel(t *testing.T) {
	_, err := New(34, 3, 100)
	const want = "fribinius: the security level of 2^34 bits at rate 2^-3 is at most 99, want at least 100"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Parameters that nobody made accept nothing.
func TestZeroParams(t *testing.T) {
	p := &Params{}
	if _, err := p.DecodeProof(nil); !errors.Is(err, ErrEncoding) {
		t.Errorf("decoding: %v", err)
	}
	if _, err := p.AppendProof(nil, &Proof{}); !errors.Is(err, ErrEncoding) {
		t.Errorf("encoding: %v", err)
	}
	made, err := New(10, 2, 100)
	if err != nil || made.Check() != nil {
		t.Fatal(err, made.Check())
	}
	if _, err := made.AppendProof(nil, nil); !errors.Is(err, ErrEncoding) {
		t.Errorf("encoding no proof: %v", err)
	}
	for _, p := range []*Params{p, nil} {
		var e *Error
		var pe *ParamsError
		if err := Verify(tower.New(tower.LabelTest), p, Root{}, nil, gf2.Element{}, &Proof{}); !errors.As(err, &e) || e.Check != CheckStatement || !errors.As(err, &pe) {
			t.Errorf("verification: %v", err)
		}
	}
}

// Layers of the smallest and of middle sizes, as docs/fribinius.md has them.
func TestLayers(t *testing.T) {
	for vars, want := range map[int]string{
		7:  "[{0 0}] 0",
		8:  "[{1 1}] 0",
		11: "[{4 4}] 0",
		13: "[{6 4}] 2",
		17: "[{10 4}] 6",
		18: "[{11 4} {7 4}] 3",
		28: "[{21 4} {17 4} {13 4} {9 4}] 5",
	} {
		p, err := New(vars, 1, 100)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.Layers(), p.FinalVars()); got != want {
			t.Errorf("%d variables: layers and final message %s, want %s", vars, got, want)
		}
	}
}

package quant

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestFunctions compares the software functions with values computed to 60 digits by mpmath.
func TestFunctions(t *testing.T) {
	for _, c := range []struct{ x, sigmoid, tanh string }{
		{"-20", "0.00000000206115361819020358143086212947459269075249002", "-0.999999999999999991503291489416822045438558191"},
		{"-3.5", "0.0293122307513563188652895581141815838941821298", "-0.998177897611198709284273352450611717351703879"},
		{"-0.001", "0.499750000020833331250000210813470706571828779", "-0.000999999666666799999946031767901225704669296792"},
		{"0", "0.5", "0.0"},
		{"0.3", "0.574442516811658987152071265234651765026080683", "0.291312612451590905818221272823765928153596805"},
		{"1", "0.73105857863000487925115924182183627436514464", "0.761594155955764888119458282604793590412768597"},
		{"7.25", "0.999290329600899411844489395332091473947976118", "0.999998991305183597096745364820470254057174995"},
		{"19.9", "0.999999997722072963983583863995859023596363974", "0.999999999999999989622096789890717876639417948"},
		{"150", "1.0", "1.0"},
	} {
		x := parse(t, c.x)
		for _, f := range []struct {
			name string
			u    unary
			want string
		}{{"sigmoid", unary{kind: sigmoid}, c.sigmoid}, {"tanh", unary{kind: tanh}, c.tanh}} {
			got, want := f.u.apply(x), parse(t, f.want)
			diff := new(big.Float).Sub(got, want)
			if diff.Sign() != 0 && diff.MantExp(nil) > -130 {
				t.Errorf("%s(%s) = %s, expected %s", f.name, c.x, got.Text('g', 45), f.want)
			}
		}
	}
	if got := (unary{kind: sigmoid}).apply(number(1e9)); got.Cmp(number(1)) != 0 {
		t.Errorf("sigmoid far to the right is %s", got)
	}
	if got := (unary{kind: tanh}).apply(number(-1e9)); got.Cmp(number(-1)) != 0 {
		t.Errorf("tanh far to the left is %s", got)
	}
}

func parse(t *testing.T, s string) *big.Float {
	t.Helper()
	v, _, err := big.ParseFloat(s, 10, precision, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestTableValues compares whole tables, which are filled by bisection, with a direct evaluation in float64. They may differ by one
// code only where the exact value is at a rounding boundary.
func TestTableValues(t *testing.T) {
	for _, chain := range [][]unary{
		nil,
		{{kind: relu}},
		{{kind: clip, a: -1.25, b: 0.7}},
		{{kind: clip, a: math.Inf(-1), b: 0.7}, {kind: relu}},
		{{kind: sigmoid}},
		{{kind: tanh}, {kind: scaleBy, a: -3}},
		{{kind: tanh}, {kind: relu}, {kind: sigmoid}},
	} {
		const bits, qScale, yScale, lo, hi = 11, 0.0071, 0.0113, -90, 99
		y := tableValues(chain, bits, qScale, yScale, lo, hi)
		boundary := 0
		for i, got := range y {
			v := float64(i-1<<(bits-1)) * qScale
			for _, u := range chain {
				switch u.kind {
				case relu:
					v = max(v, 0)
				case clip:
					v = min(max(v, u.a), u.b)
				case sigmoid:
					v = 1 / (1 + math.Exp(-v))
				case tanh:
					v = math.Tanh(v)
				case scaleBy:
					v *= u.a
				}
			}
			v = v/yScale + 0.5
			if want := min(max(math.Floor(v), lo), hi); float64(got) != want {
				if math.Abs(v-math.Round(v)) > 1e-9 {
					t.Fatalf("%v: row %d is %d, expected %g", chain, i, got, want)
				}
				boundary++
			}
		}
		if boundary > 4 {
			t.Errorf("%v: %d rows at a boundary", chain, boundary)
		}
	}
}

// TestClampIsExact checks that equal scales cancel to the last code, whatever the scale, as plainClamp assumes.
func TestClampIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		scale := math.Ldexp(rng.Float64()+0.1, rng.IntN(60)-30)
		for _, q := range []int64{-131072, -128, -127, -1, 0, 1, 2, 126, 127, 128, 131071} {
			if got, want := code(nil, q, scale, scale, -127, 127), min(max(q, -127), 127); got != want {
				t.Fatalf("scale %g: code of %d is %d, expected %d", scale, q, got, want)
			}
		}
	}
}

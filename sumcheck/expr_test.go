package sumcheck_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
	"github.com/zkwarp/zkwarp/sumcheck/sumchecktest"
)

// names are a text's values by name, for an expression of it.
func named(e *sumcheck.Expr, columns, scalars []m31.QM31) map[string]m31.QM31 {
	v := map[string]m31.QM31{}
	for i, name := range e.Columns() {
		v[name] = columns[i]
	}
	for i, name := range e.Scalars() {
		v[name] = scalars[i]
	}
	return v
}

// sameAsText compares an expression with its text at a random place, and its
// degree along a random line.
func sameAsText(t *testing.T, rng *rand.Rand, text string, e *sumcheck.Expr) {
	t.Helper()
	n := len(e.Columns())
	from, step, scalars := sumchecktest.Random(rng, n), sumchecktest.Random(rng, n), sumchecktest.Random(rng, len(e.Scalars()))
	at := make([]m31.QM31, e.Degree()+1)
	for x := range e.Degree() + 2 {
		columns := make([]m31.QM31, n)
		for k := range columns {
			columns[k] = from[k].Add(step[k].MulBase(m31.Element(x)))
		}
		got, err := e.Eval(columns, scalars)
		if err != nil {
			t.Fatal(err)
		}
		if want := sumchecktest.EvalText(text, named(e, columns, scalars)); got != want {
			t.Fatalf("%q compiled to %v: got %v, want %v", text, e, got, want)
		}
		if x < len(at) {
			at[x] = got
		} else if sumcheck.Interpolate(at, m31.Lift(m31.Element(x))) != got {
			t.Fatalf("%q is not of degree %d", text, e.Degree())
		}
	}
}

// reparses checks that the canonical text stands for the same.
func reparses(t *testing.T, text string, e *sumcheck.Expr) {
	t.Helper()
	again, err := sumcheck.Compile(e.String(), sumcheck.Scalars(e.Scalars()...))
	if err != nil {
		t.Fatalf("%q: canonical text %q: %v", text, e, err)
	}
	if again.String() != e.String() || !slices.Equal(again.Columns(), e.Columns()) || again.Eq() != e.Eq() ||
		again.Degree() != e.Degree() || !reflect.DeepEqual(again.Program(), e.Program()) {
		t.Fatalf("%q: %q with %v became %q with %v", text, e, e.Columns(), again, again.Columns())
	}
}

func TestExprAgainstText(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 31))
	compiled := 0
	for range 3000 {
		text := sumchecktest.RandomText(rng, 1+rng.IntN(sumcheck.MaxExprDegree))
		e, err := sumcheck.Compile(text, sumcheck.Scalars("s", "t"))
		if errors.Is(err, sumcheck.ErrExprScalar) {
			e, err = sumcheck.Compile(text) // s and t are columns like others
		}
		if errors.Is(err, sumcheck.ErrExprColumn) || errors.Is(err, sumcheck.ErrExprDegree) {
			continue // something cancels; s and t count
		}
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		compiled++
		sameAsText(t, rng, text, e)
		reparses(t, text, e)
	}
	if compiled < 1500 {
		t.Errorf("only %d of 3000 texts compiled", compiled)
	}
}

func TestExprCanonical(t *testing.T) {
	for text, want := range map[string]string{
		" eq*( a*b-c ) ":              "eq*(a*b - c)",
		"(a*b-c)*eq":                  "eq*(a*b - c)",
		"a*b*eq":                      "eq*a*b",
		"-a*eq":                       "eq*(-a)",
		"a+b+a":                       "2*a + b",
		"a*b+b*a":                     "2*a*b",
		"(a+b)*c*(b+a)":               "(a + b)^2*c",
		"2*(a+b)*3":                   "6*a + 6*b",
		"1-a":                         "1 - a",
		"a-1":                         "a - 1",
		"-(a+b)*c":                    "-(a + b)*c",
		"2147483646*a":                "-a",
		"2147483648*a + 4294967294*b": "", // p divides b's coefficient
		"(a+1)^0*b":                   "", // a is gone
		"3^2*a^1*2":                   "18*a",
		"a*(b-b+1)":                   "", // b cancels
		"lambda*a*lambda^2":           "lambda^3*a",
		"a - b + c*(1 - c)^2*a":       "a - b + c*(1 - c)^2*a",
	} {
		var options []sumcheck.ExprOption
		if strings.Contains(text, "lambda") {
			options = append(options, sumcheck.Scalars("lambda"))
		}
		e, err := sumcheck.Compile(text, options...)
		if want == "" {
			if !errors.Is(err, sumcheck.ErrExprColumn) {
				t.Errorf("%q: %v, %v", text, e, err)
			}
			continue
		}
		if err != nil || e.String() != want {
			t.Errorf("%q: got %v, %v, want %q", text, e, err, want)
		}
	}
}

// Multiplications are few where terms share factors.
func TestExprOperations(t *testing.T) {
	for text, want := range map[string]int{
		"eq*(a*b-c)":                          1,
		"p0*q1 + p1*q0 + s*q0*q1":             3,
		"a*b + a*c + a*d":                     1,
		"a^8":                                 3,
		"(a+b)*(c+d) + (a+b)*e":               1,
		"(1-a)*(1-b)*(1-c) + (1-a)*(1-b)":     2,
		"s*a + s^2*b + s^3*c":                 5, // two of them of scalars alone
		"s*a + s*b + s*c":                     1,
		"s*a*b + s*a*c":                       2,
		"a*b*c*d + a*b + (a*b)^2*(c - 3) + s": 4,
	} {
		e, err := sumcheck.Compile(text, sumcheck.Scalars("s"))
		if errors.Is(err, sumcheck.ErrExprScalar) {
			e, err = sumcheck.Compile(text)
		}
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, in := range e.Program().Code {
			if in.Op == sumcheck.OpMul {
				got++
			}
		}
		if got > want {
			t.Errorf("%s: %d multiplications, want %d: %v", text, got, want, e.Program().Code)
		}
	}
}

func TestExprBuilder(t *testing.T) {
	a, b, c, s := sumcheck.Col("a"), sumcheck.Col("b"), sumcheck.Col("c"), sumcheck.Scalar("s")
	for want, form := range map[string]sumcheck.Form{
		"eq*(a*b - c)":     sumcheck.EqFactor().Mul(a.Mul(b).Sub(c)),
		"s*a^3 + 5 - b":    s.Mul(a.Pow(3)).Add(sumcheck.Const(5), b.Neg()),
		"-7*a*b*c":         a.Mul(b, c, sumcheck.Const(-7)),
		"(a + b)^2*(b+-c)": a.Add(b).Pow(2).Mul(b.Sub(c)),
	} {
		e, err := sumcheck.Build(form)
		if err != nil {
			t.Fatal(err)
		}
		w := sumcheck.MustCompile(want, sumcheck.Scalars(e.Scalars()...))
		if e.String() != w.String() || !slices.Equal(e.Columns(), w.Columns()) {
			t.Errorf("%s: got %v with %v", want, e, e.Columns())
		}
	}
	// The order of columns and scalars is the caller's where he gives one.
	e, err := sumcheck.Build(a.Mul(s).Add(b.Mul(sumcheck.Scalar("r"))), sumcheck.Columns("b", "a"), sumcheck.Scalars("r", "s"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(e.Columns(), []string{"b", "a"}) || !slices.Equal(e.Scalars(), []string{"r", "s"}) {
		t.Errorf("columns %v, scalars %v", e.Columns(), e.Scalars())
	}
	sameAsText(t, rand.New(rand.NewPCG(1, 1)), "a*s + b*r", e)
	if s := e.Shape(7); s.Check() != nil || s.Vars != 7 || s.Factors != 2 || s.NumCoeffs() != 2 || s.Degree() != 1 || s.Eq {
		t.Errorf("shape %+v: %v", s, s.Check())
	}
	if s := sumcheck.MustCompile("eq*a*b").Shape(3); s.Degree() != 3 || s.InnerDegree() != 2 || !s.Eq {
		t.Errorf("shape %+v", s)
	}
}

// A form that is used again and again is not worked out again and again.
func TestExprSharedForms(t *testing.T) {
	f := sumcheck.Col("a")
	for range 1000 {
		f = f.Add(f)
	}
	e, err := sumcheck.Build(f)
	if err != nil {
		t.Fatal(err)
	}
	want := m31.Element(2).Exp(1000)
	if got, err := e.Eval([]m31.QM31{m31.OneQM31()}, nil); err != nil || got != m31.Lift(want) {
		t.Errorf("2^1000 is %v, got %v, %v", want, got, err)
	}
	if _, err := e.Eval(nil, nil); !errors.Is(err, sumcheck.ErrShape) {
		t.Errorf("no columns: %v", err)
	}
}

// Forms whose canonical text no text could be are refused, however little there
// is of them, and in no time.
func TestExprTextLimits(t *testing.T) {
	shared, deep := sumcheck.Scalar("s"), sumcheck.Scalar("s")
	for i := range int64(60) { // a text of 2^60 parts
		shared = shared.Add(sumcheck.Const(i + 1)).Mul(shared.Add(sumcheck.Const(i + 77)))
	}
	for i := range int64(250) {
		deep = deep.Mul(sumcheck.Scalar("t")).Add(sumcheck.Const(i + 1))
	}
	many := sumcheck.Scalar("s")
	for i := range int64(9) { // more operands than a text may have, in few bytes
		many = many.Add(sumcheck.Const(i + 1)).Mul(many.Add(sumcheck.Const(i + 2)))
	}
	a := sumcheck.Col("a")
	if e, err := sumcheck.Build(many.Mul(a)); err != nil {
		t.Error(err)
	} else if _, err := sumcheck.Compile(e.String(), sumcheck.Scalars("s")); err != nil {
		t.Errorf("canonical text: %v", err)
	}
	many = many.Add(sumcheck.Const(8)).Mul(many.Add(sumcheck.Const(9)))
	many = many.Add(sumcheck.Const(10)).Mul(many.Add(sumcheck.Const(11)))
	for name, f := range map[string]sumcheck.Form{"shared": shared, "deep": deep, "many": many} {
		if _, err := sumcheck.Build(f.Mul(a)); !errors.Is(err, sumcheck.ErrExprLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestExprErrors(t *testing.T) {
	many := func(n int, format, by string) string {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf(format, i))
		}
		return strings.Join(parts, by)
	}
	long := strings.Repeat("x", 65)
	for _, c := range []struct {
		text          string
		kind          error
		pos           int
		expected, got string
	}{
		{"", sumcheck.ErrExprSyntax, 0, "a name", "the end"},
		{"a*", sumcheck.ErrExprSyntax, 2, "a name", "the end"},
		{"a b", sumcheck.ErrExprSyntax, 2, "an operator", "'b'"},
		{"(a", sumcheck.ErrExprSyntax, 2, "an operator or )", "the end"},
		{"a)", sumcheck.ErrExprSyntax, 1, "an operator", "')'"},
		{"a^", sumcheck.ErrExprSyntax, 2, "an exponent", "the end"},
		{"a^-1", sumcheck.ErrExprSyntax, 2, "an exponent", "'-'"},
		{"a^2^2", sumcheck.ErrExprSyntax, 3, "an operator", "'^'"},
		{"2a", sumcheck.ErrExprSyntax, 1, "an operator", "'a'"},
		{"a\x00", sumcheck.ErrExprSyntax, 1, "an operator", `\x00`},
		{"a + é", sumcheck.ErrExprSyntax, 4, "a name", "Ã"},
		{"a^9", sumcheck.ErrExprDegree, 0, "at most 8", "9"},
		{"b + a^4*b^5", sumcheck.ErrExprDegree, 4, "at most 8", "9"},
		{"(a+b)^3*(a*b)^3", sumcheck.ErrExprDegree, 0, "at most 8", "9"},
		{"a^4294967296", sumcheck.ErrExprDegree, 0, "at most 8", "4294967296"},
		{"a^4294967297", sumcheck.ErrExprLimit, 0, "2^32", "4294967297"},
		{"a*s^65", sumcheck.ErrExprLimit, 2, "at most 64", "65"},
		{strings.Repeat("(", 300) + "a" + strings.Repeat(")", 300), sumcheck.ErrExprLimit, 201, "200 nested", "more"},
		{many(65, "c%d", "+"), sumcheck.ErrExprLimit, -1, "at most 64 columns", "65"},
		{many(65, "a^2*b%d", "+"), sumcheck.ErrExprLimit, -1, "at most 64 columns", "66"},
		{many(5000, "a%d", "+"), sumcheck.ErrExprLimit, 23466, "at most 4096", "more"},
		{many(1000, "a*s+%d", "+"), sumcheck.ErrExprLimit, 0, "", ""}, // compiles: replaced below
		{long, sumcheck.ErrExprLimit, -1, "at most 64 bytes", "65 bytes"},
		{strings.Repeat(" ", 1<<17), sumcheck.ErrExprLimit, -1, "at most 65536 bytes", "131072"},
		{"eq", sumcheck.ErrExprColumn, -1, "at least one column", "none"},
		{"17", sumcheck.ErrExprColumn, -1, "at least one column", "none"},
		{"s + 1", sumcheck.ErrExprColumn, -1, "at least one column", "none"},
		{"a - a", sumcheck.ErrExprColumn, -1, "at least one column", "none"},
		{"a - a + b", sumcheck.ErrExprColumn, -1, "column a", "does not"},
		{"0*a + b", sumcheck.ErrExprColumn, -1, "column a", "does not"},
		{"(a+b)^2 - a^2 - 2*a*b - b^2 + c", sumcheck.ErrExprColumn, -1, "column a", "does not"},
		{"eq + a", sumcheck.ErrExprEq, 0, "eq times the whole", "a term of a sum"},
		{"a + b*eq", sumcheck.ErrExprEq, 4, "eq times the whole", "a term of a sum"},
		{"eq*a - eq*b", sumcheck.ErrExprEq, 0, "eq times the whole", "a term of a sum"},
		{"eq*eq*a", sumcheck.ErrExprEq, 0, "one factor eq", "two"},
		{"eq^2*a", sumcheck.ErrExprEq, 0, "the power 1", "the power 2"},
		{"eq*(a + eq)", sumcheck.ErrExprEq, 8, "eq times the whole", "a term of a sum"},
	} {
		var options []sumcheck.ExprOption
		if strings.Contains(c.text, "s") {
			options = append(options, sumcheck.Scalars("s"))
		}
		_, err := sumcheck.Compile(c.text, options...)
		if c.expected == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		var e *sumcheck.ExprError
		if !errors.As(err, &e) || !errors.Is(err, c.kind) || !errors.Is(err, sumcheck.ErrShape) {
			t.Errorf("%.40q: %v, want %v", c.text, err, c.kind)
			continue
		}
		if e.Pos != c.pos || !strings.Contains(e.Expected, c.expected) || !strings.Contains(e.Got, c.got) {
			t.Errorf("%.40q: %+v, want position %d, expected %q, got %q", c.text, e, c.pos, c.expected, c.got)
		}
	}
}

func TestExprNames(t *testing.T) {
	type options []sumcheck.ExprOption
	for text, c := range map[string]struct {
		options options
		kind    error
	}{
		"a + b":   {options{sumcheck.Columns("a")}, sumcheck.ErrExprColumn},
		"a":       {options{sumcheck.Columns("a", "b")}, sumcheck.ErrExprColumn},
		"a + s":   {options{sumcheck.Scalars("s", "t")}, sumcheck.ErrExprScalar},
		"a*b":     {options{sumcheck.Columns("a", "b", "a")}, sumcheck.ErrExprSyntax},
		"a*b*c":   {options{sumcheck.Scalars("a"), sumcheck.Columns("a", "b", "c")}, sumcheck.ErrExprSyntax},
		"a*b + c": {options{sumcheck.Scalars("eq")}, sumcheck.ErrExprSyntax},
		"a+0*s+b": {options{sumcheck.Scalars("s")}, sumcheck.ErrExprScalar},
	} {
		if _, err := sumcheck.Compile(text, c.options...); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %v", text, err, c.kind)
		}
	}
	a, s := sumcheck.Col("a"), sumcheck.Scalar("s")
	for what, c := range map[string]struct {
		form    sumcheck.Form
		options options
		kind    error
	}{
		"zero form":       {sumcheck.Form{}, nil, sumcheck.ErrExprSyntax},
		"zero operand":    {a.Mul(sumcheck.Form{}), nil, sumcheck.ErrExprSyntax},
		"column eq":       {sumcheck.Col("eq"), nil, sumcheck.ErrExprSyntax},
		"no name":         {sumcheck.Col(""), nil, sumcheck.ErrExprSyntax},
		"column gone":     {a.Sub(a).Add(sumcheck.Scalar("a").Mul(sumcheck.Col("b"))), nil, sumcheck.ErrExprColumn}, // a scalar of its name is left
		"bad name":        {sumcheck.Col("a b"), nil, sumcheck.ErrExprSyntax},
		"number":          {sumcheck.Col("1a"), nil, sumcheck.ErrExprSyntax},
		"unknown scalar":  {a.Mul(s), options{sumcheck.Scalars("t")}, sumcheck.ErrExprScalar},
		"unknown column":  {a.Mul(s), options{sumcheck.Columns("b")}, sumcheck.ErrExprColumn},
		"both":            {a.Mul(sumcheck.Scalar("a")), nil, sumcheck.ErrExprSyntax},
		"both, listed":    {a.Mul(s), options{sumcheck.Scalars("a", "s")}, sumcheck.ErrExprSyntax},
		"too many scalar": {scalarSum(65), nil, sumcheck.ErrExprLimit},
		"too deep":        {deep(3000), nil, sumcheck.ErrExprLimit},
		"too many terms":  {terms(600), nil, sumcheck.ErrExprLimit},
		"too much code":   {terms(300).Mul(terms(200).Pow(2).Add(terms(301))), nil, sumcheck.ErrExprLimit},
	} {
		_, err := sumcheck.Build(c.form, c.options...)
		if e := (*sumcheck.ExprError)(nil); !errors.As(err, &e) || !errors.Is(err, c.kind) || e.Expected == "" || e.Got == "" {
			t.Errorf("%s: %v, want %v", what, err, c.kind)
		}
	}
}

func scalarSum(n int) sumcheck.Form {
	f := sumcheck.Col("a")
	for i := range n {
		f = f.Add(sumcheck.Scalar(fmt.Sprint("s", i)))
	}
	return f
}

func deep(n int) sumcheck.Form {
	f := sumcheck.Col("a")
	for range n {
		f = f.Neg()
	}
	return f
}

// terms is a sum of n products of two of forty columns.
func terms(n int) sumcheck.Form {
	var f []sumcheck.Form
	for i := range 40 {
		for j := range i {
			if len(f) < n {
				f = append(f, sumcheck.Col(fmt.Sprint("c", i)).Mul(sumcheck.Col(fmt.Sprint("c", j))))
			}
		}
	}
	return f[0].Add(f[1:]...)
}

// FuzzCompile: whatever the text, it compiles or is refused with a reason; and
// what compiles is what the text says, as is its canonical text.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{"eq*(a*b-c)", "s*a^2 - -3*(b+1)^2*eq", "((a)", "a^65536*0", "1-a", "a*b*(c+a)*(1-a*b)"} {
		f.Add(s, uint64(1))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		e, err := sumcheck.Compile(text)
		if err != nil {
			if e := (*sumcheck.ExprError)(nil); !errors.As(err, &e) || e.Expected == "" || e.Got == "" || e.Pos > len(text) {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		rng := rand.New(rand.NewPCG(seed, 2))
		reparses(t, text, e)
		sameAsText(t, rng, e.String(), e)
		if !strings.Contains(text, "^") { // big exponents are slow by definition
			sameAsText(t, rng, text, e)
		}
	})
}

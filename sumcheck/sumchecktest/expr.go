package sumchecktest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/sumcheck"
)

// EvalText evaluates the text of an expression as it stands, by its grammar
// alone; values has the columns and scalars by name, and eq counts as 1. It is
// for texts that compile, and panics on others.
func EvalText(text string, values map[string]m31.QM31) m31.QM31 {
	e := reader{words: split(text)}
	f := e.sum()
	if len(e.words) > 0 {
		panic("left over: " + strings.Join(e.words, " "))
	}
	return f(func(name string) m31.QM31 { return values[name] })
}

// split cuts a text into names, integers and single characters.
func split(text string) (words []string) {
	letter := func(c byte) bool {
		return strings.IndexByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", c) >= 0
	}
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		n := 1
		for letter(text[0]) && n < len(text) && letter(text[n]) {
			n++
		}
		words, text = append(words, text[:n]), text[n:]
	}
	return words
}

// lookup is a name's value, and closure a subexpression's.
type (
	lookup  func(name string) m31.QM31
	closure func(lookup) m31.QM31
	reader  struct{ words []string }
)

func (e *reader) next(want ...string) bool {
	if len(e.words) > 0 && slices.Contains(want, e.words[0]) {
		e.words = e.words[1:]
		return true
	}
	return false
}

func (e *reader) sum() closure {
	l := e.product()
	for len(e.words) > 0 && e.words[0] != ")" {
		minus := e.words[0] == "-"
		if !e.next("+", "-") {
			panic("no operator: " + e.words[0])
		}
		a, b := l, e.product()
		l = func(v lookup) m31.QM31 {
			if minus {
				return a(v).Sub(b(v))
			}
			return a(v).Add(b(v))
		}
	}
	return l
}

func (e *reader) product() closure {
	if e.next("-") {
		a := e.product()
		return func(v lookup) m31.QM31 { return a(v).Neg() }
	}
	l := e.power()
	for e.next("*") {
		a, b := l, e.signed()
		l = func(v lookup) m31.QM31 { return a(v).Mul(b(v)) }
	}
	return l
}

func (e *reader) signed() closure {
	if e.next("-") {
		a := e.power()
		return func(v lookup) m31.QM31 { return a(v).Neg() }
	}
	return e.power()
}

func (e *reader) power() closure {
	a := e.atom()
	if !e.next("^") {
		return a
	}
	var k int
	if _, err := fmt.Sscan(e.words[0], &k); err != nil {
		panic(err)
	}
	e.words = e.words[1:]
	return func(v lookup) m31.QM31 {
		x, y := a(v), m31.OneQM31()
		for range k {
			y = y.Mul(x)
		}
		return y
	}
}

func (e *reader) atom() closure {
	w := e.words[0]
	e.words = e.words[1:]
	switch {
	case w == "(":
		a := e.sum()
		if !e.next(")") {
			panic("no )")
		}
		return a
	case w == "eq":
		return func(lookup) m31.QM31 { return m31.OneQM31() }
	case w[0] >= '0' && w[0] <= '9':
		var c m31.QM31
		for _, d := range w {
			c = c.MulBase(10).Add(m31.Lift(m31.Element(d - '0')))
		}
		return func(lookup) m31.QM31 { return c }
	}
	return func(v lookup) m31.QM31 { return v(w) }
}

// exprSummand is the summand of an expression, by its canonical text.
func exprSummand(c sumcheck.Claim) func(f []m31.QM31) m31.QM31 {
	e := reader{words: split(c.Expr.String())}
	f := e.sum()
	columns, scalars := c.Expr.Columns(), c.Expr.Scalars()
	return func(values []m31.QM31) m31.QM31 {
		return f(func(name string) m31.QM31 {
			if k := slices.Index(columns, name); k >= 0 {
				return values[k]
			}
			return c.Coeffs[slices.Index(scalars, name)]
		})
	}
}

// RandomText is the text of a random expression of at most the given degree in
// columns called a, b, ..., scalars s and t, and maybe eq. Most of them compile.
func RandomText(rng *rand.Rand, degree int) string {
	g := textMaker{rng: rng, columns: 1 + rng.IntN(6)}
	text := g.sum(degree, 3)
	switch rng.IntN(4) {
	case 0:
		text = "eq*(" + text + ")"
	case 1:
		text = "(" + text + ") * eq"
	}
	return text
}

type textMaker struct {
	rng     *rand.Rand
	columns int
}

func (g textMaker) sum(degree, depth int) string {
	var b strings.Builder
	for i := range 1 + g.rng.IntN(4) {
		if i > 0 || g.rng.IntN(4) == 0 {
			b.WriteString([]string{" - ", "-", " + ", "+"}[min(g.rng.IntN(4), 1+2*i)])
		}
		b.WriteString(g.product(degree, depth))
	}
	return b.String()
}

func (g textMaker) product(degree, depth int) string {
	var parts []string
	for left := 1 + g.rng.IntN(degree); left > 0; {
		d := 1 + g.rng.IntN(left)
		left -= d
		switch kind := g.rng.IntN(8); {
		case kind == 0:
			parts = append(parts, fmt.Sprint(g.rng.IntN(5)*g.rng.IntN(1<<30)))
		case kind == 1:
			parts = append(parts, []string{"s", "t"}[g.rng.IntN(2)])
		case kind < 4 && depth > 0:
			parts = append(parts, "("+g.sum(d, depth-1)+")")
		case d > 1:
			parts = append(parts, fmt.Sprintf("%c^%d", 'a'+g.rng.IntN(g.columns), d))
		default:
			parts = append(parts, string(rune('a'+g.rng.IntN(g.columns))))
		}
	}
	return strings.Join(parts, []string{"*", " * "}[g.rng.IntN(2)])
}

// RandomExpr is a random expression of at most the given degree.
func RandomExpr(rng *rand.Rand, degree int) *sumcheck.Expr {
	for {
		text := RandomText(rng, degree)
		var scalars []string
		for _, s := range []string{"s", "t"} {
			if strings.Contains(text, s) {
				scalars = append(scalars, s)
			}
		}
		if e, err := sumcheck.Compile(text, sumcheck.Scalars(scalars...)); err == nil {
			return e
		}
	}
}

// Examples are the expressions whose kernels are checked like the built-in ones:
// with and without eq and scalars, of low and of the highest degree, and one with
// too many columns for registers.
func Examples() []*sumcheck.Expr {
	return []*sumcheck.Expr{
		sumcheck.MustCompile("eq*(a*b-c)"),
		sumcheck.MustCompile("a + lambda*(b + lambda*a*(1-b))", sumcheck.Scalars("lambda")),
		sumcheck.MustCompile("eq*(s*a^8 - t*(a-b)^2*(3-c) + s*t*b + 5)", sumcheck.Scalars("s", "t")),
		sumcheck.MustCompile("a*b + c*d*e + f*(g-2*h) - i*j + 7*(k-1)"),
	}
}

// ExprBatches are the shapes of batches with expressions, alone and beside
// built-in shapes of other degrees and sizes.
func ExprBatches() map[string][]sumcheck.Shape {
	e := Examples()
	gate, fold, high, wide := e[0], e[1], e[2], e[3]
	return map[string][]sumcheck.Shape{
		"expression: gate":        {gate.Shape(5)},
		"expression: no variable": {gate.Shape(0), fold.Shape(0)},
		"expression: degree 9":    {high.Shape(3)},
		"expression: scalars":     {fold.Shape(6)},
		"expression: wide":        {wide.Shape(4)},
		"expression: same twice":  {gate.Shape(3), gate.Shape(5)},
		"expression: mixed": {sumcheck.Product(2, 2), gate.Shape(4), sumcheck.EqProduct(5, 3), fold.Shape(1), high.Shape(2), gate.Shape(0),
			{Vars: 3, Factors: 4, Terms: [][]int{{0, 3}, {1, 2}, {2, 3}}, Eq: true}, wide.Shape(3)},
	}
}

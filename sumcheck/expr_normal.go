package sumcheck

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/field/m31"
)

// The canonical form of an expression is a sum of monomials, whose factors are
// columns, scalars and sums of more than one monomial (or of one and a
// constant), and so on alternately. Like monomials are added up, equal
// subexpressions are one node, and everything stands where it first appeared.

// linear is a sum of monomials and a constant, maybe times eq.
type linear struct {
	constant m31.Element
	terms    []monomial
	eq       bool
}

// monomial is a coefficient times a node; in a linear nodes do not repeat.
type monomial struct {
	coeff m31.Element // not 0
	node  int
}

// factor is a node to a power.
type factor struct{ node, power int }

// node is a column, a scalar, a sum or a product of two factors or more.
type node struct {
	name    string // of a column or scalar
	scalar  bool
	sum     linear
	factors []factor
	degree  int
}

// normaliser turns forms into linears over interned nodes.
type normaliser struct {
	text  string
	nodes []node
	known map[string]int
	done  map[*formNode]linear
}

func (z *normaliser) fail(kind error, pos int, expected, got string) error {
	return &ExprError{Kind: kind, Text: z.text, Pos: pos, Expected: expected, Got: got}
}

func (z *normaliser) intern(key string, n node) int {
	if id, ok := z.known[key]; ok {
		return id
	}
	id := len(z.nodes)
	z.nodes, z.known[key] = append(z.nodes, n), id
	return id
}

func (z *normaliser) form(f *formNode) (linear, error) {
	if l, ok := z.done[f]; ok {
		return l, nil
	}
	if len(z.done) >= maxForms {
		return linear{}, z.fail(ErrExprLimit, f.pos, fmt.Sprintf("at most %d operations and operands", maxForms), "more")
	}
	l, err := z.apply(f)
	if err == nil && len(l.terms) > MaxExprOps {
		err = z.fail(ErrExprLimit, f.pos, fmt.Sprintf("sums of at most %d terms", MaxExprOps), fmt.Sprint(len(l.terms)))
	}
	z.done[f] = l
	return l, err
}

func (z *normaliser) apply(f *formNode) (linear, error) {
	args := make([]linear, len(f.args))
	for i, a := range f.args {
		if a == nil {
			return linear{}, z.fail(ErrExprSyntax, f.pos, "a form", "the zero Form")
		}
		var err error
		if args[i], err = z.form(a); err != nil {
			return linear{}, err
		}
		if args[i].eq && f.kind == formSum && len(args) > 1 {
			return linear{}, z.fail(ErrExprEq, a.pos, "eq times the whole expression", "eq in a term of a sum")
		}
	}
	switch f.kind {
	case formConst:
		return linear{constant: f.value}, nil
	case formEq:
		return linear{constant: 1, eq: true}, nil
	case formColumn, formScalar:
		if err := checkName(f.name); err != nil {
			return linear{}, err
		}
		n := node{name: f.name, scalar: f.kind == formScalar}
		if !n.scalar {
			n.degree = 1
		}
		return linear{terms: []monomial{{1, z.intern(fmt.Sprint("name ", f.kind, f.name), n)}}}, nil
	case formNeg:
		return args[0].scale(m31.Element(0).Sub(1)), nil
	case formSum:
		return addAll(args), nil
	case formPower:
		return z.power(f, args[0])
	default:
		// Constants last, since they go into a sum that is all there is.
		out, c := linear{constant: 1}, m31.Element(1)
		for _, a := range args {
			if len(a.terms) == 0 && !a.eq {
				c = c.Mul(a.constant)
				continue
			}
			var err error
			if out, err = z.multiply(f.pos, out, a); err != nil {
				return linear{}, err
			}
		}
		return out.scale(c), nil
	}
}

func (l linear) scale(c m31.Element) linear {
	out := linear{constant: l.constant.Mul(c), eq: l.eq}
	if !c.IsZero() {
		for _, t := range l.terms {
			out.terms = append(out.terms, monomial{t.coeff.Mul(c), t.node})
		}
	}
	return out
}

// addAll adds linears up, of which none has an eq unless it is the only one.
func addAll(args []linear) linear {
	if len(args) == 1 {
		return args[0]
	}
	var out linear
	at := map[int]int{}
	for _, a := range args {
		out.constant = out.constant.Add(a.constant)
		for _, t := range a.terms {
			if i, ok := at[t.node]; ok {
				out.terms[i].coeff = out.terms[i].coeff.Add(t.coeff)
				continue
			}
			at[t.node] = len(out.terms)
			out.terms = append(out.terms, t)
		}
	}
	out.terms = slices.DeleteFunc(out.terms, func(t monomial) bool { return t.coeff.IsZero() })
	return out
}

// split is l as a constant times a product.
func (z *normaliser) split(l linear) (m31.Element, []factor) {
	if len(l.terms) == 1 && l.constant.IsZero() {
		t := l.terms[0]
		if f := z.nodes[t.node].factors; f != nil {
			return t.coeff, f
		}
		return t.coeff, []factor{{t.node, 1}}
	}
	l.eq = false
	sorted := slices.Clone(l.terms)
	slices.SortFunc(sorted, func(a, b monomial) int { return cmp.Compare(a.node, b.node) })
	degree := 0
	for _, t := range l.terms {
		degree = max(degree, z.nodes[t.node].degree)
	}
	return 1, []factor{{z.intern(fmt.Sprint("sum ", l.constant, sorted), node{sum: l, degree: degree}), 1}}
}

func (z *normaliser) multiply(pos int, a, b linear) (linear, error) {
	if a.eq && b.eq {
		return linear{}, z.fail(ErrExprEq, pos, "one factor eq", "two")
	}
	eq := a.eq || b.eq
	if len(a.terms) == 0 {
		a, b = b, a
	}
	if len(b.terms) == 0 {
		out := a.scale(b.constant)
		out.eq = eq
		return out, nil
	}
	c, f := z.split(a)
	d, g := z.split(b)
	out, err := z.product(pos, c.Mul(d), append(slices.Clone(f), g...))
	out.eq = eq
	return out, err
}

func (z *normaliser) power(f *formNode, l linear) (linear, error) {
	k := f.power
	switch {
	case k == 1:
		return l, nil
	case l.eq:
		return linear{}, z.fail(ErrExprEq, f.pos, "eq to the power 1", fmt.Sprint("the power ", k))
	case k == 0:
		return linear{constant: 1}, nil
	case len(l.terms) == 0:
		return linear{constant: l.constant.Exp(k)}, nil
	}
	c, base := z.split(l)
	factors := make([]factor, len(base))
	for i, x := range base {
		if k > maxPower {
			kind, what := ErrExprLimit, fmt.Sprintf("powers of at most %d", maxPower)
			if z.nodes[x.node].degree > 0 {
				kind, what = ErrExprDegree, fmt.Sprintf("a degree of at most %d", MaxExprDegree)
			}
			return linear{}, z.fail(kind, f.pos, what, fmt.Sprint("the power ", k))
		}
		factors[i] = factor{x.node, x.power * int(k)}
	}
	return z.product(f.pos, c.Exp(k), factors)
}

// product is c times the factors, of which equal ones are merged.
func (z *normaliser) product(pos int, c m31.Element, list []factor) (linear, error) {
	var factors []factor
	degree := 0
	for _, x := range list {
		degree += x.power * z.nodes[x.node].degree
		i := slices.IndexFunc(factors, func(y factor) bool { return y.node == x.node })
		if i < 0 {
			factors = append(factors, x)
			continue
		}
		factors[i].power += x.power
	}
	if degree > MaxExprDegree {
		return linear{}, z.fail(ErrExprDegree, pos, fmt.Sprintf("a degree of at most %d", MaxExprDegree), fmt.Sprint(degree))
	}
	for _, x := range factors {
		if x.power > maxPower {
			return linear{}, z.fail(ErrExprLimit, pos, fmt.Sprintf("powers of at most %d", maxPower), fmt.Sprint(x.power))
		}
	}
	if c.IsZero() {
		return linear{}, nil
	}
	if len(factors) > MaxExprOps {
		return linear{}, z.fail(ErrExprLimit, pos, fmt.Sprintf("products of at most %d factors", MaxExprOps), fmt.Sprint(len(factors)))
	}
	if len(factors) == 1 && factors[0].power == 1 {
		if s := z.nodes[factors[0].node].sum; s.terms != nil {
			return s.scale(c), nil
		}
		return linear{terms: []monomial{{c, factors[0].node}}}, nil
	}
	sorted := slices.Clone(factors)
	slices.SortFunc(sorted, func(a, b factor) int { return cmp.Compare(a.node, b.node) })
	id := z.intern(fmt.Sprint("product ", sorted), node{factors: factors, degree: degree})
	return linear{terms: []monomial{{c, id}}}, nil
}

package sumcheck

import (
	"fmt"

	"github.com/zkwarp/zkwarp/field/m31"
)

// Form is an expression under construction; Build checks and compiles it. Forms
// are values: using one twice shares it.
type Form struct{ node *formNode }

type formKind int

const (
	formConst formKind = iota
	formColumn
	formScalar
	formEq
	formSum
	formProduct
	formPower
	formNeg
)

type formNode struct {
	kind  formKind
	pos   int // in the text, -1 if built in Go
	name  string
	value m31.Element
	power uint64
	args  []*formNode
	depth int
}

func newForm(pos int, n formNode) Form {
	n.pos = pos
	for _, a := range n.args {
		if a != nil {
			n.depth = max(n.depth, a.depth)
		}
	}
	n.depth++
	return Form{&n}
}

// Col is the column called name: a multilinear polynomial.
func Col(name string) Form { return newForm(-1, formNode{kind: formColumn, name: name}) }

// Scalar is the scalar called name, a field element that a Claim's Coeffs give.
func Scalar(name string) Form { return newForm(-1, formNode{kind: formScalar, name: name}) }

// Const is v modulo p.
func Const(v int64) Form { return newForm(-1, formNode{kind: formConst, value: m31.FromInt(v)}) }

// EqFactor is the factor eq(z, x), which an expression may have as a whole.
func EqFactor() Form { return newForm(-1, formNode{kind: formEq}) }

// Add is the sum of f and all of g.
func (f Form) Add(g ...Form) Form { return f.with(formSum, g) }

// Mul is the product of f and all of g.
func (f Form) Mul(g ...Form) Form { return f.with(formProduct, g) }

// Sub is f - g.
func (f Form) Sub(g Form) Form { return f.Add(g.Neg()) }

// Neg is -f.
func (f Form) Neg() Form { return newForm(-1, formNode{kind: formNeg, args: []*formNode{f.node}}) }

// Pow is f^k; f^0 is 1.
func (f Form) Pow(k uint64) Form {
	return newForm(-1, formNode{kind: formPower, power: k, args: []*formNode{f.node}})
}

func (f Form) with(kind formKind, g []Form) Form {
	args := make([]*formNode, 1, len(g)+1)
	args[0] = f.node
	for _, x := range g {
		args = append(args, x.node)
	}
	return newForm(-1, formNode{kind: kind, args: args})
}

// ExprOption says something about the names of an expression.
type ExprOption func(*exprNames)

type exprNames struct {
	columns, scalars           []string
	columnsGiven, scalarsGiven bool
}

// Scalars names the expression's scalars, in the order in which a Claim's
// Coeffs give them. In a text every other name is a column.
func Scalars(names ...string) ExprOption {
	return func(n *exprNames) { n.scalars, n.scalarsGiven = append(n.scalars, names...), true }
}

// Columns fixes the order of the columns, and that there are no others. Without
// it they are numbered as they first appear in the canonical text.
func Columns(names ...string) ExprOption {
	return func(n *exprNames) { n.columns, n.columnsGiven = append(n.columns, names...), true }
}

// maxName bounds a name's length.
const maxName = 64

// checkName says what is wrong with a name of a column or scalar.
func checkName(name string) error {
	if len(name) > maxName {
		return &ExprError{Kind: ErrExprLimit, Pos: -1, Expected: fmt.Sprintf("a name of at most %d bytes", maxName), Got: fmt.Sprint(len(name), " bytes")}
	}
	ok := name != "" && name != "eq" && isLetter(name[0])
	for i := range len(name) {
		ok = ok && (isLetter(name[i]) || isDigit(name[i]))
	}
	if !ok {
		return &ExprError{Kind: ErrExprSyntax, Pos: -1, Expected: "a name of letters, digits and _ other than eq", Got: fmt.Sprintf("%q", name)}
	}
	return nil
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

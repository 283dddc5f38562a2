package sumcheck

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/zkwarp/zkwarp/field/m31"
)

// Limits of expressions.
const (
	MaxExprDegree  = 8          // without eq
	MaxExprColumns = MaxFactors // columns
	MaxExprScalars = 64         // scalars
	MaxExprOps     = 512        // instructions of the program
	MaxExprDepth   = 200        // nested parentheses in a text

	maxForms = 4096 // operations and operands of a text or Form
	maxDepth = 2000 // nested operations of a Form
	maxPower = 64   // of a factor
)

// Expr is a compiled expression: a polynomial in columns, which are multilinear
// polynomials, and scalars, which are field elements, maybe times eq(z, x). Its
// Shape makes claims about the sum of its values over {0,1}^n. It never changes
// and may be used by many goroutines.
type Expr struct {
	text             string
	columns, scalars []string
	eq               bool
	degree           int
	program          Program
	attached         sync.Map
}

// Build compiles a form. Errors are *ExprError.
func Build(f Form, options ...ExprOption) (*Expr, error) {
	var names exprNames
	for _, o := range options {
		o(&names)
	}
	return build("", f, names)
}

func build(text string, f Form, names exprNames) (*Expr, error) {
	z := &normaliser{text: text, known: map[string]int{}, done: map[*formNode]linear{}}
	if f.node == nil {
		return nil, z.fail(ErrExprSyntax, -1, "a form", "the zero Form")
	}
	if f.node.depth > maxDepth {
		return nil, z.fail(ErrExprLimit, -1, fmt.Sprintf("operations nested at most %d deep", maxDepth), fmt.Sprint(f.node.depth))
	}
	root, err := z.form(f.node)
	if err != nil {
		return nil, err
	}
	e := &Expr{eq: root.eq}
	for _, t := range root.terms {
		e.degree = max(e.degree, z.nodes[t.node].degree)
	}
	if e.degree == 0 {
		return nil, z.fail(ErrExprColumn, -1, "at least one column", "none (or all of them cancel)")
	}
	var b strings.Builder
	switch bare := len(root.terms) == 1 && root.constant.IsZero() && root.terms[0].coeff.Int() > 0; {
	case e.eq && bare:
		b.WriteString("eq*")
		z.write(&b, root)
	case e.eq:
		b.WriteString("eq*(")
		z.write(&b, root)
		b.WriteByte(')')
	default:
		z.write(&b, root)
	}
	if e.text = b.String(); len(e.text) > maxText {
		return nil, z.fail(ErrExprLimit, -1, fmt.Sprintf("a canonical text of at most %d bytes", maxText), "more")
	}
	if err := e.lower(z, root, names); err != nil {
		return nil, err
	}
	if _, err := parse(e.text, e.scalars); err != nil { // a form may be too large or too deep for a text
		return nil, fmt.Errorf("canonical text: %w", err)
	}
	if err := e.checkColumns(z); err != nil {
		return nil, err
	}
	return e, nil
}

// lower numbers the names and makes the program.
func (e *Expr) lower(z *normaliser, root linear, names exprNames) error {
	ids := map[string]int{}
	e.columns, e.scalars = slices.Clone(names.columns), slices.Clone(names.scalars)
	for _, list := range [][]string{e.columns, e.scalars} {
		for _, name := range list {
			if err := checkName(name); err != nil {
				return err
			}
			if _, ok := ids[name]; ok {
				return z.fail(ErrExprSyntax, -1, "each name once", name+" twice")
			}
			ids[name] = -1
		}
	}
	if err := e.number(z, root, names, ids, map[int]bool{}); err != nil {
		return err
	}
	for i, n := range z.nodes {
		// Also of columns that vanished on the way, maybe with a scalar of their name left.
		if id, ok := ids[n.name]; n.name != "" && !n.scalar && (!ok || id != i) {
			return z.fail(ErrExprColumn, -1, "a value that depends on column "+n.name, "one that does not")
		}
	}
	for kind, list := range map[error][]string{ErrExprColumn: e.columns, ErrExprScalar: e.scalars} {
		for _, name := range list {
			if ids[name] < 0 {
				return z.fail(kind, -1, "a use of "+name, "none")
			}
		}
	}
	if n := len(e.columns); n > MaxExprColumns {
		return z.fail(ErrExprLimit, -1, fmt.Sprintf("at most %d columns", MaxExprColumns), fmt.Sprint(n))
	}
	if n := len(e.scalars); n > MaxExprScalars {
		return z.fail(ErrExprLimit, -1, fmt.Sprintf("at most %d scalars", MaxExprScalars), fmt.Sprint(n))
	}
	w := lowering{z: z, program: Program{Columns: len(e.columns), Scalars: len(e.scalars)},
		names: map[int]int{}, sums: map[int]int{}, known: map[ExprInstr]int{}}
	for i, name := range e.columns {
		w.names[ids[name]] = i
	}
	for i, name := range e.scalars {
		w.names[ids[name]] = len(e.columns) + i
	}
	w.program.Result = w.linear(root)
	e.program = w.program
	if n := len(w.program.Code); n > MaxExprOps {
		return z.fail(ErrExprLimit, -1, fmt.Sprintf("at most %d instructions", MaxExprOps), fmt.Sprint(n))
	}
	return nil
}

// number walks the names in the order of the canonical text. ids becomes each
// name's node.
func (e *Expr) number(z *normaliser, l linear, names exprNames, ids map[string]int, seen map[int]bool) error {
	visit := func(id int) error {
		n := z.nodes[id]
		if n.name == "" {
			return e.number(z, n.sum, names, ids, seen)
		}
		known, ok := ids[n.name]
		if ok && known >= 0 || ok && slices.Contains(e.scalars, n.name) != n.scalar {
			return z.fail(ErrExprSyntax, -1, "column or scalar "+n.name, "both")
		}
		list, given, kind, what := &e.columns, names.columnsGiven, ErrExprColumn, "columns"
		if n.scalar {
			list, given, kind, what = &e.scalars, names.scalarsGiven, ErrExprScalar, "scalars"
		}
		if !ok && given {
			return z.fail(kind, strings.Index(z.text, n.name), fmt.Sprint(what, " ", *list), n.name)
		}
		if !ok {
			*list = append(*list, n.name)
		}
		ids[n.name] = id
		return nil
	}
	for _, t := range l.terms {
		factors := z.nodes[t.node].factors
		if factors == nil {
			factors = []factor{{t.node, 1}}
		}
		for _, f := range factors {
			if seen[f.node] {
				continue
			}
			seen[f.node] = true
			if err := visit(f.node); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkColumns refuses columns on which the value does not depend, such as those
// of (a+b)^2 - a^2 - 2*a*b - b^2: what a proof says of them would not be checked.
// Two values at random places that agree tell, up to degree/|QM31|.
func (e *Expr) checkColumns(z *normaliser) error {
	state := uint64(1)
	random := func() m31.QM31 { // SplitMix64
		var w [4]m31.Element
		for i := range w {
			state += 0x9e3779b97f4a7c15
			x := state
			x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
			x = (x ^ x>>27) * 0x94d049bb133111eb
			w[i] = m31.New(x ^ x>>31)
		}
		return m31.FromWords(w)
	}
	r := make([]m31.QM31, e.program.registers())
	for i := range len(e.columns) + len(e.scalars) {
		r[i] = random()
	}
	v := e.program.run(r)
	for k, name := range e.columns {
		old := r[k]
		r[k] = random()
		if e.program.run(r) == v {
			return z.fail(ErrExprColumn, -1, "a value that depends on column "+name, "one that does not")
		}
		r[k] = old
	}
	return nil
}

func (p *Program) registers() int { return p.Columns + p.Scalars + len(p.Code) }

// Columns are the names of the columns, in the order of a Shape's factors.
func (e *Expr) Columns() []string { return slices.Clone(e.columns) }

// Scalars are the names of the scalars, in the order of a Claim's Coeffs.
func (e *Expr) Scalars() []string { return slices.Clone(e.scalars) }

// Eq says whether the expression has the factor eq(z, x).
func (e *Expr) Eq() bool { return e.eq }

// Degree bounds the degree in the columns, without eq's share. Terms of the
// highest degree that cancel only when multiplied out count.
func (e *Expr) Degree() int { return e.degree }

// String is the canonical text, which compiles to the same expression.
func (e *Expr) String() string { return e.text }

// Program is the expression without its eq as code. It is not to be changed.
func (e *Expr) Program() *Program { return &e.program }

// Eval is the expression without its eq at values of the columns and scalars.
func (e *Expr) Eval(columns, scalars []m31.QM31) (m31.QM31, error) {
	if len(e.columns) == 0 || len(columns) != len(e.columns) || len(scalars) != len(e.scalars) {
		return m31.QM31{}, fmt.Errorf("%w: %d columns and %d scalars, want %d and %d", ErrShape, len(columns), len(scalars), len(e.columns), len(e.scalars))
	}
	return e.eval(columns, scalars), nil
}

func (e *Expr) eval(columns, scalars []m31.QM31) m31.QM31 {
	r := make([]m31.QM31, e.program.registers())
	copy(r[copy(r, columns):], scalars)
	return e.program.run(r)
}

// Shape is the shape of claims about the expression's sum over {0,1}^vars. Its
// factors are the columns; a Claim's Coeffs are the scalars.
func (e *Expr) Shape(vars int) Shape {
	return Shape{Vars: vars, Factors: len(e.columns), Eq: e.eq, Expr: e}
}

// Attached returns what create returned when it was first called for this
// expression and key: for what a prover derives from the expression, such as
// kernels.
func (e *Expr) Attached(key any, create func() any) any {
	v, ok := e.attached.Load(key)
	if !ok {
		v, _ = e.attached.LoadOrStore(key, create())
	}
	return v
}

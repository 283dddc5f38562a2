package sumcheck

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/field/m31"
)

// maxText bounds an expression's text in bytes.
const maxText = 1 << 16

// Compile compiles the text of an expression:
//
//	sum     = ["-"] product { ("+" | "-") product }
//	product = factor { "*" factor }
//	factor  = ["-"] atom [ "^" integer ]
//	atom    = integer | name | "(" sum ")"
//
// Integers are decimal and taken modulo p. A name is a column, unless Scalars
// lists it; eq is the factor eq(z, x), which must multiply the whole. Errors are
// *ExprError.
func Compile(text string, options ...ExprOption) (*Expr, error) {
	if len(text) > maxText {
		return nil, &ExprError{Kind: ErrExprLimit, Text: text, Pos: -1, Expected: fmt.Sprintf("at most %d bytes", maxText), Got: fmt.Sprint(len(text))}
	}
	var names exprNames
	for _, o := range options {
		o(&names)
	}
	f, err := parse(text, names.scalars)
	if err != nil {
		return nil, err
	}
	return build(text, f, names)
}

// parse reads a text as a form.
func parse(text string, scalars []string) (Form, error) {
	p := parser{text: text, scalars: scalars}
	f, err := p.sum(0)
	if err == nil && p.peek() != 0 {
		err = p.unexpected("an operator or the end")
	}
	return f, err
}

// MustCompile is Compile for texts that are part of a program; it panics where
// Compile fails.
func MustCompile(text string, options ...ExprOption) *Expr {
	e, err := Compile(text, options...)
	if err != nil {
		panic(err)
	}
	return e
}

type parser struct {
	text    string
	pos     int
	nodes   int
	scalars []string
}

// peek skips blanks and returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; c {
		case ' ', '\t', '\n', '\r':
			p.pos++
		case 0: // not taken for the end
			return 0xff
		default:
			return c
		}
	}
	return 0
}

func (p *parser) take(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.pos++
	return true
}

func (p *parser) unexpected(want string) error {
	got := "the end"
	if p.peek() != 0 {
		got = fmt.Sprintf("%q", p.text[p.pos])
	}
	return &ExprError{Kind: ErrExprSyntax, Text: p.text, Pos: p.pos, Expected: want, Got: got}
}

func (p *parser) form(pos int, n formNode) (Form, error) {
	if p.nodes++; p.nodes > maxForms {
		return Form{}, &ExprError{Kind: ErrExprLimit, Text: p.text, Pos: pos, Expected: fmt.Sprintf("at most %d operations and operands", maxForms), Got: "more"}
	}
	return newForm(pos, n), nil
}

func (p *parser) sum(depth int) (Form, error) {
	p.peek()
	start := p.pos
	if depth > MaxExprDepth {
		return Form{}, &ExprError{Kind: ErrExprLimit, Text: p.text, Pos: start, Expected: fmt.Sprintf("at most %d nested parentheses", MaxExprDepth), Got: "more"}
	}
	var args []*formNode
	for first := true; ; first = false {
		pos, minus := p.pos, false
		if !first {
			switch {
			case p.take('+'):
			case p.take('-'):
				minus = true
			default:
				if len(args) == 1 {
					return Form{args[0]}, nil
				}
				return p.form(start, formNode{kind: formSum, args: args})
			}
		}
		f, err := p.product(depth, first)
		if err == nil && minus {
			f, err = p.form(pos, formNode{kind: formNeg, args: []*formNode{f.node}})
		}
		if err != nil {
			return Form{}, err
		}
		args = append(args, f.node)
		p.peek()
	}
}

func (p *parser) product(depth int, signed bool) (Form, error) {
	p.peek()
	start := p.pos
	minus := signed && p.take('-')
	var args []*formNode
	for {
		f, err := p.factor(depth)
		if err != nil {
			return Form{}, err
		}
		args = append(args, f.node)
		if p.take('*') {
			continue
		}
		if len(args) > 1 {
			if f, err = p.form(start, formNode{kind: formProduct, args: args}); err != nil {
				return Form{}, err
			}
		}
		if minus {
			return p.form(start, formNode{kind: formNeg, args: []*formNode{f.node}})
		}
		return f, nil
	}
}

func (p *parser) factor(depth int) (Form, error) {
	p.peek()
	start := p.pos
	minus := p.take('-')
	f, err := p.atom(depth)
	if err != nil {
		return Form{}, err
	}
	if p.take('^') {
		p.peek()
		digits := p.digits()
		if digits == "" {
			return Form{}, p.unexpected("an exponent")
		}
		k := uint64(0)
		for i := range len(digits) {
			if k = 10*k + uint64(digits[i]-'0'); k > 1<<32 {
				return Form{}, &ExprError{Kind: ErrExprLimit, Text: p.text, Pos: start, Expected: "an exponent of at most 2^32", Got: digits}
			}
		}
		if f, err = p.form(start, formNode{kind: formPower, power: k, args: []*formNode{f.node}}); err != nil {
			return Form{}, err
		}
	}
	if minus {
		return p.form(start, formNode{kind: formNeg, args: []*formNode{f.node}})
	}
	return f, nil
}

func (p *parser) atom(depth int) (Form, error) {
	c := p.peek()
	start := p.pos
	switch {
	case c == '(':
		p.pos++
		f, err := p.sum(depth + 1)
		if err != nil {
			return Form{}, err
		}
		if !p.take(')') {
			return Form{}, p.unexpected("an operator or )")
		}
		return f, nil
	case isDigit(c):
		v := uint64(0)
		for _, d := range p.digits() {
			v = (10*v + uint64(d-'0')) % m31.P
		}
		return p.form(start, formNode{kind: formConst, value: m31.New(v)})
	case isLetter(c):
		for p.pos < len(p.text) && (isLetter(p.text[p.pos]) || isDigit(p.text[p.pos])) {
			p.pos++
		}
		name := p.text[start:p.pos]
		kind := formColumn
		if slices.Contains(p.scalars, name) {
			kind = formScalar
		}
		if name == "eq" {
			kind, name = formEq, ""
		}
		return p.form(start, formNode{kind: kind, name: name})
	}
	return Form{}, p.unexpected("a name, an integer or (")
}

func (p *parser) digits() string {
	start := p.pos
	for p.pos < len(p.text) && isDigit(p.text[p.pos]) {
		p.pos++
	}
	return p.text[start:p.pos]
}

package bitproof

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxText is the longest statement that is parsed, in bytes.
const MaxText = 1 << 20

// maxDepth bounds nested parentheses.
const maxDepth = 64

// SyntaxError is what is wrong with the text of a statement, and where: line and
// column count from 1, columns in bytes.
type SyntaxError struct {
	Line, Column int
	Found, Want  string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: found %s, want %s", e.Line, e.Column, e.Found, e.Want)
}

// Unwrap makes it an ErrStatement.
func (e *SyntaxError) Unwrap() error { return ErrStatement }

// The words of the language, which no column can have for a name.
const (
	wordRows    = "rows"
	wordColumns = "columns"
)

func isName(s string) bool {
	if s == "" || len(s) > MaxName || s == wordRows || s == wordColumns {
		return false
	}
	for i := range len(s) {
		if !isLetter(s[i]) && (i == 0 || !isDigit(s[i])) {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// Parse reads the text of a statement, one item a line:
//
//	rows 2^20            # first: how many rows the columns have
//	columns a b c d      # then the columns, in the order of the commitment
//	d = a ^ ~b & c       # then gates, which hold in every row
//	a ^ b ^ c = 1
//
// ~ binds tighter than &, and & tighter than ^; parentheses group. A gate has one &
// of two factors with columns at most, and both sides of it may be any XOR; it is an
// AND gate then, and otherwise an XOR gate. There may be several lines of columns.
// # begins a comment. Errors are SyntaxErrors, and wrap ErrStatement.
func Parse(text string) (*Statement, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("%w: a text of %d bytes, at most %d", ErrStatement, len(text), MaxText)
	}
	p := &parser{columns: map[string]int{}}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		p.line, p.text, p.at = i+1, strings.TrimSuffix(line, "\r"), 0
		if before, _, ok := strings.Cut(p.text, "#"); ok {
			p.text = before
		}
		if err := p.item(); err != nil {
			return nil, err
		}
	}
	p.line, p.text, p.at = len(lines), "", 0
	switch {
	case !p.rows:
		return nil, p.expected("rows 2^N")
	case len(p.s.Names) == 0:
		return nil, p.expected("columns")
	case len(p.s.Ands)+len(p.s.Zeros) == 0:
		return nil, p.expected("a gate")
	}
	return &p.s, p.s.Check()
}

type parser struct {
	s       Statement
	columns map[string]int
	rows    bool

	text     string
	line, at int
	depth    int
}

// token kinds are their own texts, but for these.
const (
	tokenEnd  = "the end of the line"
	tokenName = "a name"
)

type token struct {
	kind, text string
	at         int
}

// next is the token at the cursor, which it moves past it.
func (p *parser) next() token {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
	t := token{tokenEnd, tokenEnd, p.at}
	if p.at == len(p.text) {
		return t
	}
	from := p.at
	_, size := utf8.DecodeRuneInString(p.text[from:]) // for the error: whole letters
	p.at += size
	if c := p.text[from]; isLetter(c) || isDigit(c) {
		for p.at < len(p.text) && (isLetter(p.text[p.at]) || isDigit(p.text[p.at])) {
			p.at++
		}
		t.kind = tokenName
	}
	t.text = p.text[from:p.at]
	if t.kind != tokenName {
		t.kind = t.text
	}
	return t
}

func (p *parser) peek() token {
	at := p.at
	t := p.next()
	p.at = at
	return t
}

// wrong is the error that token t stands where something else is wanted.
func (p *parser) wrong(t token, want string, args ...any) error {
	found := t.text
	if t.kind != tokenEnd {
		found = fmt.Sprintf("%.*q", MaxName+8, t.text)
	}
	return &SyntaxError{p.line, t.at + 1, found, fmt.Sprintf(want, args...)}
}

// expected is the error that the text ends too soon.
func (p *parser) expected(want string) error {
	return &SyntaxError{p.line, 1, "the end of the text", want}
}

// item reads one line.
func (p *parser) item() error {
	switch t := p.peek(); {
	case t.kind == tokenEnd:
		return nil
	case t.text == wordRows:
		p.next()
		return p.readRows(t)
	case t.text == wordColumns:
		p.next()
		return p.readColumns(t)
	default:
		return p.readGate(t)
	}
}

func (p *parser) readRows(first token) error {
	if p.rows {
		return p.wrong(first, "one line of rows")
	}
	if base := p.next(); base.text != "2" {
		return p.wrong(base, "2^N")
	}
	if hat := p.next(); hat.kind != "^" {
		return p.wrong(hat, "2^N")
	}
	t := p.next()
	n, err := strconv.Atoi(t.text)
	if err != nil || strconv.Itoa(n) != t.text || n < MinVars || n > MaxVars {
		return p.wrong(t, "a number from %d to %d", MinVars, MaxVars)
	}
	p.s.Vars, p.rows = n, true
	return p.end()
}

func (p *parser) end() error {
	if t := p.next(); t.kind != tokenEnd {
		return p.wrong(t, tokenEnd)
	}
	return nil
}

func (p *parser) readColumns(first token) error {
	switch {
	case !p.rows:
		return p.wrong(first, "rows 2^N before columns")
	case len(p.s.Ands)+len(p.s.Zeros) > 0:
		return p.wrong(first, "all columns before the first gate")
	}
	t := p.next()
	if t.kind == tokenEnd {
		return p.wrong(t, tokenName)
	}
	for ; t.kind != tokenEnd; t = p.next() {
		if !isName(t.text) {
			return p.wrong(t, "a column's name: a letter or _ and then letters, digits and _, at most %d, and no word of the language", MaxName)
		}
		if _, twice := p.columns[t.text]; twice {
			return p.wrong(t, "another name: a column has this one")
		}
		if len(p.s.Names) == MaxColumns {
			return p.wrong(t, "at most %d columns", MaxColumns)
		}
		p.columns[t.text] = len(p.s.Names)
		p.s.Names = append(p.s.Names, t.text)
	}
	return nil
}

// value is an XOR of a combination and of at most one product.
type value struct {
	Combination
	product *[2]Combination
	at      token // of the product's &
}

func (p *parser) readGate(first token) error {
	switch {
	case !p.rows:
		return p.wrong(first, "rows 2^N")
	case len(p.s.Names) == 0:
		return p.wrong(first, "columns before gates")
	case len(p.s.Ands)+len(p.s.Zeros) == MaxGates:
		return p.wrong(first, "at most %d gates", MaxGates)
	}
	left, err := p.sum()
	if err != nil {
		return err
	}
	if t := p.next(); t.kind != "=" {
		return p.wrong(t, "=, ^ or &")
	}
	right, err := p.sum()
	if err != nil {
		return err
	}
	if t := p.next(); t.kind != tokenEnd {
		return p.wrong(t, "^, & or the end of the line")
	}
	all, err := p.xor(left, right)
	switch {
	case err != nil:
		return err
	case all.product != nil:
		p.s.Ands = append(p.s.Ands, And{Left: all.product[0], Right: all.product[1], Out: all.Combination})
	case all.IsConstant() && all.One:
		return p.wrong(first, "a gate that can hold: all columns cancel, and 1 = 0 is left")
	case all.IsConstant():
		return p.wrong(first, "a gate that can fail: all columns cancel, and 0 = 0 is left")
	default:
		p.s.Zeros = append(p.s.Zeros, all.Combination)
	}
	return nil
}

func (p *parser) xor(a, b value) (value, error) {
	if a.product != nil && b.product != nil {
		return a, p.wrong(b.at, "one & in a gate: put the others into columns of their own")
	}
	a.Combination = a.Xor(b.Combination)
	if b.product != nil {
		a.product, a.at = b.product, b.at
	}
	return a, nil
}

func (p *parser) sum() (value, error) {
	sum, err := p.term()
	for err == nil && p.peek().kind == "^" {
		p.next()
		var next value
		if next, err = p.term(); err == nil {
			sum, err = p.xor(sum, next)
		}
	}
	return sum, err
}

func (p *parser) term() (value, error) {
	a, err := p.factor()
	for err == nil && p.peek().kind == "&" {
		and := p.next()
		var b value
		if b, err = p.factor(); err == nil {
			a, err = p.and(a, b, and)
		}
	}
	return a, err
}

// and is the product of two values; one that is constant leaves no product.
func (p *parser) and(a, b value, at token) (value, error) {
	constant := func(v value) bool { return v.product == nil && v.IsConstant() }
	switch {
	case constant(b) && b.One:
		return a, nil
	case constant(b):
		return b, nil
	case constant(a) && a.One:
		return b, nil
	case constant(a):
		return a, nil
	case a.product != nil || b.product != nil:
		return a, p.wrong(at, "one & in a gate: put the others into columns of their own")
	}
	return value{product: &[2]Combination{a.Combination, b.Combination}, at: at}, nil
}

func (p *parser) factor() (value, error) {
	t := p.next()
	switch {
	case t.kind == "~":
		if p.depth++; p.depth > maxDepth {
			return value{}, p.wrong(t, "at most %d of ~ and ( within each other", maxDepth)
		}
		v, err := p.factor()
		p.depth--
		v.One = !v.One
		return v, err
	case t.kind == "(":
		if p.depth++; p.depth > maxDepth {
			return value{}, p.wrong(t, "at most %d of ~ and ( within each other", maxDepth)
		}
		v, err := p.sum()
		p.depth--
		if err != nil {
			return v, err
		}
		if end := p.next(); end.kind != ")" {
			return v, p.wrong(end, "), ^ or &")
		}
		return v, nil
	case t.text == "0" || t.text == "1":
		return value{Combination: Combination{One: t.text == "1"}}, nil
	case t.kind == tokenName:
		j, ok := p.columns[t.text]
		if !ok {
			return value{}, p.wrong(t, "a column, 0 or 1")
		}
		return value{Combination: Combination{Columns: 1 << j}}, nil
	}
	return value{}, p.wrong(t, "a column, 0, 1, ~ or (")
}

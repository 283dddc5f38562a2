package sumcheck

import (
	"errors"
	"fmt"
)

// What can be wrong with an expression; every *ExprError is one of these, for
// errors.Is, and is ErrShape too.
var (
	ErrExprSyntax = errors.New("sumcheck: expression: syntax")
	ErrExprDegree = errors.New("sumcheck: expression: degree")
	ErrExprLimit  = errors.New("sumcheck: expression: too large")
	ErrExprEq     = errors.New("sumcheck: expression: eq not as an overall factor")
	ErrExprColumn = errors.New("sumcheck: expression: column")
	ErrExprScalar = errors.New("sumcheck: expression: scalar")
)

// ExprError says what is wrong with an expression, and where.
type ExprError struct {
	Kind     error  // one of the ErrExpr values
	Text     string // the expression, or "" where it was built in Go
	Pos      int    // offset in Text in bytes, -1 where it is about the whole
	Expected string
	Got      string
}

func (e *ExprError) Error() string {
	where := ""
	switch {
	case e.Text != "" && e.Pos >= 0:
		where = fmt.Sprintf(" in %s at byte %d", shorten(e.Text), e.Pos)
	case e.Text != "":
		where = " in " + shorten(e.Text)
	}
	return fmt.Sprintf("%v%s: expected %s, got %s", e.Kind, where, e.Expected, e.Got)
}

// Unwrap returns the kind and the class of statements that make no sense.
func (e *ExprError) Unwrap() []error { return []error{e.Kind, ErrShape} }

// shorten quotes a text, without the middle of a long one.
func shorten(s string) string {
	if len(s) > 80 {
		return fmt.Sprintf("%q...%q", s[:40], s[len(s)-30:])
	}
	return fmt.Sprintf("%q", s)
}

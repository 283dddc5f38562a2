package whir

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/field"
)

// Stack lays tables of different sizes one after the other into one, so that one
// commitment is to all of them. Each table lies at a multiple of its own size: its
// entries are those of the stack whose index starts with some bits, and a claim
// about it is one about the stack. What is left over is zero.
type Stack struct {
	vars    int
	tables  []int // log2 of the sizes
	offsets []int
}

// NewStack is the stack of tables of 2^vars[i] entries. They lie in descending
// order of size, those of one size in the order given.
func NewStack(vars ...int) (*Stack, error) {
	if len(vars) == 0 {
		return nil, fmt.Errorf("whir: stack of no tables")
	}
	s := &Stack{tables: slices.Clone(vars), offsets: make([]int, len(vars))}
	order := make([]int, len(vars))
	for i, v := range vars {
		if err := in("log2 of a table's size", v, 0, maxVars-1); err != nil {
			return nil, fmt.Errorf("whir: stack: %w", err)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return vars[b] - vars[a] })
	at := 0
	for _, i := range order {
		s.offsets[i] = at
		at += 1 << vars[i]
	}
	for 1<<s.vars < at {
		s.vars++
	}
	if err := in("log2 of a stack's size", s.vars, 0, maxVars); err != nil {
		return nil, fmt.Errorf("whir: stack: %w", err)
	}
	return s, nil
}

// Vars is log2 of the stack's size.
func (s *Stack) Vars() int { return s.vars }

// Offset is where table i starts.
func (s *Stack) Offset(i int) int { return s.offsets[i] }

// LayStack copies the tables to their places in a table of 2^s.Vars() entries.
func LayStack[F any](s *Stack, tables ...[]F) ([]F, error) {
	if len(tables) != len(s.tables) {
		return nil, fmt.Errorf("whir: stack: %d tables, want %d", len(tables), len(s.tables))
	}
	out := make([]F, 1<<s.vars)
	for i, t := range tables {
		if len(t) != 1<<s.tables[i] {
			return nil, fmt.Errorf("whir: stack: table %d has %d entries, want 2^%d", i, len(t), s.tables[i])
		}
		copy(out[s.offsets[i]:], t)
	}
	return out, nil
}

// OnStack is a claim about table i of a stack, as one about the stack.
func OnStack[E field.Element[E]](s *Stack, i int, c Claim[E]) (Claim[E], error) {
	if i < 0 || i >= len(s.tables) {
		return c, fmt.Errorf("whir: stack: no table %d", i)
	}
	if n := c.Weight.Vars(); n != s.tables[i] {
		return c, fmt.Errorf("whir: stack: claim about table %d has %d variables, want %d", i, n, s.tables[i])
	}
	bits := s.vars - s.tables[i]
	return Claim[E]{Part[E]{bits, s.offsets[i] >> s.tables[i], c.Weight}, c.Value}, nil
}

// Part is a weight on the entries of a table whose index starts with the given
// bits, and zero elsewhere.
type Part[E field.Element[E]] struct {
	Bits   int // their number
	Prefix int // their value, the first one being the top
	Weight Weight[E]
}

// Vars counts the bits too.
func (w Part[E]) Vars() int { return w.Bits + w.Weight.Vars() }

// Words are KindPart, the bits' number and value, and the inner weight's words.
func (w Part[E]) Words() []uint32 {
	return append([]uint32{KindPart, uint32(w.Bits), uint32(w.Prefix)}, w.Weight.Words()...)
}

// Eval returns eq of the bits, times the inner weight on the other variables.
func (w Part[E]) Eval(r []E) E {
	var zero E
	one := zero.One()
	v := w.Weight.Eval(r[w.Bits:])
	for j, x := range r[:w.Bits] {
		if w.Prefix>>(w.Bits-1-j)&1 == 0 {
			x = one.Sub(x)
		}
		v = v.Mul(x)
	}
	return v
}

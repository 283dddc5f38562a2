package bitproof

import (
	"fmt"
	"strings"
)

// String is the text of a statement, which Parse reads back to an equal one.
func (s *Statement) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s 2^%d\n", wordRows, s.Vars)
	for at := 0; at < len(s.Names); at += 8 {
		fmt.Fprintf(&b, "%s %s\n", wordColumns, strings.Join(s.Names[at:min(at+8, len(s.Names))], " "))
	}
	for _, g := range s.Ands {
		fmt.Fprintf(&b, "%s = %s & %s\n", s.combination(g.Out), s.factor(g.Left), s.factor(g.Right))
	}
	for _, c := range s.Zeros {
		fmt.Fprintf(&b, "%s = 0\n", s.combination(c))
	}
	return b.String()
}

// Gate is the text of gate i, AND gates first.
func (s *Statement) Gate(i int) string {
	if i < len(s.Ands) {
		g := s.Ands[i]
		return fmt.Sprintf("%s = %s & %s", s.combination(g.Out), s.factor(g.Left), s.factor(g.Right))
	}
	return s.combination(s.Zeros[i-len(s.Ands)]) + " = 0"
}

func (s *Statement) combination(c Combination) string {
	var parts []string
	for j, name := range s.Names {
		if c.Columns>>j&1 == 1 {
			parts = append(parts, name)
		}
	}
	switch {
	case len(parts) == 0 && c.One:
		return "1"
	case len(parts) == 0:
		return "0"
	case c.One:
		parts[0] = "~" + parts[0]
	}
	return strings.Join(parts, " ^ ")
}

// factor is a combination with parentheses where & would tear it apart.
func (s *Statement) factor(c Combination) string {
	text := s.combination(c)
	if strings.Contains(text, "^") {
		return "(" + text + ")"
	}
	return text
}

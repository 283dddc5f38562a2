package sumcheck

import (
	"fmt"
	"strings"
)

// write appends l's canonical text. Beyond maxText it stops: what forms share
// is written at every use, so that a text may be far larger than they are.
func (z *normaliser) write(b *strings.Builder, l linear) {
	first := true
	constant := func() {
		if c := l.constant.Int(); c != 0 {
			number(b, c, &first)
			fmt.Fprint(b, max(c, -c))
		}
	}
	leading := len(l.terms) == 0 || l.terms[0].coeff.Int() < 0 && l.constant.Int() > 0
	if leading {
		constant()
	}
	for _, t := range l.terms {
		if b.Len() > maxText {
			return
		}
		c := t.coeff.Int()
		number(b, c, &first)
		if c != 1 && c != -1 {
			fmt.Fprintf(b, "%d*", max(c, -c))
		}
		factors := z.nodes[t.node].factors
		if factors == nil {
			factors = []factor{{t.node, 1}}
		}
		for i, x := range factors {
			if b.Len() > maxText {
				return
			}
			if i > 0 {
				b.WriteByte('*')
			}
			if n := z.nodes[x.node]; n.name != "" {
				b.WriteString(n.name)
			} else {
				b.WriteByte('(')
				z.write(b, n.sum)
				b.WriteByte(')')
			}
			if x.power > 1 {
				fmt.Fprintf(b, "^%d", x.power)
			}
		}
	}
	if !leading {
		constant()
	}
}

// number writes the sign between terms.
func number(b *strings.Builder, c int64, first *bool) {
	switch {
	case *first && c < 0:
		b.WriteByte('-')
	case *first:
	case c < 0:
		b.WriteString(" - ")
	default:
		b.WriteString(" + ")
	}
	*first = false
}

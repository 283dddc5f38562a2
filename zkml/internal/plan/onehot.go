package plan

import (
	"fmt"
	"slices"

	"github.com/zkwarp/zkwarp/field/m31"
	"github.com/zkwarp/zkwarp/zkml/graph"
)

// OneHot is a virtual polynomial over the positions t of committed tokens and
// the numbers z of Bits bits: entry (t, z) is 1 if the bits First, First + 1, ...
// of token t are z, else 0. Real ones are 0 where t is in padding, too.
//
// All are products of the tokens' bits, which are committed as limbs: that of
// one bit is linear in it, others are the product of those of the upper and of
// the lower half of their bits.
type OneHot struct {
	Poly        int
	Tokens      int // the polynomial of the tokens
	First, Bits int
	Real        bool
}

// tokens adds, if Embeds read a committed input, the window of its bits, as many
// as the longest of their tables has variables, and the polynomials that these
// Embeds are reduced to.
func (b *builder) tokens(p *graph.Program, c *Committed) {
	var vars []int // of the tables' rows
	for _, op := range p.Ops {
		if e, ok := op.(graph.Embed); ok && int(e.Tokens) == c.Tensor {
			vars = append(vars, graph.Log2(p.Tensor(e.W).Shape[0]))
		}
	}
	if len(vars) == 0 || slices.Max(vars) == 0 {
		return
	}
	t := p.Tensor(graph.TensorID(c.Tensor))
	r := Range{Bits: slices.Max(vars), Bitwise: true}
	for k := range r.Bits {
		r.Limbs = append(r.Limbs, b.poly(Poly{Name: fmt.Sprintf("%s: bit %d", t.Name, k), Home: Witness, Shape: t.Shape}))
	}
	c.Ranges = append(c.Ranges, r)
	for _, v := range vars {
		if v > 0 {
			b.addOneHot(OneHot{Tokens: c.Poly, Bits: v, Real: true})
		}
	}
}

// addOneHot adds a one-hot polynomial and those that it is a product of, unless
// they are there.
func (b *builder) addOneHot(h OneHot) {
	if b.find(h) >= 0 {
		return
	}
	t := &b.Polys[h.Tokens]
	name := fmt.Sprintf("%s: bits %d to %d", t.Name, h.First, h.First+h.Bits-1)
	if h.Real {
		name = fmt.Sprintf("%s: among 2^%d rows", t.Name, h.Bits)
	}
	h.Poly = b.poly(Poly{Name: name, Home: Virtual, Shape: append(slices.Clone(t.Shape), 1<<h.Bits), Implied: h.Real})
	b.OneHots = append(b.OneHots, h)
	b.hots[h.Poly] = h
	for _, part := range h.parts() {
		b.addOneHot(part)
	}
}

// find is the polynomial of a one-hot, -1 if there is none.
func (b *builder) find(h OneHot) int {
	for _, have := range b.OneHots {
		if h.Poly = have.Poly; h == have {
			return h.Poly
		}
	}
	return -1
}

// parts are what a one-hot is the product of: those of its upper and of its
// lower bits. One of one bit has none, unless it is real.
func (h OneHot) parts() []OneHot {
	part := func(first, bits int) OneHot { return OneHot{Tokens: h.Tokens, First: first, Bits: bits} }
	low := h.Bits / 2
	switch {
	case h.Bits > 1:
		return []OneHot{part(h.First+low, h.Bits-low), part(h.First, low)}
	case h.Real:
		return []OneHot{part(h.First, 1)}
	}
	return nil
}

// oneHot reduces an evaluation of a one-hot polynomial: to its parts by a
// sum-check over the positions, or to the bit that it is of.
func (l *layerBuilder) oneHot(id int, h OneHot) (fresh []int) {
	tokens := &l.Polys[h.Tokens]
	n := tokens.Vars
	t, z := l.Evals[id].Point[:n:n], l.Evals[id].Point[n:]
	name := l.Polys[h.Poly].Name
	parts := h.parts()
	if len(parts) == 0 {
		fresh = l.relate(id, 0, []m31.Element{1}, []factor{{l.bit(h), t}})
		r := &l.Relations[len(l.Relations)-1]
		r.Choice, r.By = true, z[0]
		return fresh
	}
	in := Instance{Kind: Contract, Name: name, Vars: n, Out: id}
	if h.Real {
		in.Public = make([]Axis, 0, len(tokens.Axes))
		for a, v := range tokens.Axes {
			in.Public = append(in.Public, Axis{Vars: v, At: t[:v:v], Extent: tokens.Shape[a]})
			t = t[v:]
		}
	} else {
		in.Eq, in.At = true, t
	}
	var factors []factor
	for _, part := range parts {
		factors = append(factors, factor{l.find(part), append(variables(0, n), z[:part.Bits]...)})
		z = z[part.Bits:]
	}
	l.add(in, factors...)
	return nil
}

// bit is the polynomial of the bit that a one-hot is of.
func (b *builder) bit(h OneHot) int {
	for i := range b.Committed {
		if c := &b.Committed[i]; c.Poly == h.Tokens {
			return c.Ranges[len(c.Ranges)-1].Limbs[h.First]
		}
	}
	return -1 // tokens of one-hots are committed
}

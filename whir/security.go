package whir

import (
	"fmt"
	"math"
	"strings"
)

// Line is the soundness error of one step, in bits.
type Line struct {
	Name string
	Bits float64
	Note string
}

// Report is the whole soundness budget of one opening. Min is the weakest
// line (round-by-round soundness), Sum is minus log2 of the sum of all errors.
type Report struct {
	Lines    []Line
	Min, Sum float64
}

// NewReport sums up lines.
func NewReport(lines []Line) Report {
	r := Report{Lines: lines, Min: math.Inf(1)}
	total := 0.0
	for _, l := range lines {
		r.Min = math.Min(r.Min, l.Bits)
		total += math.Exp2(-l.Bits)
	}
	r.Sum = -math.Log2(total)
	return r
}

func (r Report) String() string {
	var b strings.Builder
	for _, l := range r.Lines {
		fmt.Fprintf(&b, "%-28s %8.2f  %s\n", l.Name, l.Bits, l.Note)
	}
	fmt.Fprintf(&b, "%-28s %8.2f\n%-28s %8.2f\n", "bits (weakest line)", r.Min, "bits-sum (all lines)", r.Sum)
	return b.String()
}

// security lists the error of every step, in protocol order.
func (p *Params) security() Report {
	c, field := &p.c, p.c.Spec.FieldBits()
	var lines []Line
	add := func(bits float64, note, name string, args ...any) {
		lines = append(lines, Line{fmt.Sprintf(name, args...), bits, note})
	}
	reg := make([]regime, len(c.Rounds))
	for i, d := range c.Rounds {
		reg[i] = regimeOf(d.Multiplicity, p.rate[i], c.Bound)
	}
	query := func(i int) float64 {
		return reg[i].queryBits(c.Rounds[i].Queries) + workBits(c.Spec.Modulus, c.Rounds[i].QueryWork)
	}
	if c.Batch > 1 {
		add(batchBits(field, reg[0], c.Vars, c.Batch)+workBits(c.Spec.Modulus, c.BatchWork),
			fmt.Sprintf("%d tables, %d bits of work", c.Batch, c.BatchWork), "batch")
	}
	for i, d := range c.Rounds {
		name := "unique decoding"
		if d.Multiplicity != Unique {
			name = fmt.Sprintf("Johnson, multiplicity %d, %v, list %.1f", d.Multiplicity, c.Bound, reg[i].list)
			add(reg[i].sampleBits(field, p.vars[i], d.Samples), fmt.Sprintf("%d samples", d.Samples), "round %d: out of domain", i)
		}
		if i == 0 {
			if n := c.Claims + d.Samples - 1; n > 0 {
				add(reg[0].combineBits(field, n), fmt.Sprintf("%d claims", c.Claims), "round 0: claims")
			}
		} else {
			prev := c.Rounds[i-1]
			q, f := query(i-1), reg[i].combineBits(field, prev.Queries+d.Samples)
			add(addBits(q, f), fmt.Sprintf("%d queries of round %d: %.2f with %d bits of work; combining: %.2f", prev.Queries, i-1, q, prev.QueryWork, f),
				"round %d: shift", i)
		}
		for s := 1; s <= d.Fold; s++ {
			dim := p.vars[i] - s
			add(reg[i].foldBits(field, dim)+workBits(c.Spec.Modulus, d.FoldWork),
				fmt.Sprintf("%s, rate 2^-%d, dimension 2^%d, %d bits of work", name, p.rate[i], dim, d.FoldWork), "round %d: fold %d", i, s)
		}
	}
	last := len(c.Rounds) - 1
	d := c.Rounds[last]
	add(query(last), fmt.Sprintf("%d queries of round %d with %d bits of work", d.Queries, last, d.QueryWork), "final: queries")
	for s := 1; s <= p.vars[last+1]; s++ {
		add(field-1, "degree 2", "final: sum-check %d", s)
	}
	return NewReport(lines)
}

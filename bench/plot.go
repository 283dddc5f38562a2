package bench

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
)

// barPlot draws the medians of rows of one unit as bars over a logarithmic
// axis, with a dot for every sample.
func barPlot(unit string, rows []Row) template.HTML {
	const (
		labels, chart, right = 300, 560, 90
		top, line            = 34, 22
	)
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		for _, v := range r.Samples {
			if v > 0 {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	if lo > hi { // nothing but zeros
		lo, hi = 1, 1
	}
	first, last := math.Floor(math.Log10(lo)-0.001), math.Ceil(math.Log10(hi)+0.001)
	x := func(v float64) float64 {
		if v <= 0 {
			return labels
		}
		return labels + chart*(math.Log10(v)-first)/(last-first)
	}
	height := top + line*len(rows) + 8
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="medians in %s">`,
		labels+chart+right, height, labels+chart+right, height, template.HTMLEscapeString(unit))
	for e := first; e <= last; e++ {
		fmt.Fprintf(&b, `<line x1="%.1f" y1="22" x2="%.1f" y2="%d" stroke="#dfe3ea"/><text x="%.1f" y="14" text-anchor="middle">%s</text>`,
			x(math.Pow(10, e)), x(math.Pow(10, e)), height-6, x(math.Pow(10, e)), decade(e, unit))
	}
	for i, r := range rows {
		y := float64(top + line*i)
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`, labels-8, y+11, template.HTMLEscapeString(rowLabel(r)))
		fmt.Fprintf(&b, `<rect x="%d" y="%.1f" width="%.1f" height="12" fill="#3056d3" fill-opacity="0.35"/>`, labels, y+1, x(r.Value)-labels)
		for _, v := range r.Samples {
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="2" fill="#1d2330" fill-opacity="0.6"/>`, x(v), y+7)
		}
		if t, ok := targetOf(r); ok {
			fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#b3261e" stroke-width="2"><title>required: %s</title></line>`,
				x(t.required), y-1, x(t.required), y+15, number3(t.required))
		}
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f">%s</text>`, x(slices.Max(append([]float64{r.Value}, r.Samples...)))+7, y+11, number3(r.Value))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) // all text in it was escaped above
}

func rowLabel(r Row) string {
	if r.Metric == strings.ToLower(r.Unit) {
		return r.Case
	}
	return r.Case + " " + r.Metric
}

// decade labels a power of ten on the axis; the unit stands at the first.
func decade(e float64, unit string) string {
	v := math.Pow(10, e)
	text := fmt.Sprintf("%g", v)
	if e >= 5 || e <= -4 {
		text = fmt.Sprintf("1e%d", int(e))
	}
	return template.HTMLEscapeString(text + " " + unit)
}
